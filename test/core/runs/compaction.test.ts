import { describe, expect, it } from 'vitest';
import {
  context,
  counter,
  gauge,
  mask,
  slidingWindow,
  summarize,
  type CompactionOptions,
} from '../../../src/index.ts';
import { toolResult } from '../../../src/define/tool/tool-result.ts';
import { byteSize, type Json } from '../../../src/core/base/json.ts';
import { INLINE_SIZES } from '../../../src/core/base/size-limits.ts';
import type { RunState } from '../../../src/core/run/run-state.ts';
import { textMessage, textOf } from '../../../src/core/base/message.ts';
import type { ModelEntry } from '../../../src/define/model/model-entry.ts';
import type { ModelRequest } from '../../../src/core/contract/model.ts';
import { scriptedModel, type ScriptedReply } from '../../../src/testing/scripted-model.ts';
import {
  abortOf,
  act,
  answer,
  bodiesOf,
  hasNoGap,
  searchTool,
  startRun,
  typesOf,
  type RunOptions,
  type StartedRun,
} from '../../support/runs.ts';

const TOO_LONG = Object.assign(new Error('maximum context length exceeded'), {
  statusCode: 400,
  data: { error: { code: 'context_length_exceeded' } },
});
/** The beginning of an iteration, and the end of one that called a tool. */
const ASKED = ['iteration:before', 'model_call:before', 'model_call:after', 'turn:read'];
const CALLED = ['tool_call:before', 'tool_call:after', 'iteration:after'];
const ALWAYS = counter('agent:iterations', 1);

function startCompacting(
  replies: readonly ScriptedReply[],
  compaction: CompactionOptions | false | undefined,
  { agent = {}, ...options }: RunOptions = {},
): StartedRun {
  return startRun(replies, {
    ...options,
    agent: { ...agent, ...(compaction === undefined ? {} : { compaction }) },
  });
}

/** Iterations behind which a compaction ran. */
function compactedAfter({ run }: StartedRun): readonly number[] {
  return run.events
    .filter(({ type }) => type === 'agent:compaction')
    .map(({ iteration }) => iteration);
}

/** The texts of the scratchpad in a request: what stands between the task and the marker. */
function scratchpadOf(request: ModelRequest | undefined): readonly string[] {
  return (request?.messages ?? []).slice(2, -1).map(textOf);
}

const observed = (hits: string): string =>
  `<observation>\n<search>\n${hits}\n</search>\n</observation>`;
const summarized = (text: string): string => `<summary>\n${text}\n</summary>`;

