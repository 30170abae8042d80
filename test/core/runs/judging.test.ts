import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonAnswer, jsonSection } from '../../../src/define/agent/reply-layout.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import { textOf } from '../../../src/core/base/message.ts';
import type { ModelRequest } from '../../../src/core/contract/model.ts';
import type { UsageError } from '../../../src/core/base/usage-error.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import {
  abortOf,
  act,
  answer,
  bodiesOf,
  bodyOf,
  GARBAGE,
  searchTool,
  startRun,
  typesOf,
  type RunOptions,
} from '../../support/runs.ts';

/** Accepts texts that contain `word`. */
const wants = (word: string, feedback?: string): ReturnType<typeof defineValidator> =>
  defineValidator({
    name: `wants-${word}`,
    validate: (text, context) => {
      context.count(`checks:${word}`);
      context.emit(`checked:${word}`, { text: String(text) });
      return String(text).includes(word)
        ? { accepted: true }
        : { accepted: false, ...(feedback === undefined ? {} : { feedback }) };
    },
  });

describe('validators', () => {
  it('[row 31] [row 39] are recorded in order, and the first rejection stops', async () => {
    const { run, script } = startRun([answer('b'), answer('a b')], {
      agent: { validators: [wants('a', 'say a'), wants('b')] },
    });

    const step = await run.result;

    script.assertDone();
    const judged = run.events
      .filter(({ type }) => /validator|judged|^checked/.test(type))
      .map(bodyOf);
    expect(judged).toEqual([
      { type: 'agent:validator:called', validator: 'wants-a', answer: 'b' },
      {
        type: 'agent:validator:result',
        validator: 'wants-a',
        accepted: false,
        feedback: 'feedback: say a',
      },
      {
        type: 'agent:answer:judged',
        outcome: 'rejected',
        durationMs: 0,
        counts: { 'checks:a': 1 },
      },
      { type: 'checked:a', data: { text: 'b' } },
      { type: 'agent:validator:called', validator: 'wants-a', answer: 'a b' },
      { type: 'agent:validator:result', validator: 'wants-a', accepted: true },
      { type: 'agent:validator:called', validator: 'wants-b', answer: 'a b' },
      { type: 'agent:validator:result', validator: 'wants-b', accepted: true },
      {
        type: 'agent:answer:judged',
        outcome: 'accepted',
        durationMs: 0,
        counts: { 'checks:a': 1, 'checks:b': 1 },
      },
      { type: 'checked:a', data: { text: 'a b' } },
      { type: 'checked:b', data: { text: 'a b' } },
    ]);
    expect([step.status, step.value]).toEqual(['success', 'a b']);
    expect(step.stats.counters).toMatchObject({
      'agent:answer_rejected_total': 1,
      'agent:answer_rejected_by:wants-a': 1,
      'checks:a': 2,
      'checks:b': 1,
    });
    expect(JSON.stringify(run.entries[0])).toContain('say a');
  });

  it('[row 31] [row 47] see the checked value, and so do their events, cut when it is long', async () => {
    const schema = z.object({ at: z.iso.datetime(), text: z.string() });
    const seen: unknown[] = [];
    const picky = defineValidator({
      name: 'picky',
      validate: (value) => {
        seen.push(value);
        return { accepted: seen.length === 2 };
      },
    });
    const json = (text: string): string => answer(JSON.stringify({ at: '2026-03-10 09:00', text }));
    const long = 'x'.repeat(3_000);
    const { run } = startRun([json('short'), json(long)], {
      agent: { answer: jsonAnswer({ schema }), validators: [picky] },
    });

    const step = await run.result;

    expect(seen).toEqual([{ at: '2026-03-10T09:00:00Z', text: 'short' }, step.value]);
    const called = bodiesOf(run.events, 'agent:validator:called');
    expect(called[0]?.answer).toEqual(seen[0]);
    expect(called[1]?.answer).toMatch(
      /^\{"at":"2026-03-10T09:00:00Z".*\n\[cut: 2048 of \d+ bytes shown\]$/s,
    );
  });

  it('[row 31] [row 45] that ask models are counted and limited like every call', async () => {
    const critic = defineValidator({
      name: 'critic',
      validate: (text, { reportModelCall }) => {
        reportModelCall('m', { prompt_tokens: 1_000, completion_tokens: 100 });
        reportModelCall('critic/1', { costMicroUsd: 7 });
        return { accepted: text === 'b' };
      },
    });
    const price = { input: 1, output: 2 };
    const replies = [answer('a'), answer('b')].map((content) => ({ content }));
    const { run } = startRun(replies, {
      agent: {
        model: { id: 'm', model: scriptedModel(replies).model, price },
        validators: [critic],
      },
      limits: { totalTokens: 2_000 },
    });

    const step = await run.result;

    // The breach comes with the second judgement, and the answer in hand still counts.
    expect(step).toMatchObject({
      status: 'success',
      value: 'b',
      exceededLimit: { key: 'agent:total_tokens' },
      usage: { modelCalls: 6, costMicroUsd: 2 * (120 + 1_200 + 7) },
    });
    expect(step.stats.counters).toMatchObject({
      'agent:model_calls:m': 4,
      'agent:model_calls:critic/1': 2,
      'agent:input_tokens:m': 2_200,
    });
    const calls = bodiesOf(run.events, 'agent:model_call:after');
    expect(calls.map(({ purpose, model }) => `${purpose} ${model}`)).toEqual([
      'reply m',
      'judge m',
      'judge critic/1',
      'reply m',
      'judge m',
      'judge critic/1',
    ]);
    expect(calls[2]).toMatchObject({ usageKnown: true, attempts: 1, durationMs: 0 });
  });

  it('[row 20] tools that ask models are counted too, once although their result is kept', async () => {
    const summary = defineTool({
      name: 'summary',
      description: 'Sums up.',
      effect: 'read',
      cache: true,
      execute: (_args, { reportModelCall }) => {
        reportModelCall('m', { inputTokens: 50, outputTokens: 5 });
        return 'short';
      },
    });
    const call = '<action>{tool: summary}</action>';
    const { run } = startRun([call, call, answer()], { agent: { tools: [summary] } });

    const step = await run.result;

    const calls = bodiesOf(run.events, 'agent:model_call:after');
    expect(calls.map(({ purpose }) => purpose)).toEqual(['reply', 'tool', 'reply', 'reply']);
    expect(step.usage).toMatchObject({ modelCalls: 4, toolCalls: 2 });
  });

  it.each([
    { name: 'no id', model: 'two words', times: 1 },
    { name: 'too many', model: 'm', times: 1_001 },
  ])('refuses a report of a model call: $name', async ({ model, times }) => {
    const codes: unknown[] = [];
    const odd = defineValidator({
      name: 'odd',
      validate: (_text, { reportModelCall }) => {
        try {
          for (let time = 0; time < times; time++) reportModelCall(model, {});
        } catch (error) {
          codes.push((error as UsageError).code);
        }
        return { accepted: true };
      },
    });
    const { run } = startRun([answer()], { agent: { validators: [odd] } });

    await run.result;

    expect(codes).toEqual(['model_report']);
  });

  it.each([
    {
      format: 'xml',
      first: answer('b'),
      second: answer('a'),
      feedback: '<observation>\n<feedback>\nsay a\n</feedback>\n</observation>',
    },
    {
      format: 'markdown',
      first: '# Answer\nb',
      second: '# Answer\na',
      feedback: '# observation\n## feedback\nsay a',
    },
  ] as const)('[row 31] give their feedback in the format of the agent: $format', async (row) => {
    const { run, script } = startRun([row.first, row.second], {
      agent: { format: row.format, validators: [wants('a', 'say a')] },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value]).toEqual(['success', 'a']);
    expect(script.requests[1]?.messages.slice(2).map(textOf)).toEqual([
      row.first,
      row.feedback,
      'Continue.',
    ]);
  });

  it('[row 31] are limited by name, through a prefix', async () => {
    const { run } = startRun([answer('b'), answer('a'), answer('a')], {
      agent: { validators: [wants('a'), wants('b')] },
      limits: {
        custom: [{ kind: 'prefix', key: 'agent:answer_rejected_by:', max: 1 }],
      },
    });

    const step = await run.result;

    expect([step.status, step.reason]).toEqual([
      'limit_exceeded',
      'agent:answer_rejected_by:wants-b',
    ]);
  });

  it('[row 31] that throw on every try end the run', async () => {
    const tries: number[] = [];
    const broken = defineValidator({
      name: 'broken',
      validate: (_answer, { attempt }) => {
        tries.push(attempt);
        throw new Error('no database');
      },
    });
    const { run } = startRun([answer()], { agent: { validators: [broken] } });

    const step = await run.result;

    expect(tries).toEqual([1, 2, 3]);
    expect([step.status, step.reason, step.message]).toEqual([
      'error',
      'validator_failed',
      'iteration 1: validator broken: no database',
    ]);
  });

  it('[row 38] reset the streak of unfit answers, whatever they say', async () => {
    const json = jsonAnswer({ schema: z.object({ n: z.number() }) });
    const { run, script } = startRun([answer('{'), answer('{'), answer('{"n": 1}')], {
      agent: { answer: json },
    });

    const step = await run.result;

    script.assertDone();
    expect(step.value).toEqual({ n: 1 });
    expect(step.stats.counters['agent:termination_parse_error_total']).toBe(2);
    expect(step.stats.gauges['agent:termination_parse_error_consecutive']).toBe(0);
    expect(bodiesOf(run.events, 'agent:answer:judged').map(({ outcome }) => outcome)).toEqual([
      'unfit',
      'unfit',
      'accepted',
    ]);
  });
});

describe('an action and an answer in one reply', () => {
  const both = `${act('a')}${answer('early')}`;

  it('[row 33] runs the action and drops the answer by default', async () => {
    const { run, script } = startRun([both, answer('late')]);

    const step = await run.result;

    script.assertDone();
    expect(step.value).toBe('late');
    expect(bodiesOf(run.events, 'agent:turn:read')[0]).toEqual({
      type: 'agent:turn:read',
      kind: 'calls',
      blocks: { action: 1, answer: 1 },
      discardedAnswer: true,
    });
  });

  it('[row 33] judges the answer first under `answer`, and never runs the action', async () => {
    const { run, script } = startRun([both], { agent: { precedence: 'answer' } });

    const step = await run.result;

    script.assertDone();
    expect([step.value, step.usage.toolCalls]).toEqual(['early', 0]);
  });

  it('[row 33] runs the action when the answer was rejected, in one observation', async () => {
    const { run, script } = startRun([both, answer('late')], {
      agent: { precedence: 'answer', validators: [wants('late', 'too early')] },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.value, step.usage.toolCalls]).toEqual(['late', 1]);
    expect(run.entries[0]?.messages[1]).toEqual({
      role: 'user',
      parts: [
        {
          type: 'sections',
          sections: [
            {
              name: 'observation',
              children: [
                { name: 'feedback', content: 'too early' },
                { name: 'search', content: 'hits for a' },
              ],
            },
          ],
        },
      ],
    });
  });

  it('[row 33] reads two action blocks as one batch, and an empty one as none', async () => {
    const { run } = startRun([`${act('a')}${act('b')}`, `<action></action>${answer()}`]);

    const step = await run.result;

    expect([step.status, step.usage.toolCalls, step.iterations]).toEqual(['success', 2, 2]);
  });
});

describe('a reply without sections', () => {
  it('[row 35] is asked for again, and the fourth in a row ends the run', async () => {
    const { run, script } = startRun([GARBAGE, GARBAGE, GARBAGE, GARBAGE], {
      agent: { onUnparsed: 'retry' },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason]).toEqual([
      'limit_exceeded',
      'agent:format_parse_error_consecutive',
    ]);
    expect(bodiesOf(run.events, 'agent:parse_error')[0]).toMatchObject({
      family: 'format',
      problems: [{ code: 'no_sections' }],
      raw: GARBAGE,
    });
  });

  it.each<{ name: string; text: string; options: RunOptions; ending: readonly unknown[] }>([
    {
      name: 'accepted as the answer under `answer`',
      text: 'good',
      options: {},
      ending: ['success', 'answered', 'good', 1],
    },
    {
      name: 'rejected under `answer`, and asked for again',
      text: 'bad',
      options: {},
      ending: ['success', 'answered', 'good', 2],
    },
  ])('[row 35] is $name', async ({ text, ending }) => {
    const { run } = startRun([text, answer('good')], {
      agent: { onUnparsed: 'answer', validators: [wants('good')] },
    });

    const step = await run.result;

    expect([step.status, step.reason, step.value, step.iterations]).toEqual(ending);
    // A reply that was an answer after all is no error.
    expect(bodiesOf(run.events, 'agent:parse_error')).toHaveLength(step.iterations - 1);
  });

  it('[row 35] ends the run at the fourth in a row that is no answer either, not at the fifth', async () => {
    const play = (replies: readonly string[]) =>
      startRun(replies, { agent: { onUnparsed: 'answer', validators: [wants('good')] } }).run
        .result;

    const [ended, read, late] = await Promise.all([
      play(['bad', 'bad', 'bad', 'bad']),
      play(['bad', 'bad', 'bad', act('a'), 'bad', 'bad', 'bad', answer('good')]),
      play(['bad', 'bad', 'bad', 'good']),
    ]);

    expect([ended.reason, ended.iterations]).toEqual(['agent:format_parse_error_consecutive', 4]);
    expect([read.status, read.iterations]).toEqual(['success', 8]);
    expect([late.status, late.exceededLimit]).toEqual(['success', undefined]);
  });

  describe('without a schema', () => {
    const unparsed = (code: string): object => ({ code, message: expect.any(String) });

    it.each<{ name: string; replies: readonly string[]; ending: readonly unknown[] }>([
      { name: 'twice in a row', replies: ['One.', ' Two. '], ending: ['success', 'Two.', 2] },
      {
        name: 'twice, but not in a row',
        replies: ['One.', act('a'), 'Two.', answer('good')],
        ending: ['success', 'good', 4],
      },
      {
        name: 'after one that had sections',
        replies: ['<thinking>hm</thinking>', 'One.', answer('good')],
        ending: ['success', 'good', 3],
      },
      {
        name: 'that is a call without its section',
        replies: ['One.', 'tool: search\nargs:\n  query: x', answer('good')],
        ending: ['success', 'good', 3],
      },
    ])('is the answer when it comes twice in a row: $name', async ({ replies, ending }) => {
      const { run, script } = startRun(replies);

      const step = await run.result;

      script.assertDone();
      expect([step.status, step.value, step.iterations]).toEqual(ending);
      const warnings = bodiesOf(run.events, 'agent:warning');
      expect(warnings).toEqual(
        step.value === 'Two.' ? [{ type: 'agent:warning', ...unparsed('unparsed_answer') }] : [],
      );
    });

    it('is judged like any answer, and its schema keeps the old default', async () => {
      const judged = startRun(['One.', 'bad', 'good'], { agent: { validators: [wants('good')] } });
      const typed = startRun(['1', '2', answer('3')], {
        agent: { answer: jsonAnswer({ schema: { type: 'number' } }) },
      });

      expect(await judged.run.result).toMatchObject({ value: 'good', iterations: 3 });
      expect(await typed.run.result).toMatchObject({ value: 3, iterations: 3 });
    });
  });

  it.each([
    ['accepted', 'good', { status: 'success', value: 'good' }],
    [
      'not accepted',
      'bad',
      {
        status: 'error',
        reason: 'unparsable_reply',
        message: 'iteration 1: the reply has no section, and is no answer. The model wrote: "bad"',
      },
    ],
    [
      'unreadable in another way',
      '<thinking>hm</thinking>',
      { status: 'error', reason: 'unparsable_reply' },
    ],
  ])('ends the run under `answer-or-fail` when it is %s', async (_name, reply, ending) => {
    const { run, script } = startRun([reply], {
      agent: { onUnparsed: 'answer-or-fail', validators: [wants('good')] },
    });

    expect(await run.result).toMatchObject(ending);
    script.assertDone();
    expect(run.entries).toHaveLength(1);
  });

  it('[row 35] ends the run under `fail`', async () => {
    const { run, script } = startRun([GARBAGE], { agent: { onUnparsed: 'fail' } });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason]).toEqual(['error', 'unparsable_reply']);
    expect(step.message).toBe(`iteration 1: no section was found. The model wrote: "${GARBAGE}"`);
    // What it was that nobody could read.
    expect(run.entries.map(({ messages }) => messages[0])).toEqual([
      { role: 'assistant', parts: [{ type: 'text', text: GARBAGE }] },
    ]);
  });

  it.each<{ name: string; reply: Parameters<typeof startRun>[0][number]; code: string }>([
    { name: 'that only thinks', reply: '<thinking>hm</thinking>', code: 'empty_turn' },
    {
      name: 'that is empty',
      reply: { content: '', finishReason: 'other' },
      code: 'empty_turn',
    },
    {
      name: 'that was cut off in its thinking',
      reply: { content: '<thinking>hm', finishReason: 'length' },
      code: 'truncated_reply',
    },
    {
      name: 'that was cut off in its answer, behind an action',
      reply: { content: `${act('a')}<answer>all is`, finishReason: 'length' },
      code: 'truncated_reply',
    },
  ])('[row 35] $name runs nothing and is told why', async ({ reply, code }) => {
    const { run, script } = startRun([reply, answer()]);

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.usage.toolCalls]).toEqual(['success', 0]);
    expect(bodiesOf(run.events, 'agent:turn:read')[0]?.kind).toBe('malformed');
    const problems = bodiesOf(run.events, 'agent:parse_error')[0]?.problems;
    expect(problems?.map((problem) => problem.code)).toEqual([code]);
    expect(told(script.requests[1])).toMatch(
      /^<observation>\n<error>\nYour reply [^]*<\/observation>$/,
    );
  });

  it('[row 34] tells the model what could not be read, in the next request', async () => {
    const { run, script } = startRun([
      GARBAGE,
      '<action>{args: 7}</action>',
      '<action>- tool: search\n  args: {query: a}\n- 7</action>',
      answer(),
    ]);

    await run.result;

    script.assertDone();
    expect(script.requests.slice(1).map(told)).toEqual([
      '<observation>\n<error>\nYour reply could not be read: it has none of the sections thinking, action, answer. Write it again as described under output_format.\n</error>\n</observation>',
      '<observation>\n<error>\nThe action could not be read, nothing was run.\n- call 1: the field "tool" is missing\n</error>\n</observation>',
      '<observation>\n<error>\nThe action could not be read, nothing was run.\n- call 2: expected a call with "tool" and "args", or a list of calls, got number\n</error>\n</observation>',
    ]);
  });

  it('[row 8] keeps a reply whose judging was interrupted', async () => {
    const slow = defineValidator({
      name: 'slow',
      validate: async (text, { signal }) => {
        if (text === 'second') return { accepted: true };
        run.send('Make it shorter.', { kind: 'interrupt' });
        await abortOf(signal);
        throw new Error('aborted');
      },
    });
    const { run, script } = startRun([answer('first'), answer('second')], {
      agent: { validators: [slow] },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value, step.iterations]).toEqual(['success', 'second', 2]);
    expect(bodiesOf(run.events, 'agent:iteration:after')[0]?.outcome).toBe('interrupted');
    expect(script.requests[1]?.messages.slice(2).map(textOf)).toEqual([
      answer('first'),
      '<message>\nMake it shorter.\n</message>',
      'Continue.',
    ]);
  });
});

