import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonAnswer, jsonSection } from '../../../src/activities/define-text.ts';
import { defineValidator } from '../../../src/activities/define-validator.ts';
import { textOf } from '../../../src/core/message.ts';
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
      .filter(({ type }) => /validator|judged|custom/.test(type))
      .map(bodyOf);
    expect(judged).toEqual([
      { type: 'agent:validator:called', validator: 'wants-a', answer: answer('b') },
      {
        type: 'agent:validator:result',
        validator: 'wants-a',
        accepted: false,
        feedback: 'feedback: say a',
      },
      { type: 'agent:answer:judged', outcome: 'rejected', counts: { 'checks:a': 1 } },
      { type: 'agent:custom', name: 'checked:a', data: { text: 'b' } },
      { type: 'agent:validator:called', validator: 'wants-a', answer: answer('a b') },
      { type: 'agent:validator:result', validator: 'wants-a', accepted: true },
      { type: 'agent:validator:called', validator: 'wants-b', answer: answer('a b') },
      { type: 'agent:validator:result', validator: 'wants-b', accepted: true },
      {
        type: 'agent:answer:judged',
        outcome: 'accepted',
        counts: { 'checks:a': 1, 'checks:b': 1 },
      },
      { type: 'agent:custom', name: 'checked:a', data: { text: 'a b' } },
      { type: 'agent:custom', name: 'checked:b', data: { text: 'a b' } },
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
    const { run, script } = startRun([GARBAGE, GARBAGE, GARBAGE, GARBAGE]);

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
  });

  it('[row 35] ends the run under `fail`', async () => {
    const { run, script } = startRun([GARBAGE], { agent: { onUnparsed: 'fail' } });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason]).toEqual(['error', 'unparsable_reply']);
  });

  it.each<{ name: string; reply: Parameters<typeof startRun>[0][number]; code: string }>([
    { name: 'that only thinks', reply: '<thinking>hm</thinking>', code: 'empty_turn' },
    {
      name: 'that was filtered',
      reply: { content: '', finishReason: 'content_filter' },
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
  });
});

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
