/** Questions that a tool asks: they wait in the run, and the tool runs again with the answer. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../../src/core/base/json.ts';
import { textOf } from '../../../src/core/base/message.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import type { ToolContext, ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { ask, type AskOptions } from '../../../src/define/tool/ask.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { AnyToolOptions } from '../../../src/define/tool/tool-options.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startPrograms } from '../../support/programs.ts';
import {
  actWith,
  answer,
  bodiesOf,
  START,
  startRun,
  type RunOptions,
  type StartedRun,
} from '../../support/runs.ts';

const YEAR = 365 * 24 * 3_600_000;

const ACCOUNT: AskOptions = {
  question: 'From which account?',
  schema: z.object({ account: z.enum(['giro', 'savings']), note: z.string().optional() }),
  state: { offered: 2 },
};

type Run = Pick<ToolContext, 'answer' | 'state' | 'idempotencyKey' | 'callId'>;

/** A tool `pay` that notes each run of its code. */
function payer(
  execute: (args: { readonly query: string }, context: ToolContext) => unknown,
  options: Partial<AnyToolOptions> = {},
): ToolDefinition & { readonly runs: Run[] } {
  const runs: Run[] = [];
  const tool = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ query: z.string() }),
    retry: { attempts: 1 },
    execute: (args: { readonly query: string }, context: ToolContext) => {
      const { answer: given, state, idempotencyKey, callId } = context;
      runs.push({
        idempotencyKey,
        callId,
        ...(given !== undefined && { answer: given, state }),
      } as Run);
      return execute(args, context);
    },
    ...options,
  } as never) as ToolDefinition;
  return Object.assign(tool, { runs });
}

const onceAnswered = (_args: object, { answer: given }: ToolContext): unknown =>
  given === undefined ? ask(ACCOUNT) : { paidFrom: (given as { account: string }).account };

function start(tool: ToolDefinition, options: RunOptions = {}): StartedRun {
  const { agent = {}, ...rest } = options;
  return startRun([actWith(['pay', 'x']), answer()], {
    ...rest,
    agent: { tools: [tool], ...agent },
  });
}

async function untilWaiting({ run }: Pick<StartedRun, 'run'>): Promise<void> {
  const seen = await run.resultOrPending();
  if (seen.kind === 'step') throw new Error(`Expected to wait, got ${seen.step.message ?? ''}.`);
}

function observed({ script }: StartedRun): string {
  const users = (script.requests[1]?.messages ?? []).filter(({ role }) => role === 'user');
  return users.map(textOf).findLast((text) => text.includes('<observation>')) ?? '';
}