/** What stands before the marker of a request: the newest observation. */
function told(request: ModelRequest | undefined): string {
  const message = request?.messages.at(-2);
  return message === undefined ? '' : textOf(message);
}

describe('structured sections beside calls', () => {
  const notes = jsonSection({ name: 'notes', schema: z.object({ n: z.number() }) });
  const withNotes = `<notes>{"n": 1}</notes>${act('a')}`;

  it('keep the calls in the transcript when an interrupt stops their check', async () => {
    const tool = searchTool(async (_query, { signal }) => {
      run.send('stop', { kind: 'interrupt' });
      await abortOf(signal);
      throw new Error('aborted');
    });
    const { run, script } = startRun([withNotes, answer()], {
      agent: { tools: [tool], sections: [notes] },
    });

    const step = await run.result;

    script.assertDone();
    expect(step.status).toBe('success');
    expect(run.entries.map(({ origin }) => origin)).toEqual(['original', 'input', 'original']);
    expect(typesOf(run.events).filter((type) => type === 'tool_call:after')).toHaveLength(1);
  });

  it('let no call end behind the run when it is canceled', async () => {
    const tool = searchTool(async (_query, { signal }) => {
      run.cancel();
      await abortOf(signal);
      await new Promise(setImmediate);
      throw new Error('aborted');
    });
    const { run } = startRun([withNotes], { agent: { tools: [tool], sections: [notes] } });

    await run.result;

    expect(typesOf(run.events).slice(-4)).toEqual([
      'tool_call:after',
      'section:read',
      'iteration:after',
      'execution:after',
    ]);
  });
});

