/** Pages of docs/ whose code is that of examples which run here. */
import { describe, expect, test } from 'vitest';
import { clerk, guardedDesk } from '../../examples/docs/answers.ts';
import { herald, planner } from '../../examples/docs/formats.ts';
import { entries, first, withFallback } from '../../examples/docs/models.ts';
import { carefulLoop, gatheringLoop, programmerLoop } from '../../examples/docs/own-loops.ts';
import {
  ahead,
  logEnds,
  logEvents,
  quietClerk,
  readInPage,
  relay,
  tokenForPage,
  watch,
} from '../../examples/docs/streaming.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { modelEntryProblems } from '../../src/define/model/model-problems.ts';
import { checkPackages } from '../../src/registry/provider-packages.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { followChunks } from '../../src/client/streaming/follow-chunks.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { RunStatus } from '../../src/core/contract/messages.ts';
import { textOf, type Message } from '../../src/core/base/message.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { signStreamToken } from '../../src/protection/stream-token.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { openChunkEndpoint } from '../../src/worker/streaming/chunk-endpoint.ts';
import { fakeRun, starting, STEP } from '../cli/cli-fixture.ts';
import { chunk, marker, pushed } from '../support/chunks.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';
import { act, answer, bodiesOf, GARBAGE, searchTool, START, startRun } from '../support/runs.ts';

const PAGES = ['answers', 'deployments', 'formats', 'models', 'own-loops', 'streaming'];

test.each(PAGES)('docs/%s.md quotes its example', (page) => {
  expect(blocksOf(page).size).toBeGreaterThan(0);
  expect(blocksOf(page)).toEqual(regionsOf(page));
});

describe('answers', () => {
  test('coerced, filled in, rejected with feedback, judged by a model that is counted', async () => {
    const letter = (to: string, text: string): string =>
      answer(JSON.stringify({ to, text, send_at: '2026-03-11 08:00' }));
    const script = scriptedModel([
      answer('{"to": "ada"}'),
      letter('ada@elsewhere.org', 'Come, please.'),
      letter('ada@example.com', 'Come.'),
      answer('{"to": "ada@example.com", "text": "Come, please."}'),
    ]);

    const run = startInMemory({ agent: clerk(script.model), task: 'Invite Ada.' });
    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({
      status: 'success',
      value: { to: 'ada@example.com', text: 'Come, please.', send_at: '2026-03-10T09:00:00Z' },
    });
    expect(step.stats.counters).toMatchObject({
      'agent:answer_rejected_by:in-house': 1,
      'agent:answer_rejected_by:polite': 1,
      'agent:model_calls:critic': 2,
      'agent:input_tokens:critic': 80,
    });
    const told = script.requests.slice(1).map(({ messages }) => lastTextOf(messages));
    expect(told[0]).toContain('- text: missing');
    expect(told[1]).toContain('Write to an address of example.com, not to ada@elsewhere.org.');
    const called = bodiesOf(run.events, 'agent:validator:called')[0];
    expect(called?.answer).toMatchObject({ send_at: '2026-03-11T08:00:00Z' });
  });
});

describe('guards', () => {
  test('write what the model sees, or end the run', async () => {
    const script = scriptedModel(['done']);
    const agent = guardedDesk(script.model);

    await startInMemory({ agent, task: 'Card 4111111111111111' }).result;
    const step = await startInMemory({ agent, task: 'Plan an attack.' }).result;

    expect(JSON.stringify(script.requests)).toContain('Card [card]');
    expect(step).toMatchObject({
      reason: 'blocked',
      stats: { counters: { 'agent:model_calls:moderation': 1 } },
    });
  });
});

describe('formats', () => {
  test('sections of three kinds in Markdown, one of them unfit', async () => {
    const reply = (hours: number): string =>
      `# thinking\nNothing.\n# plan\nsteps:\n- 007\n- look\n# estimate\n{"hours": ${hours}}\n# doubts\nnone\n# answer\ndone`;
    const script = scriptedModel([`${reply(-1)}\n# Other\nx`, reply(2)]);

    const run = startInMemory({ agent: planner(script.model), task: 'Go' });
    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({ status: 'success', value: 'done', iterations: 2 });
    expect(lastTextOf(script.requests[1]?.messages ?? [])).toContain('There is no section Other.');
    expect(run.entries.at(-1)?.metadata).toEqual({
      sections: { plan: [{ steps: ['007', 'look'] }], estimate: [{ hours: 2 }] },
    });
  });

  test('a prompt of one’s own', async () => {
    const script = scriptedModel([answer('hear, hear')]);

    await startInMemory({
      agent: herald(script.model),
      task: 'Go',
      clock: createFakeClock(START),
    }).result;

    const [first, second] = script.requests[0]?.messages.map(textOf) ?? [];
    expect(first).toBe('You announce things. Today is Tuesday, 2026-03-10.');
    expect(second).toMatch(/^<layout>\nWrite your reply as the sections below\.[^]*<\/layout>$/);
  });
});