describe('when a compaction runs', () => {
  it('[row 49] by a counter: before iterations 6, 11 and 16, and only there', async () => {
    const replies = [...Array.from({ length: 16 }, (_, index) => act(`q${index}`)), answer()];
    const started = startCompacting(replies, {
      triggers: [counter('agent:iterations', 5)],
      strategies: [slidingWindow(2)],
    });

    const step = await started.run.result;

    started.script.assertDone();
    expect(compactedAfter(started)).toEqual([5, 10, 15]);
    expect(step.stats.counters).toMatchObject({
      'agent:compactions': 3,
      '$self:agent:compactions': 3,
    });
    expect(started.run.state.compaction.snapshots).toEqual({ 'agent:iterations': 15 });
  });

  it('[row 49] never before the first iteration, and between two of them', async () => {
    const started = startCompacting([act('a'), act('b'), answer()], {
      triggers: [gauge('agent:depth', 0)],
      strategies: [slidingWindow(1)],
    });

    await started.run.result;

    expect(typesOf(started.run.events)).toEqual([
      'execution:before',
      ...ASKED,
      ...CALLED,
      ...ASKED,
      ...CALLED,
      'compaction',
      ...ASKED,
      'answer:judged',
      'iteration:after',
      'execution:after',
    ]);
    expect(hasNoGap(started.run.events)).toBe(true);
  });

  it.each([
    { name: 'at the value', at: 110, iterations: [2] },
    { name: 'above the value', at: 111, iterations: [] },
  ])('[row 49] sees the gauges of the iteration just ended: $name', async ({ at, iterations }) => {
    const started = startCompacting([act('a'), act('b'), answer()], {
      triggers: [gauge('agent:total_tokens_last_iteration', at)],
      strategies: [slidingWindow(1)],
    });

    await started.run.result;

    expect(compactedAfter(started)).toEqual(iterations);
  });

  it.each([
    // 110 tokens of the last call, and 58 bytes of the observation behind it: 15 tokens.
    { name: 'at its share', contextWindow: 250, iterations: [2] },
    { name: 'below its share', contextWindow: 252, iterations: [] },
  ])('[row 49] by the size of the next request: $name', async ({ contextWindow, iterations }) => {
    const script = scriptedModel([act('a'), act('b'), answer()]);
    const started = startCompacting(
      [],
      { triggers: [context(0.5)], strategies: [slidingWindow(1)] },
      { agent: { model: { id: 'm', model: script.model, contextWindow } } },
    );

    await started.run.result;

    script.assertDone();
    expect(observed('hits for b')).toHaveLength(58);
    expect(compactedAfter(started)).toEqual(iterations);
  });

  it('[row 49] leaves no trace when there is nothing to do', async () => {
    const plain = startRun([act('a'), answer()]);
    const started = startCompacting([act('a'), answer()], {
      triggers: [ALWAYS],
      strategies: [slidingWindow(9), mask(), summarize({ keepRecent: 9 })],
    });

    const [expected, step] = await Promise.all([plain.run.result, started.run.result]);

    expect(step).toEqual(expected);
    expect(started.run.events).toEqual(plain.run.events);
    expect(started.run.state.compaction.snapshots).toEqual({});
  });

  it('[row 49] goes on to the next strategy while the context is too full', async () => {
    const large = { content: act('b'), usage: { inputTokens: 700, outputTokens: 10 } };
    const script = scriptedModel([act('a'), large, 'S', answer()]);
    const tool = searchTool(() => 'x'.repeat(2_000));
    const started = startCompacting(
      [],
      { triggers: [context(0.05)], strategies: [mask({ keepRecent: 1 }), summarize()] },
      {
        agent: {
          tools: [tool],
          model: { id: 'm', model: script.model, contextWindow: 15_000 },
        },
      },
    );

    await started.run.result;

    script.assertDone();
    expect(
      bodiesOf(started.run.events, 'agent:compaction').map(({ strategy }) => strategy),
    ).toEqual(['mask', 'summarize']);
  });

  it('[row 49] is off without a window, on with one, and off when the agent says so', () => {
    const specOf = (model: ModelEntry, compaction?: false): unknown =>
      startCompacting([], compaction, { agent: { model } }).run.state.head.spec.compaction;
    const { model } = scriptedModel([]);

    expect(specOf({ id: 'm', model })).toBeUndefined();
    expect(specOf({ id: 'm', model, contextWindow: 1_000 }, false)).toEqual({
      triggers: [],
      strategies: [],
    });
    expect(specOf({ id: 'm', model, contextWindow: 1_000 })).toEqual({
      triggers: [{ kind: 'context', share: 0.8 }],
      strategies: [
        { kind: 'mask', keepRecent: 5, minBytes: 1_024, tools: null },
        { kind: 'summarize', keepRecent: 3, models: [], prompt: null, system: null },
      ],
    });
  });
});