describe('a call that a model in mode chat writes as text', () => {
  const written = '{"name": "search", "arguments": {"query": "x"}}';
  const call = { content: '', toolCalls: [{ name: 'search', args: { query: 'x' } }] };
  const chat = { agent: { mode: 'chat' } } as const;

  it('is no answer: the model is told how to call', async () => {
    const { run, script } = startRun([written, call, 'Found.'], chat);

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value, step.usage.toolCalls]).toEqual(['success', 'Found.', 1]);
    expect(bodiesOf(run.events, 'agent:parse_error')).toMatchObject([
      { family: 'toolchain', problems: [{ code: 'written_call' }] },
    ]);
    expect(run.entries[0]?.messages.at(-1)?.parts).toEqual([
      {
        type: 'text',
        text: 'Your reply is a call of search written as text, so nothing was run. Call search as a tool, through the interface for tool calls, not in the text. If the text was meant as your answer, answer in a sentence.',
      },
    ]);
  });

  it('four times in a row ends the run, whose message has the text', async () => {
    const { run, script } = startRun([written, written, written, written], chat);

    const step = await run.result;

    script.assertDone();
    expect(step.reason).toBe('agent:toolchain_parse_error_consecutive');
    expect(step.message).toMatch(/The model wrote: "\{"name": "search", /);
  });

  it('may be explained in an answer', async () => {
    const { run } = startRun([`Write this:\n${written}\nIt searches.`], chat);

    expect(await run.result).toMatchObject({ status: 'success', iterations: 1 });
  });
});