describe('models', () => {
  test('entries that a worker takes', () => {
    expect(modelEntryProblems(entries())).toEqual([]);
    expect(entries().map(({ id }) => id)).toEqual(['large', 'small']);
  });

  test('named by its provider', () => {
    expect(() => checkPackages(createRegistry({ agents: [first()] }))).not.toThrow();
  });

  test('a fallback answers, and its price counts', async () => {
    const { agent, models } = withFallback();

    const step = await startInMemory({ agent, models, task: 'Go' }).result;

    expect(step).toMatchObject({
      status: 'success',
      value: '1 messages',
      usage: { modelCalls: 2, costMicroUsd: 1_020 },
    });
    expect(step.stats.counters).toMatchObject({
      'agent:model_calls:down': 1,
      'agent:model_calls:parrot': 1,
    });
  });

  test('a limit on cost needs all prices', () => {
    const { agent, models } = withFallback();

    const free = models.map(({ id, model, fallbacks = [] }) => ({ id, model, fallbacks }));

    expect(() => createRegistry({ agents: [agent], models: free })).toThrow(
      'Agent `bird`: Expected a `price` for every model under a cost limit, got none for `down`.',
    );
  });
});

describe('own loops', () => {
  test('one call in a turn, whatever the model wants', async () => {
    const wordy = defineValidator({
      name: 'wordy',
      validate: (text: string) => ({ accepted: text.length > 4, feedback: 'Say more.' }),
    });
    const { run, script } = startRun([act('a', 'b'), GARBAGE, answer('no'), answer('all done')], {
      next: carefulLoop(),
      agent: { validators: [wordy] },
    });

    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({ status: 'success', value: 'all done', iterations: 4 });
    expect(step.usage.toolCalls).toBe(1);
    expect(run.entries).toHaveLength(4);
    const observations = script.requests.slice(1).map(({ messages }) => lastTextOf(messages));
    expect(observations[0]).toBe(
      '<observation>\n<note>\n1 more calls were left out: one step at a time.\n</note>\n<search>\nhits for a\n</search>\n</observation>',
    );
    expect(observations[1]).toContain('Your reply could not be read');
    expect(observations[2]).toBe(
      '<observation>\n<feedback>\nSay more.\n</feedback>\n<note>\nNot accepted. Answer again.\n</note>\n</observation>',
    );
  });

  test('one that gathers by calls in text, with what a person decides', async () => {
    const script = scriptedModel([
      'tool: search\nargs: tea',
      '- tool: search\n  args: {query: tea}\n- tool: search\n  args: {query: cups}',
      'Tea and cups.',
    ]);
    const tool = searchTool();
    const agent = defineAgent({
      name: 'gatherer',
      mode: 'chat',
      model: script.model,
      tools: [{ ...tool, spec: { ...tool.spec, approval: 'always' } }],
    });
    const run = startInMemory({
      agent,
      task: 'What is there?',
      next: gatheringLoop(),
      handoverDue: (_, place) => place === 'waiting',
    });
    await run.resultOrPending();
    for (const { id } of run.pending()) run.decide(id, { approve: true });

    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({ status: 'success', value: 'Tea and cups.', iterations: 2 });
    expect(step.stats.counters).toMatchObject({
      'agent:toolchain_parse_error_total': 1,
      'agent:tool_calls': 2,
    });
    const [first, , last] = script.requests.map(({ messages }) => messages.map(textOf).join('\n'));
    expect(first).toContain('- search: Finds pages.');
    expect(first).toContain('Call tools with YAML.');
    expect(last).toContain('<search>\nhits for cups\n</search>');
    expect(JSON.stringify(run.entries[0]?.messages)).toContain('must be a mapping, got string');
    expect(bodiesOf(run.events, 'agent:execution:handover')).toHaveLength(1);
    expect(bodiesOf(run.events, 'agent:turn:read').map(({ kind }) => kind)).toEqual([
      'malformed',
      'calls',
    ]);
  });

  test('one that runs replies as programs, handed over in their middle', async () => {
    const script = scriptedModel([
      '(def hits (pmap #(tool/search {:query %}) ["a" "b"]))',
      '(+ 1',
      '(return {:hits hits :city (ask "Where?")})',
    ]);
    const agent = defineAgent({
      name: 'programmer',
      mode: 'chat',
      model: { id: 'm', model: script.model },
      tools: [searchTool()],
      askUser: true,
    });
    const run = startInMemory({
      agent,
      task: 'Go',
      next: programmerLoop(),
      handoverDue: (_, place) => place === 'program',
    });
    await run.resultOrPending();
    run.answer('q1', 'Rome');

    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({
      status: 'success',
      value: { hits: ['hits for a', 'hits for b'], city: 'Rome' },
      iterations: 3,
    });
    expect(bodiesOf(run.events, 'agent:execution:handover').length).toBeGreaterThan(1);
    const said = script.requests.slice(1).map(({ messages }) => textOf(messages.at(-1) as Message));
    expect(said[0]).toBe('It gave ');
    expect(said[1]).toContain('parse_error at line 1');
  });
});