describe('what a compaction leaves', () => {
  it('[row 5] [row 49] shrinks the scratchpad in a new epoch, and the history keeps all', async () => {
    const started = startCompacting([act('a'), act('b'), act('c'), answer()], {
      triggers: [counter('agent:iterations', 3)],
      strategies: [slidingWindow(1)],
    });

    await started.run.result;

    const { run, script } = started;
    expect(run.entries.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(bodiesOf(run.events, 'agent:scratchpad:change').at(-1)).toEqual({
      type: 'agent:scratchpad:change',
      epoch: 2,
      lengthBefore: 3,
      lengthAfter: 1,
      added: 0,
      removed: 2,
    });
    expect(bodiesOf(run.events, 'agent:compaction')).toEqual([
      {
        type: 'agent:compaction',
        strategy: 'sliding_window',
        lengthBefore: 3,
        lengthAfter: 1,
        tokensBefore: expect.any(Number) as number,
        tokensAfter: expect.any(Number) as number,
        epoch: 2,
        durationMs: 0,
      },
    ]);
    expect(run.state.stats.gauges['agent:scratchpad_length']).toBe(1);
    expect(scratchpadOf(script.requests[3])).toEqual([act('c'), observed('hits for c')]);
    expect(script.requests[3]?.messages.slice(0, 2)).toEqual(
      script.requests[0]?.messages.slice(0, 2),
    );
  });

  it('[row 51] asks for a summary and shows it in place of what it sums up', async () => {
    const started = startCompacting([act('a'), act('b'), 'A and b are done.', answer()], {
      triggers: [counter('agent:iterations', 2)],
      strategies: [summarize({ keepRecent: 1 })],
    });

    const step = await started.run.result;

    const { run, script } = started;
    script.assertDone();
    expect(script.requests[2]?.messages.map(textOf).slice(1)).toEqual([
      `## Summary so far\nnone\n\n## New activity\n### 1. assistant\n${act('a')}\n### 2. user\n${observed('hits for a')}`,
    ]);
    expect(scratchpadOf(script.requests[3])).toEqual([
      summarized('A and b are done.'),
      act('b'),
      observed('hits for b'),
    ]);
    expect(step.usage).toMatchObject({ modelCalls: 4, totalTokens: 440 });
    expect(bodiesOf(run.events, 'agent:model_call:before').map(({ purpose }) => purpose)).toEqual([
      'reply',
      'reply',
      'compaction',
      'reply',
    ]);
    expect(bodiesOf(run.events, 'agent:model_call:before')[2]?.messages).toBe(2);
  });

  it('[row 51] carries an earlier summary on', async () => {
    const started = startCompacting([act('a'), 'A.', act('b'), 'A and b.', answer()], {
      triggers: [ALWAYS],
      strategies: [summarize({ prompt: '{summary}|{activity}' })],
    });

    await started.run.result;

    started.script.assertDone();
    expect(started.script.requests[3]?.messages.map(textOf)).toEqual([
      `A.|### 1. assistant\n${act('b')}\n### 2. user\n${observed('hits for b')}`,
    ]);
    expect(scratchpadOf(started.script.requests[4])).toEqual([summarized('A and b.')]);
  });

  it('[row 51] asks another model, and those that stand in for it', async () => {
    const replies = scriptedModel([act('a'), answer()]);
    const broken = scriptedModel([Object.assign(new Error('no key'), { statusCode: 401 })]);
    const small = scriptedModel(['A.']);
    const started = startCompacting(
      [],
      { triggers: [ALWAYS], strategies: [summarize({ model: 'broken' })] },
      {
        agent: { model: { id: 'm', model: replies.model } },
        models: [
          { id: 'broken', model: broken.model, fallbacks: ['small'] },
          { id: 'small', model: small.model },
        ],
      },
    );

    const step = await started.run.result;

    for (const script of [replies, broken, small]) script.assertDone();
    expect(step.stats.counters).toMatchObject({
      'agent:model_calls:m': 2,
      'agent:model_calls:broken': 1,
      'agent:model_calls:small': 1,
    });
  });

  it('[row 6] [row 49] is handed over with its snapshots, and the run is the same', async () => {
    const replies = [...Array.from({ length: 6 }, (_, index) => act(`q${index}`)), answer()];
    const compaction = {
      triggers: [counter('agent:iterations', 2)],
      strategies: [slidingWindow(1)],
    };
    const whole = startCompacting(replies, compaction);
    const chain = startCompacting(replies, compaction, { handoverDue: () => true });

    const [expected, { trace, ...step }] = await Promise.all([whole.run.result, chain.run.result]);

    expect({ ...step, trace: expected.trace }).toEqual(expected);
    expect(trace.chain.links).toBeGreaterThan(1);
    expect(chain.script.requests).toEqual(whole.script.requests);
    expect(compactedAfter(chain)).toEqual([2, 4, 6]);
  });
});

describe('a compaction, whatever the loop', () => {
  it('[row 50] keeps what a tool pinned', async () => {
    const tool = searchTool((query) =>
      toolResult({ output: `hits for ${query}`, importance: query === 'a' ? 10 : 9.9 }),
    );
    const started = startCompacting(
      [act('a'), act('b'), act('c'), answer()],
      { triggers: [ALWAYS], strategies: [slidingWindow(1)] },
      { agent: { tools: [tool] } },
    );

    await started.run.result;

    expect(scratchpadOf(started.script.requests[3])).toEqual([
      act('a'),
      observed('hits for a'),
      act('c'),
      observed('hits for c'),
    ]);
  });

  it('[row 50] [row 51] leaves a chat in which every call has its result', async () => {
    const call = (query: string): ScriptedReply => ({
      toolCalls: [{ name: 'search', args: { query } }],
    });
    const started = startCompacting(
      [call('a'), call('b'), 'A was found.', 'done'],
      {
        triggers: [counter('agent:iterations', 2)],
        strategies: [summarize({ keepRecent: 1, prompt: '{activity}' })],
      },
      { agent: { mode: 'chat' } },
    );

    const step = await started.run.result;

    started.script.assertDone();
    expect(step.value).toBe('done');
    expect(started.script.requests[2]?.messages.map(textOf)).toEqual([
      '### 1. assistant\n[tool_call] search {"query":"a"}\n### 2. tool\n[tool_result] search\nhits for a',
    ]);
    expect(
      started.script.requests[3]?.messages.map(({ role, parts }) => [role, parts[0]?.type]),
    ).toEqual([
      ['user', 'text'],
      ['user', 'text'],
      ['assistant', 'tool_call'],
      ['tool', 'tool_result'],
    ]);
  });

  it('[row 7] [row 49] comes to a loop of its own without any code for it', async () => {
    const started = startCompacting(
      [answer('a'), answer('b'), 'Summary.', answer('c')],
      { triggers: [counter('agent:iterations', 2)], strategies: [summarize()] },
      {
        next: async (work) => {
          await work.ask();
          work.append({ messages: [textMessage('user', `note ${work.iteration}`)] });
          return work.iteration < 3 ? { kind: 'continue' } : { kind: 'end', value: null };
        },
      },
    );

    await started.run.result;

    started.script.assertDone();
    expect(scratchpadOf(started.script.requests[3])).toEqual([summarized('Summary.')]);
  });
});

describe('a compaction that cannot go on', () => {
  const strategies = [summarize()];

  it.each<{ name: string; reply: ScriptedReply; cause: RegExp }>([
    { name: 'an empty summary', reply: ' ', cause: /^the summary was empty$/ },
    {
      name: 'a refused request',
      reply: Object.assign(new Error('bad'), { statusCode: 400 }),
      cause: /./,
    },
  ])('[row 4] [row 51] fails the run on $name and changes nothing', async ({ reply, cause }) => {
    const started = startCompacting([act('a'), reply], { triggers: [ALWAYS], strategies });

    const step = await started.run.result;

    started.script.assertDone();
    expect([step.status, step.reason]).toEqual(['compaction_failed', 'compaction_failed']);
    const prefix = 'compaction after iteration 1: ';
    expect(step.message?.startsWith(prefix)).toBe(true);
    expect(step.message?.slice(prefix.length)).toMatch(cause);
    expect(typesOf(started.run.events).slice(-4)).toEqual([
      'model_call:before',
      'model_call:after',
      'error',
      'execution:after',
    ]);
    expect(started.run.state.scratchpad.map(({ origin }) => origin)).toEqual(['original']);
    expect(started.run.state.mark.epoch).toBe(1);
  });

  it('[row 2] [row 3] ends canceled when a cancel comes in the summary', async () => {
    const started = startCompacting(
      [
        act('a'),
        async (_request, { signal }) => {
          started.run.cancel('stop');
          await abortOf(signal);
          throw new Error('aborted');
        },
      ],
      { triggers: [ALWAYS], strategies },
    );

    const step = await started.run.result;

    expect([step.status, step.message]).toEqual(['canceled', 'stop']);
    expect(started.run.state.mark.epoch).toBe(1);
  });

  it('[row 3] ends by a limit that the summary would cross, before it is asked for', async () => {
    const started = startCompacting(
      [act('a')],
      { triggers: [ALWAYS], strategies },
      { limits: { modelCalls: 1 } },
    );

    const step = await started.run.result;

    started.script.assertDone();
    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:model_calls']);
  });

  it('[row 3] ends by a limit that the summary crossed, before the next iteration', async () => {
    const started = startCompacting(
      [act('a'), 'A.'],
      { triggers: [ALWAYS], strategies },
      { limits: { totalTokens: 200 } },
    );

    const step = await started.run.result;

    started.script.assertDone();
    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:total_tokens']);
    expect(step.iterations).toBe(1);
  });

  it('[row 8] reads an interrupting input first, then begins anew', async () => {
    const started = startCompacting(
      [
        act('a'),
        async (_request, { signal }) => {
          started.run.send('wait', { kind: 'interrupt' });
          await abortOf(signal);
          throw new Error('aborted');
        },
        'A, and wait.',
        answer(),
      ],
      { triggers: [ALWAYS], strategies },
    );

    const step = await started.run.result;

    started.script.assertDone();
    expect([step.status, step.iterations]).toEqual(['success', 2]);
    expect(scratchpadOf(started.script.requests[3])).toEqual([summarized('A, and wait.')]);
    expect(
      textOf(started.script.requests[2]?.messages[1] ?? { role: 'user', parts: [] }),
    ).toContain('wait');
  });

  it('[row 8] reads an input that came meanwhile before the model is asked', async () => {
    const started = startCompacting(
      [
        act('a'),
        () => {
          started.run.send('also b', { kind: 'steer' });
          return 'A.';
        },
        answer(),
      ],
      { triggers: [counter('agent:tool_calls', 1)], strategies },
    );

    await started.run.result;

    started.script.assertDone();
    expect(scratchpadOf(started.script.requests[2])).toEqual([
      summarized('A.'),
      '<message>\nalso b\n</message>',
    ]);
  });
});

describe('a request that is too long', () => {
  it('[row 51] is made shorter by force and asked again in the same iteration', async () => {
    const started = startCompacting([act('a'), act('b'), TOO_LONG, 'All.', answer()], {
      triggers: [counter('agent:iterations', 100)],
      strategies: [summarize()],
    });

    const step = await started.run.result;

    started.script.assertDone();
    expect([step.status, step.iterations]).toEqual(['success', 3]);
    expect(typesOf(started.run.events).slice(-12)).toEqual([
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'model_call:before',
      'model_call:after',
      'compaction',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'answer:judged',
      'iteration:after',
      'execution:after',
    ]);
    expect(scratchpadOf(started.script.requests[4])).toEqual([summarized('All.')]);
  });

  it.each<{ name: string; replies: readonly ScriptedReply[]; options?: CompactionOptions }>([
    {
      name: 'a second time',
      replies: [act('a'), act('b'), TOO_LONG, TOO_LONG],
      options: { triggers: [counter('agent:iterations', 100)], strategies: [slidingWindow(1)] },
    },
    {
      name: 'with nothing to make shorter',
      replies: [act('a'), TOO_LONG],
      options: { triggers: [counter('agent:iterations', 100)], strategies: [slidingWindow(1)] },
    },
    { name: 'without compaction', replies: [act('a'), TOO_LONG] },
  ])('[row 51] ends the run $name', async ({ replies, options }) => {
    const started = startCompacting(replies, options);

    const step = await started.run.result;

    started.script.assertDone();
    expect([step.status, step.reason]).toEqual(['error', 'context_too_long']);
  });

  it('[row 51] fails the run when the summary fails', async () => {
    const started = startCompacting([act('a'), TOO_LONG, ''], {
      triggers: [counter('agent:iterations', 100)],
      strategies: [summarize()],
    });

    const step = await started.run.result;

    expect([step.status, step.message]).toEqual([
      'compaction_failed',
      'compaction after iteration 2: the summary was empty',
    ]);
    expect(bodiesOf(started.run.events, 'agent:iteration:after').at(-1)?.outcome).toBe('failed');
  });
});

/** 40 KB, as a result and in the arguments of a call. */
const TEXT = 'text '.repeat(8_000);

const bytesOf = (state: RunState): number => byteSize(state as unknown as Json);

describe('a state that does not fit into a hand-over', () => {
  it('[row 6] [row 51] is compacted first, strategy by strategy, until it fits', async () => {
    const started = startCompacting(
      [act('a'), act('b'), 'All.', answer()],
      {
        triggers: [counter('agent:iterations', 100)],
        strategies: [slidingWindow(9), summarize(), slidingWindow(1)],
      },
      {
        handoverDue: (iteration) => iteration === 2,
        fitsHandover: (state) => state.scratchpad.length < 2,
      },
    );

    const step = await started.run.result;

    started.script.assertDone();
    expect(step.status).toBe('success');
    expect(compactedAfter(started)).toEqual([2]);
    const types = typesOf(started.run.events);
    expect(types.indexOf('execution:handover')).toBe(types.indexOf('compaction') + 1);
    expect(started.run.state.link).toBe(2);
  });

  it('[row 6] is handed over as it is when it fits, or when nothing can be done', async () => {
    const fits = startCompacting(
      [act('a'), act('b'), answer()],
      { triggers: [counter('agent:iterations', 100)], strategies: [slidingWindow(1)] },
      { handoverDue: (iteration) => iteration === 2 },
    );
    const cannot = startCompacting([act('a'), answer()], undefined, {
      handoverDue: (iteration) => iteration === 1,
      fitsHandover: () => false,
    });

    await Promise.all([fits.run.result, cannot.run.result]);

    expect([compactedAfter(fits), compactedAfter(cannot)]).toEqual([[], []]);
    expect([fits.run.state.link, cannot.run.state.link]).toEqual([2, 2]);
  });

  it('[row 51] loses large results, then its oldest entries, if nothing says how', async () => {
    const replies = Array.from({ length: 30 }, (_, index) => act(`q${index} ${TEXT}`));
    const started = startCompacting([...replies, answer()], undefined, {
      agent: { tools: [searchTool(() => TEXT)] },
      handoverDue: (iteration) => iteration === 30,
      fitsHandover: (state) => bytesOf(state) <= INLINE_SIZES.handover,
    });

    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'success', iterations: 31 });
    const [warning, ...others] = bodiesOf(started.run.events, 'agent:warning');
    expect([warning?.code, others]).toEqual(['state_large', []]);
    expect(warning?.message).toMatch(/^The conversation made the state of the run \d+ bytes large/);
    const compactions = bodiesOf(started.run.events, 'agent:compaction');
    expect(compactions.map(({ strategy }) => strategy)).toEqual(['mask', 'sliding_window']);
    expect(bytesOf(started.run.state)).toBeLessThan(1_050_000);
    // What came last is whole.
    const shown = scratchpadOf(started.script.requests.at(-1));
    expect(shown.at(-1)).toContain(TEXT);
    expect(shown.join('\n')).toContain('q29 ');
    expect(shown.join('\n')).not.toContain('q0 ');
    expect(started.run.state.link).toBe(2);
  });

  it('[row 51] stays as it is with `compaction: false`', async () => {
    const parts: RunOptions = {
      handoverDue: (iteration) => iteration === 1,
      fitsHandover: () => false,
    };
    const never = startCompacting([act('a'), answer()], false, parts);

    await never.run.result;

    expect(compactedAfter(never)).toEqual([]);
    expect(bodiesOf(never.run.events, 'agent:warning')).toEqual([]);
  });
});