describe('a question of a tool', () => {
  it('waits a year over hand-overs, and the tool runs again with the answer [chat 8]', async () => {
    const tool = payer(onceAnswered);
    const started = start(tool, { handoverDue: () => true });
    const { run, clock } = started;
    await untilWaiting(started);
    clock.advance(YEAR);

    expect(run.pending()).toEqual([
      {
        id: 'q1',
        kind: 'question',
        agent: 'tester',
        path: 'tester',
        question: 'From which account?',
        free: false,
        details: {
          tool: 'pay',
          form: {
            type: 'object',
            properties: {
              account: { type: 'string', enum: ['giro', 'savings'] },
              note: { type: 'string' },
            },
            required: ['account'],
          },
        },
        since: START,
      },
    ]);
    expect(() => run.answer('q1', { account: 'piggy bank' })).toThrow(
      'answer with an object: account is one of giro, savings',
    );
    run.answer('q1', '{"account": "giro"}');
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(tool.runs).toEqual([
      { idempotencyKey: 'run-1/1.1', callId: '1.1' },
      {
        idempotencyKey: 'run-1/1.1',
        callId: '1.1',
        answer: { account: 'giro' },
        state: { offered: 2 },
      },
    ]);
    expect(observed(started)).toContain('paidFrom: giro');
    expect(valueOf(step.stats, 'agent:questions')).toBe(1);
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(1);
    expect(bodiesOf(run.events, 'agent:execution:handover').length).toBeGreaterThan(0);
  });

  it('is one of a hundred in a row at most, and each run knows what the last one noted', async () => {
    const tool = payer((_args, { answer: given, state }) => {
      const answers = [...((state ?? []) as Json[]), ...(given === undefined ? [] : [given])];
      return ask({ question: `Number ${answers.length + 1}?`, schema: z.number(), state: answers });
    });
    const started = start(tool, { agent: { limits: { questions: 200 } } });
    const { run } = started;
    for (let round = 1; round <= 100; round++) {
      await untilWaiting(started);
      run.answer(`q${round}`, round);
    }
    await run.result;

    expect(tool.runs).toHaveLength(101);
    expect(tool.runs.at(-1)).toMatchObject({
      answer: 100,
      state: Array.from({ length: 99 }, (_, at) => at + 1),
    });
    expect(observed(started)).toContain('Error: pay asked 100 times');
  });

  it.each([
    { name: 'declined', act: 'decline', says: 'Denied by a person: they did not want to answer.' },
    {
      name: 'not answered in time',
      act: 'wait',
      says: 'Error: Nobody answered "From which account?" within 1 h.',
    },
  ])('that is $name ends the call, and the tool does not run again', async ({ act, says }) => {
    const tool = payer(() => ask({ ...ACCOUNT, timeoutMs: 3_600_000 }));
    const started = start(tool);
    const { run, clock } = started;
    await untilWaiting(started);
    if (act === 'decline') run.answer('q1', { decline: true });
    else clock.advance(3_600_000);
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(tool.runs).toHaveLength(1);
    expect(observed(started)).toContain(says);
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(0);
  });

  it('ends as canceled with the run, and its tool has not begun, even one of effect once', async () => {
    const tool = payer(() => ask(ACCOUNT), { effect: 'once' });
    const started = start(tool);
    await untilWaiting(started);
    started.run.cancel('enough');
    const step = await started.run.result;

    expect(step.status).toBe('canceled');
    expect(step.unknownCalls).toBeUndefined();
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'canceled', started: false },
    ]);
  });

  it('is refused when a limit has no room for it', async () => {
    const limits = {
      custom: [{ kind: 'exact', key: 'agent:questions', max: 0, onReach: 'refuse' }],
    } as const;
    const tool = payer(onceAnswered);
    const started = start(tool, { agent: { limits } });
    await started.run.result;

    expect(tool.runs).toHaveLength(1);
    expect(observed(started)).toContain('agent:questions');
  });

  it('is refused if it is too large to wait', async () => {
    const started = start(payer(() => ask({ ...ACCOUNT, state: 'x'.repeat(65_535) })));
    await started.run.result;

    expect(observed(started)).toContain(
      'Error: pay asked with 65537 bytes, at most 65536 are allowed',
    );
  });

  it('keeps the arguments that a person has edited, and what all runs reported', async () => {
    const tool = payer(
      (args, context) => {
        context.count('shop:runs');
        const end = onceAnswered(args, context) as object;
        return 'paidFrom' in end ? { ...end, query: args.query } : end;
      },
      { approval: 'always' },
    );
    const started = start(tool, { handoverDue: () => true });
    const { run } = started;
    await untilWaiting(started);
    run.decide('1.1', { args: { query: 'y' } });
    await untilWaiting(started);
    run.answer('q1', { account: 'savings' });
    const step = await run.result;

    expect(observed(started)).toContain('query: y');
    expect(valueOf(step.stats, 'shop:runs')).toBe(2);
  });

  it('waits in a program for each of its calls, over a hand-over', async () => {
    const started = startPrograms(['(pmap (fn [q] (tool/pay {:query q})) ["x" "y"])'], {
      agent: { tools: [payer(onceAnswered)] },
      clock: createFakeClock(START),
      handoverDue: () => true,
    });
    const { run } = started;
    await untilWaiting(started);
    run.answer('q2', { account: 'savings' });
    run.answer('q1', { account: 'giro' });
    const step = await run.result;

    expect(step.value).toEqual([{ paidFrom: 'giro' }, { paidFrom: 'savings' }]);
  });

  it('takes a label, its number or its JSON for one value of any schema', async () => {
    const values = fc.uniqueArray(fc.stringMatching(/^[a-z]{3,9}$/), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.nat(),
        fc.constantFrom('label', 'loud', 'number', 'json'),
        async (all, at, how) => {
          const chosen = all[at % all.length] ?? '';
          const tool = payer((_args, { answer: given }) =>
            given === undefined ? ask({ question: 'Which?', schema: { enum: all } }) : given,
          );
          const started = start(tool);
          await untilWaiting(started);
          expect(started.run.pending()).toMatchObject([{ options: all }]);
          const sent = {
            label: chosen,
            loud: chosen.toUpperCase(),
            number: String((at % all.length) + 1),
            json: JSON.stringify(chosen),
          }[how];
          started.run.answer('q1', sent);
          await started.run.result;
          expect(tool.runs[1]?.answer).toBe(chosen);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('`asks` of a tool that runs once', () => {
  it('runs before it, again after errors, and the tool begins with the last answer', async () => {
    const asked: unknown[] = [];
    const tool = payer((_args, { answer: given, state }) => ({ given, state }) as never, {
      effect: 'once',
      asks: (_args: unknown, { answer: given, attempt }: ToolContext) => {
        asked.push([given, attempt]);
        if (asked.length === 1) throw new Error('the bank does not answer');
        if (given === undefined) return ask({ question: 'How much?', schema: z.int().positive() });
        return given === 1 ? ask({ question: 'Sure?', schema: z.boolean(), state: 1 }) : undefined;
      },
    });
    const started = start(tool, { handoverDue: () => true });
    const { run } = started;
    await untilWaiting(started);
    expect(() => run.answer('q1', 0)).toThrow('answer with a whole number of more than 0');
    run.answer('q1', 1);
    await untilWaiting(started);
    expect(tool.runs).toEqual([]);
    run.answer('q2', 'true');
    const step = await run.result;

    expect(asked).toEqual([
      [undefined, 1],
      [undefined, 2],
      [1, 1],
      [true, 1],
    ]);
    expect(tool.runs).toEqual([
      { idempotencyKey: 'run-1/1.1', callId: '1.1', answer: true, state: 1 },
    ]);
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(1);
  });

  it('that gives something else is an error, and the tool does not begin', async () => {
    const tool = payer(() => 'paid', { effect: 'once', asks: () => 'yes' });
    const started = start(tool);
    await started.run.result;

    expect(tool.runs).toEqual([]);
    expect(observed(started)).toContain('Error: `asks` of pay returns `ask(…)` or nothing, got');
  });
});

describe('ask', () => {
  it.each<{ readonly name: string; readonly options: object; readonly message: string }>([
    {
      name: 'no question',
      options: {},
      message: 'Expected `question` to be a text, got none',
    },
    {
      name: 'an unknown option',
      options: { question: 'Who?', options: ['a'] },
      message: 'Expected an option of `ask`, got `options`',
    },
    {
      name: 'an object in a field',
      options: { question: 'Where?', schema: z.object({ to: z.object({ zip: z.string() }) }) },
      message: 'got an object in `to`',
    },
    {
      name: 'state that is no JSON',
      options: { question: 'Who?', state: { at: new Map() } },
      message: 'Expected `state` to be JSON, got Map at at',
    },
  ])('refuses $name', ({ options, message }) => {
    expect(() => ask(options as AskOptions)).toThrow(message);
  });
});