/** The message before the marker. */
function lastTextOf(messages: readonly Message[]): string {
  const message = messages.at(-2);
  return message === undefined ? '' : textOf(message);
}

describe('streaming', () => {
  test('text that grows, starts again, and is replaced by the answer', async () => {
    const stream: RunHandle['stream'] = async function* () {
      yield chunk(1, 'I look', { kind: 'text' });
      yield chunk(1, 'think', { iteration: 2, kind: 'reasoning' });
      yield chunk(2, 'Zag', { iteration: 2 });
      yield marker(1, 'restart', { iteration: 2, attempt: 2 });
      yield chunk(2, 'Vien', { iteration: 2, attempt: 2 });
      yield chunk(3, 'na', { iteration: 2, attempt: 2 });
    };
    const shown: unknown[] = [];

    await watch(fakeRun('r', { stream, result: async () => STEP }), (value) => shown.push(value));

    expect(shown).toEqual(['I look', '', 'Zag', '', 'Vien', 'Vienna', 'Vienna.']);
  });

  test('a start with the stream open', async () => {
    const stream: RunHandle['stream'] = async function* () {
      yield chunk(1, 'Good evening!');
      yield marker(2, 'end');
    };
    const started: unknown[] = [];
    const start = starting(async (agent, options) => {
      started.push([agent, options]);
      return fakeRun('r', { stream });
    });
    const shown: string[] = [];

    await ahead({ start } as Everloop, 'Good evening.', ({ kind }) => shown.push(kind));

    expect(started).toEqual([['host', { task: 'Good evening.', stream: true }]]);
    expect(shown).toEqual(['text', 'end']);
  });

  test('an agent that streams to readers only', () => {
    expect(quietClerk()).toMatchObject({ name: 'clerk', stream: 'auto' });
  });

  test('the events of a run', async () => {
    const recorded = [1, 2, 3].map((seq) => pushed(seq).event);
    const lines: string[] = [];
    const run = fakeRun('r', {
      status: async () => ({ state: 'ended', events: 3 }) as RunStatus,
      events: async ({ from = 0 } = {}) => recorded.slice(from),
      async *pushedEvents() {
        yield { kind: 'feed', feed: 'pushed' };
        yield pushed(2);
        await new Promise(() => undefined);
      },
    });

    await logEvents(run, 1, (line) => lines.push(line));

    const type = 'agent:iteration:before';
    expect(lines).toEqual(['events are pushed', `2 ${type}`, `3 ${type}`]);
  });

  test('the ends of all runs', async () => {
    const lines: string[] = [];
    const end = { type: 'agent:execution:after', runId: 'r7' } as const;
    const pushedEvents: Everloop['pushedEvents'] = async function* () {
      yield { kind: 'feed', feed: 'pushed' };
      yield pushed(9, { ...end, status: 'success', reason: '' });
    };

    await logEnds({ pushedEvents } as Everloop, (line) => lines.push(line));

    expect(lines).toEqual(['r7 has ended']);
  });

  test('one address in front of a fleet', async () => {
    const token = 'a-token-of-a-fleet';
    const bus = createChunkBus();
    const worker = await openChunkEndpoint({ source: bus, token });
    const front = await relay([worker.url], token);
    const { url } = front;
    const stream = followChunks({ find: [async () => [{ url, token }]] }).subscribe({ runId: 'r' });
    const items: unknown[] = [];
    const reading = (async () => {
      for await (const item of stream) items.push(item);
    })();

    await eventually('a piece', () => {
      bus.publish(chunk(1, 'one'));
      return items.length > 0;
    });
    stream.unsubscribe();
    await reading;
    await front.close();
    await worker.close();

    expect(items[0]).toEqual(chunk(1, 'one'));
  });

  test('a page that reads one tree with a token of its own', async () => {
    const readers = 'a-token-of-a-fleet';
    const bus = createChunkBus();
    const { url, close } = await openChunkEndpoint({ source: bus, token: readers });
    const lives: unknown[] = [];
    const streamToken: RunHandle['streamToken'] = async (options) => {
      lives.push(options);
      return signStreamToken({ rootRunId: 'r', readers });
    };
    const token = await tokenForPage(fakeRun('r', { streamToken }));
    const shown: unknown[] = [];
    const reading = readInPage(url, token, (item) => shown.push(item));

    await eventually('a piece', () => {
      bus.publish(chunk(1, 'of another', { runId: 'other', rootRunId: 'other' }));
      bus.publish(chunk(1, 'one'));
      return shown.length > 0;
    });
    bus.close();
    await reading;
    await close();

    expect(lives).toEqual([{ ttlMs: 900_000 }]);
    expect(shown[0]).toEqual(chunk(1, 'one'));
  });
});
