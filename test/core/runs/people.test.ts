import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { ToolContext, ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { external } from '../../../src/define/tool/external.ts';
import type { Decision } from '../../../src/core/contract/pending.ts';
import { textOf } from '../../../src/core/base/message.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import type { ModelRequest } from '../../../src/core/contract/model.ts';
import { UsageError } from '../../../src/core/base/usage-error.ts';
import {
  answer,
  bodiesOf,
  gate,
  searchTool,
  START,
  startRun,
  typesOf,
  type StartedRun,
} from '../../support/runs.ts';

const HOUR = 3_600_000;

/** A reply that asks a person; `fields` are lines of YAML. */
function ask(...fields: readonly string[]): string {
  const args = fields.map((field) => `    ${field}`).join('\n');
  return `<thinking>I must ask.</thinking>\n<action>\n- tool: ask_user\n  args:\n${args}\n</action>`;
}

function lastUser(request: ModelRequest | undefined): string {
  const users = (request?.messages ?? []).filter(({ role }) => role === 'user');
  return users.map(textOf).findLast((text) => text.includes('<observation>')) ?? '';
}

/** What the model read of its calls before request `index`, from 0. */
function observation({ script }: StartedRun, index: number): string {
  return lastUser(script.requests[index])
    .replaceAll(/<\/?observation>/g, '')
    .trim();
}

async function untilWaiting({ run }: StartedRun): Promise<void> {
  const seen = await run.resultOrPending();
  if (seen.kind === 'step') throw new Error(`Expected a run that waits, got ${seen.step.reason}.`);
}

function refusalOf(act: () => void): string {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'accepted';
}

const asking = { agent: { askUser: true } };

describe('a question to a person', () => {
  it('waits, shows itself, and goes on with the answer [sub 17] [row 38]', async () => {
    const started = startRun(
      [ask('question: Which John?', 'details: {city: Rome}'), answer()],
      asking,
    );
    const { run, clock } = started;
    await untilWaiting(started);
    clock.advance(7 * 24 * HOUR);

    expect(run.pending()).toEqual([
      {
        id: 'q1',
        kind: 'question',
        agent: 'tester',
        path: 'tester',
        question: 'Which John?',
        free: false,
        details: { city: 'Rome' },
        since: START,
      },
    ]);
    run.answer('q1', 'John Doe');
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(run.pending()).toEqual([]);
    expect(observation(started, 1)).toBe('<ask_user>\nJohn Doe\n</ask_user>');
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'tool_call:before',
      'question:asked',
      'waiting',
      'question:answered',
      'tool_call:after',
      'iteration:after',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'answer:judged',
      'iteration:after',
      'execution:after',
    ]);
    expect(bodiesOf(run.events, 'agent:question:asked')).toEqual([
      { type: 'agent:question:asked', questionId: 'q1', text: 'Which John?' },
    ]);
    expect(valueOf(step.stats, 'agent:questions')).toBe(1);
    expect(valueOf(step.stats, '$self:agent:questions')).toBe(1);
    expect(valueOf(step.stats, 'agent:tool_calls:ask_user')).toBe(1);
    expect(valueOf(step.stats, 'agent:wall_clock_ms')).toBe(7 * 24 * HOUR);
    expect(valueOf(step.stats, 'agent:active_ms')).toBe(0);
    started.script.assertDone();
  });

  it.each([
    { name: 'a label', value: 'John Doe', shown: 'John Doe' },
    { name: 'a label in other case, with space', value: '  john DOE ', shown: 'John Doe' },
    { name: 'a number', value: 2, shown: 'John Doe' },
    { name: 'a number as text', value: '1', shown: 'John Smith' },
  ])('takes $name as the choice [sub 17]', async ({ value, shown }) => {
    const started = startRun(
      [ask('question: Which?', 'options: [John Smith, John Doe]'), answer()],
      asking,
    );
    await untilWaiting(started);

    started.run.answer('q1', value);
    await started.run.result;

    expect(observation(started, 1)).toBe(`<ask_user>\n${shown}\n</ask_user>`);
  });

  it('takes other text only when the question says so [sub 17]', async () => {
    const started = startRun(
      [
        ask('question: Which?', 'options: [John Smith, John Doe]'),
        ask('question: Which?', 'options: [John Smith, John Doe]', 'free: true'),
        answer(),
      ],
      asking,
    );
    const { run } = started;
    await untilWaiting(started);

    expect(refusalOf(() => run.answer('q1', 'Jane'))).toBe(
      'answer one of: 1 John Smith, 2 John Doe',
    );
    expect(refusalOf(() => run.answer('q1', 3))).toBe('answer one of: 1 John Smith, 2 John Doe');
    run.answer('q1', 1);
    await untilWaiting(started);
    run.answer('q2', 'Jane');
    await run.result;

    expect(observation(started, 2)).toContain('Jane');
  });

  it('refuses what nothing waits for, and a second answer [sub 17]', async () => {
    const started = startRun([ask('question: Which?'), answer()], asking);
    const { run } = started;
    await untilWaiting(started);
    const before = run.events.length;

    expect(refusalOf(() => run.answer('q9', 'x'))).toBe(
      'nothing waits for an answer under the id `q9`, got q1 to choose from',
    );
    expect(refusalOf(() => run.decide('q1', { approve: true }))).toBe(
      'question q1 takes an answer, no decision',
    );
    expect(refusalOf(() => run.answer('q1', ' '))).toBe('answer with a text');
    expect(run.events).toHaveLength(before);
    run.answer('q1', 'a', { updateId: 'u1' });
    expect(refusalOf(() => run.answer('q1', 'b'))).toBe('question q1 is already answered');
    expect(refusalOf(() => run.answer('q1', 'b', { updateId: 'u1' }))).toBe('accepted');
    await run.result;

    expect(refusalOf(() => run.answer('q1', 'c'))).toBe('question q1 is already answered');
    expect(observation(started, 1)).toBe('<ask_user>\na\n</ask_user>');
  });

  it.each([
    {
      name: 'tells the model that nobody answered',
      fields: [] as readonly string[],
      text: 'Error: Nobody answered "Which John?" within 24 h.',
      outcome: 'error',
    },
    {
      name: 'takes the default',
      fields: ['default: John Smith'],
      text: 'John Smith',
      outcome: 'ok',
    },
  ])('$name when its time is up [sub 17]', async ({ fields, text, outcome }) => {
    const started = startRun(
      [ask('question: Which John?', 'timeoutMs: 86400000', ...fields), answer()],
      asking,
    );
    const { run, clock } = started;
    await untilWaiting(started);
    expect(run.pending()).toMatchObject([{ id: 'q1', deadline: START + 24 * HOUR }]);

    clock.advance(24 * HOUR);
    await run.result;

    expect(observation(started, 1)).toBe(`<ask_user>\n${text}\n</ask_user>`);
    expect(bodiesOf(run.events, 'agent:tool_call:after')).toMatchObject([{ outcome }]);
    expect(bodiesOf(run.events, 'agent:question:answered')).toEqual([
      {
        type: 'agent:question:answered',
        questionId: 'q1',
        callId: '1.1',
        waitedMs: 24 * HOUR,
        timedOut: true,
      },
    ]);
  });

  it('does not reach a person with arguments that do not fit [row 20]', async () => {
    const started = startRun(
      [ask('options: []'), ask('question: Which?', 'options: [Yes, " yes"]'), answer()],
      asking,
    );

    await started.run.result;

    expect(observation(started, 1)).toContain(
      'Error: the arguments do not fit ask_user.\n- options: expected at least 1 items, got 0\n- question: missing',
    );
    expect(observation(started, 2)).toContain('- options: items 0, 1 are equal');
    expect(bodiesOf(started.run.events, 'agent:question:asked')).toEqual([]);
  });

  it('lets the other calls of the turn go on, and keeps the order of results [row 22]', async () => {
    const reply =
      '<action>\n- tool: ask_user\n  args:\n    question: Which?\n- tool: search\n  args:\n    query: a\n</action>';
    const started = startRun([reply, answer()], asking);
    const { run } = started;
    await untilWaiting(started);

    expect(typesOf(run.events).slice(5)).toEqual([
      'tool_call:before',
      'tool_call:before',
      'question:asked',
      'tool_call:after',
      'waiting',
    ]);
    run.answer('q1', 'yes');
    await run.result;

    expect(observation(started, 1)).toBe(
      '<ask_user>\nyes\n</ask_user>\n<search>\nhits for a\n</search>',
    );
  });

  it('counts time as active while a tool runs beside it [row 38]', async () => {
    const reply =
      '<action>\n- tool: ask_user\n  args:\n    question: Which?\n- tool: search\n  args:\n    query: a\n</action>';
    const opened = gate();
    const begun = gate();
    const tool = searchTool(async () => {
      begun.open();
      await opened.opened;
      return 'late';
    });
    const started = startRun([reply, answer()], { agent: { askUser: true, tools: [tool] } });
    const { run, clock } = started;
    await begun.opened;
    clock.advance(1_000);
    opened.open();
    await untilWaiting(started);
    clock.advance(10_000);
    run.answer('q1', 'yes');

    const step = await run.result;

    expect(valueOf(step.stats, 'agent:active_ms')).toBe(1_000);
    expect(valueOf(step.stats, 'agent:wall_clock_ms')).toBe(11_000);
  });

  it('ends with the run when it is canceled [row 2]', async () => {
    const started = startRun([ask('question: Which?')], asking);
    await untilWaiting(started);

    started.run.cancel('never mind');
    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'canceled', reason: 'canceled', message: 'never mind' });
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')).toMatchObject([
      { tool: 'ask_user', outcome: 'canceled', started: true },
    ]);
    expect(started.run.pending()).toEqual([]);
  });

  it('is given up when an input interrupts [row 8]', async () => {
    const started = startRun([ask('question: Which?'), answer()], asking);
    const { run } = started;
    await untilWaiting(started);

    run.send('Take the first.', { kind: 'interrupt' });
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(observation(started, 1)).toBe(
      '<ask_user>\nError: canceled before it finished.\n</ask_user>',
    );
    expect(refusalOf(() => run.answer('q1', 'x'))).toBe('question q1 is already answered');
  });

  it('keeps a queued input until it is answered [row 8]', async () => {
    const started = startRun([ask('question: Which?'), answer()], asking);
    const { run } = started;
    await untilWaiting(started);
    run.send('By the way.');
    expect(run.pending()).toHaveLength(1);

    run.answer('q1', 'x');
    const step = await run.result;

    expect(step.trace.unreadInputs).toEqual([]);
    expect(bodiesOf(run.events, 'agent:input')).toHaveLength(1);
  });

  it('ends at the deadline of the run, not at its limit on active time [row 46]', async () => {
    const started = startRun([ask('question: Which?')], {
      ...asking,
      limits: { wallClockMs: 5_000, activeMs: 1_000 },
    });
    await untilWaiting(started);
    started.clock.advance(4_999);
    expect(started.run.pending()).toHaveLength(1);

    started.clock.advance(2);
    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:wall_clock_ms' });
  });

  it.each([
    { max: 0, questions: 0 },
    { max: 1, questions: 1 },
  ])('is not asked beyond a limit of $max [row 40]', async ({ max, questions }) => {
    const replies = [ask('question: One?'), ask('question: Two?')].slice(0, max + 1);
    const started = startRun(replies, { ...asking, limits: { questions: max } });
    const { run } = started;
    for (let asked = 1; asked <= questions; asked++) {
      await untilWaiting(started);
      run.answer(`q${asked}`, 'x');
    }

    const step = await run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:questions' });
    expect(step.exceededLimit).toMatchObject({ value: max, attempted: max + 1 });
    expect(bodiesOf(run.events, 'agent:question:asked')).toHaveLength(questions);
  });

  it('is refused by a limit that refuses, and the run goes on [row 44]', async () => {
    const started = startRun([ask('question: One?'), answer()], {
      ...asking,
      limits: { custom: [{ kind: 'exact', key: 'agent:questions', max: 0, onReach: 'refuse' }] },
    });

    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(observation(started, 1)).toBe(
      '<ask_user>\nError: not run, the limit of 0 for agent:questions is reached.\n</ask_user>',
    );
  });

  it('is a native call in chat, whose result is paired [sub 17]', async () => {
    const started = startRun(
      [
        { toolCalls: [{ id: 'c1', name: 'ask_user', args: { question: 'Which?' } }] },
        { content: 'done' },
      ],
      { agent: { mode: 'chat', askUser: true } },
    );
    await untilWaiting(started);
    expect(started.script.requests[0]?.tools?.map(({ name }) => name)).toEqual([
      'search',
      'ask_user',
    ]);

    started.run.answer('q1', 'the blue one');
    await started.run.result;

    expect(started.script.requests[1]?.messages.at(-1)?.parts).toMatchObject([
      {
        type: 'tool_result',
        tool: 'ask_user',
        isError: false,
        parts: [{ type: 'text', text: 'the blue one' }],
      },
    ]);
  });

  it('pauses do not hide it, and both stand still once [row 38]', async () => {
    const started = startRun([ask('question: Which?'), answer()], asking);
    const { run, clock } = started;
    await untilWaiting(started);
    clock.advance(100);
    run.pause();
    clock.advance(100);
    expect(run.pending().map(({ kind }) => kind)).toEqual(['question', 'pause']);
    run.answer('q1', 'x');
    clock.advance(100);
    run.resume();

    const step = await run.result;

    expect(valueOf(step.stats, 'agent:active_ms')).toBe(0);
    expect(valueOf(step.stats, 'agent:wall_clock_ms')).toBe(300);
  });
});

/** A tool that notes what it ran with. */
function payTool(
  ran: unknown[],
  fields: Partial<Parameters<typeof defineTool>[0]> = {},
): ToolDefinition {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    approval: 'always',
    retry: { attempts: 1 },
    execute: (args: unknown) => {
      ran.push(args);
      return 'paid';
    },
    ...fields,
  } as Parameters<typeof defineTool>[0]) as ToolDefinition;
}

const PAY = '<thinking>It is due.</thinking>\n<action>\ntool: pay\nargs:\n  amount: 5\n</action>';

describe('a call that a person approves', () => {
  it.each<{
    name: string;
    decision: Decision;
    ran: readonly unknown[];
    text: string;
    decided: object;
    denied: number;
    outcome: string;
  }>([
    {
      name: 'runs when approved',
      decision: { approve: true },
      ran: [{ amount: 5 }],
      text: 'paid',
      decided: { decision: 'approve' },
      denied: 0,
      outcome: 'ok',
    },
    {
      name: 'does not run when denied, and the model reads why',
      decision: { deny: 'too much' },
      ran: [],
      text: 'Denied by a person: too much.',
      decided: { decision: 'deny', reason: 'too much' },
      denied: 1,
      outcome: 'denied',
    },
    {
      name: 'is denied without a reason',
      decision: { deny: ' ' },
      ran: [],
      text: 'Denied by a person: no reason given.',
      decided: { decision: 'deny', reason: ' ' },
      denied: 1,
      outcome: 'denied',
    },
    {
      name: 'runs with the arguments that a person put in their place',
      decision: { args: { amount: 4 } },
      ran: [{ amount: 4 }],
      text: 'A person changed the arguments to {"amount":4}.\npaid',
      decided: { decision: 'edit' },
      denied: 0,
      outcome: 'ok',
    },
    {
      name: 'checks edited arguments again',
      decision: { args: { amount: 'much' } },
      ran: [],
      text: 'A person changed the arguments to {"amount":"much"}.\nError: the arguments do not fit pay.\n- amount: expected number, got string "much"\nParameters:\n- amount (number, required)',
      decided: { decision: 'edit' },
      denied: 0,
      outcome: 'rejected',
    },
  ])('$name [row 24] [sub 18]', async ({ decision, ran, text, decided, denied, outcome }) => {
    const seen: unknown[] = [];
    const started = startRun([PAY, answer()], { agent: { tools: [payTool(seen)] } });
    const { run } = started;
    await untilWaiting(started);

    expect(seen).toEqual([]);
    expect(run.pending()).toEqual([
      {
        id: '1.1',
        kind: 'approval',
        agent: 'tester',
        path: 'tester',
        tool: 'pay',
        args: { amount: 5 },
        reasoning: 'It is due.',
        since: START,
      },
    ]);
    run.decide('1.1', decision);
    const step = await run.result;

    expect(seen).toEqual(ran);
    expect(observation(started, 1)).toBe(`<pay>\n${text}\n</pay>`);
    expect(bodiesOf(run.events, 'agent:approval:requested')).toEqual([
      { type: 'agent:approval:requested', callId: '1.1', tool: 'pay', args: { amount: 5 } },
    ]);
    expect(bodiesOf(run.events, 'agent:approval:decided')).toEqual([
      { type: 'agent:approval:decided', callId: '1.1', waitedMs: 0, ...decided },
    ]);
    expect(bodiesOf(run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome, args: 'args' in decision ? decision.args : { amount: 5 } },
    ]);
    expect(typesOf(run.events).includes('tool_call:before')).toBe(!('deny' in decision));
    expect(valueOf(step.stats, 'agent:approvals_requested')).toBe(1);
    expect(valueOf(step.stats, 'agent:approvals_denied')).toBe(denied);
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(ran.length);
  });

  it('is denied when nobody decides in time [row 24] [sub 18]', async () => {
    const ran: unknown[] = [];
    const started = startRun([PAY, answer()], {
      agent: { tools: [payTool(ran, { approvalTimeoutMs: 2 * HOUR })] },
    });
    await untilWaiting(started);

    started.clock.advance(2 * HOUR);
    await started.run.result;

    expect(ran).toEqual([]);
    expect(observation(started, 1)).toBe(
      '<pay>\nDenied by a person: nobody decided within 2 h.\n</pay>',
    );
    expect(bodiesOf(started.run.events, 'agent:approval:decided')).toMatchObject([
      { decision: 'deny', reason: 'nobody decided within 2 h' },
    ]);
  });

  it('asks only for the calls that the predicate picks [row 24] [sub 18]', async () => {
    const ran: unknown[] = [];
    const asked: unknown[] = [];
    const approval = (args: unknown): boolean => {
      asked.push(args);
      return (args as { readonly amount: number }).amount > 10;
    };
    const calls = [5, 50].map((amount) => `- tool: pay\n  args:\n    amount: ${amount}`);
    const bad = '- tool: pay\n  args:\n    amount: much';
    const started = startRun([`<action>\n${[...calls, bad].join('\n')}\n</action>`, answer()], {
      agent: { tools: [payTool(ran, { approval } as never)] },
    });
    const { run } = started;
    await untilWaiting(started);

    expect(ran).toEqual([{ amount: 5 }]);
    expect(run.pending().map(({ id }) => id)).toEqual(['1.2']);
    run.decide('1.2', { deny: 'no' });
    await run.result;

    expect(asked).toEqual([{ amount: 5 }, { amount: 50 }]);
    expect(bodiesOf(run.events, 'agent:tool_call:after').map(({ outcome }) => outcome)).toEqual([
      'rejected',
      'ok',
      'denied',
    ]);
  });

  it('asks a person when the predicate throws on every try [row 24]', async () => {
    const ran: unknown[] = [];
    let tries = 0;
    const approval = (): boolean => {
      tries += 1;
      throw new Error('no rules today');
    };
    const started = startRun([PAY, answer()], {
      agent: { tools: [payTool(ran, { approval } as never)] },
    });
    await untilWaiting(started);
    started.run.decide('1.1', { approve: true });
    await started.run.result;

    expect(tries).toBe(3);
    expect(bodiesOf(started.run.events, 'agent:warning')).toEqual([
      {
        type: 'agent:warning',
        code: 'approval_check_failed',
        message: 'the approval check of pay failed, so a person is asked: no rules today',
      },
    ]);
    expect(ran).toEqual([{ amount: 5 }]);
  });

  it('refuses decisions that are none, and a second one [sub 18]', async () => {
    const started = startRun([PAY, answer()], { agent: { tools: [payTool([])] } });
    const { run } = started;
    await untilWaiting(started);
    const words = 'decide with { approve: true }, { deny: "reason" } or { args: { … } }';

    expect(refusalOf(() => run.decide('1.1', {} as never))).toBe(words);
    expect(refusalOf(() => run.decide('1.1', { approve: true, deny: 'x' } as never))).toBe(words);
    expect(refusalOf(() => run.answer('1.1', 'yes'))).toBe(
      'approval 1.1 takes a decision, no answer',
    );
    run.decide('1.1', { approve: true }, { updateId: 'u' });
    expect(refusalOf(() => run.decide('1.1', { deny: 'x' }))).toBe(
      'approval 1.1 is already decided',
    );
    run.decide('1.1', { approve: true }, { updateId: 'u' });
    await run.result;

    expect(refusalOf(() => run.decide('1.1', { deny: 'x' }))).toBe(
      'approval 1.1 is already decided',
    );
  });

  it('is not asked for beyond a limit on approvals [row 40]', async () => {
    const started = startRun([PAY], {
      agent: { tools: [payTool([])] },
      limits: { custom: [{ kind: 'exact', key: 'agent:approvals_requested', max: 0 }] },
    });

    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:approvals_requested' });
    expect(typesOf(started.run.events)).not.toContain('approval:requested');
    expect(typesOf(started.run.events)).not.toContain('tool_call:after');
  });

  it('never runs when the run is canceled meanwhile [row 2]', async () => {
    const ran: unknown[] = [];
    const started = startRun([PAY], { agent: { tools: [payTool(ran)] } });
    await untilWaiting(started);

    started.run.cancel();
    const step = await started.run.result;

    expect(step.status).toBe('canceled');
    expect(ran).toEqual([]);
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'canceled', started: false },
    ]);
  });
});

describe('work that ends outside', () => {
  const build = (fields: Parameters<typeof external>[0] = {}): ToolDefinition =>
    defineTool({
      name: 'build',
      description: 'Builds.',
      execute: (_args, { count }) => {
        count('ci:builds');
        return external({ details: { url: 'https://ci/7' }, ...fields });
      },
    }) as ToolDefinition;
  const BUILD = '<action>\ntool: build\n</action>';

  it('completes the call with what somebody tells [sub 18]', async () => {
    const started = startRun([BUILD, answer()], { agent: { tools: [build()] } });
    const { run, clock } = started;
    await untilWaiting(started);
    clock.advance(HOUR);

    expect(run.pending()).toEqual([
      {
        id: '1.1',
        kind: 'external',
        agent: 'tester',
        path: 'tester',
        tool: 'build',
        args: {},
        details: { url: 'https://ci/7' },
        since: START,
      },
    ]);
    expect(refusalOf(() => run.decide('1.1', { approve: true }))).toBe(
      'external 1.1 takes an answer, no decision',
    );
    run.answer('1.1', { passed: 212, failed: 0 });
    const step = await run.result;

    expect(observation(started, 1)).toBe('<build>\npassed: 212\nfailed: 0\n</build>');
    expect(valueOf(step.stats, 'ci:builds')).toBe(1);
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(1);
    expect(valueOf(step.stats, 'agent:active_ms')).toBe(0);
    expect(bodiesOf(run.events, 'agent:external:ended')).toEqual([
      { type: 'agent:external:ended', callId: '1.1', outcome: 'ok', waitedMs: HOUR },
    ]);
    expect(bodiesOf(run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'ok', durationMs: HOUR, output: { passed: 212, failed: 0 } },
    ]);
  });

  /** A tool that has begun, and returns when it is let. */
  const held = (
    end: (context: ToolContext) => unknown = () => external(),
  ): {
    readonly tool: ToolDefinition;
    readonly begun: Promise<void>;
    readonly free: () => void;
  } => {
    const entered = gate();
    const freed = gate();
    const tool = defineTool({
      name: 'build',
      description: 'Builds.',
      retry: { attempts: 1 },
      execute: async (_args, context) => {
        entered.open();
        await freed.opened;
        return end(context);
      },
    }) as ToolDefinition;
    return { tool, begun: entered.opened, free: () => freed.open() };
  };

  it('may end before its tool has said that there is any, once [sub 18]', async () => {
    const { tool, begun, free } = held();
    const started = startRun([BUILD, answer()], { agent: { tools: [tool] } });
    const { run } = started;
    await begun;

    run.answer('1.1', 'green', { updateId: 'webhook' });
    run.answer('1.1', 'green', { updateId: 'webhook' });
    expect(refusalOf(() => run.answer('1.1', 'red'))).toBe('external 1.1 is already answered');
    expect(refusalOf(() => run.answer('1.2', 'red'))).toMatch(/^nothing waits for an answer/);
    expect(run.pending()).toEqual([]);
    free();
    await run.result;

    expect(observation(started, 1)).toBe('<build>\ngreen\n</build>');
    expect(bodiesOf(run.events, 'agent:external:ended')).toEqual([
      { type: 'agent:external:ended', callId: '1.1', outcome: 'ok', waitedMs: 0 },
    ]);
    expect(bodiesOf(run.events, 'agent:warning')).toEqual([]);
  });

  it.each<{ name: string; end: (context: ToolContext) => unknown; says: string }>([
    { name: 'returns', end: () => 'at once', says: '<build>\nat once\n</build>' },
    {
      name: 'throws',
      end: () => {
        throw new Error('no room');
      },
      says: '<build>\nError: no room\n</build>',
    },
  ])('drops what came early when its tool $name, and says so', async ({ end, says }) => {
    const { tool, begun, free } = held(end);
    const started = startRun([BUILD, answer()], { agent: { tools: [tool] } });
    await begun;

    started.run.answer('1.1', 'green');
    free();
    await started.run.result;

    expect(observation(started, 1)).toBe(says);
    expect(bodiesOf(started.run.events, 'agent:warning')).toMatchObject([
      { code: 'early_answer_unused', message: expect.stringContaining('call 1.1') as string },
    ]);
  });

  it('keeps early ends for a day, and then waits for another', async () => {
    const { tool, begun, free } = held();
    const started = startRun([BUILD, answer()], { agent: { tools: [tool] } });
    const { run, clock } = started;
    await begun;
    run.answer('1.1', 'green');
    clock.advance(24 * HOUR + 1);
    free();
    await untilWaiting(started);

    expect(bodiesOf(run.events, 'agent:warning')).toMatchObject([{ code: 'early_answer_unused' }]);
    run.answer('1.1', 'red');
    await run.result;
    expect(observation(started, 1)).toBe('<build>\nred\n</build>');
  });

  it('bounds early ends together', async () => {
    const { tool, begun, free } = held();
    const calls = Array.from({ length: 5 }, () => '- tool: build').join('\n');
    const started = startRun([`<action>\n${calls}\n</action>`, answer()], {
      agent: { tools: [tool] },
    });
    const { run } = started;
    await begun;

    for (const at of [1, 2, 3, 4]) run.answer(`1.${at}`, 'x'.repeat(240_000));
    expect(refusalOf(() => run.answer('1.5', 'x'.repeat(240_000)))).toMatch(
      /^Expected at most 1000000 bytes in ends that are reported before their calls wait/,
    );
    run.answer('1.5', 'small');
    free();
    expect((await run.result).status).toBe('success');
  });

  it('is an error when its time is up [sub 18]', async () => {
    const started = startRun([BUILD, answer()], {
      agent: { tools: [build({ timeoutMs: 60_000 })] },
    });
    await untilWaiting(started);

    started.clock.advance(60_000);
    await started.run.result;

    expect(observation(started, 1)).toBe(
      '<build>\nError: build did not finish within 60 s.\n</build>',
    );
    expect(bodiesOf(started.run.events, 'agent:external:ended')).toMatchObject([
      { outcome: 'error' },
    ]);
  });

  it('shows itself while an earlier call of the turn waits too [row 22]', async () => {
    const reply =
      '<action>\n- tool: ask_user\n  args:\n    question: Which?\n- tool: build\n</action>';
    const started = startRun([reply, answer()], { agent: { askUser: true, tools: [build()] } });
    const { run } = started;
    await untilWaiting(started);

    expect(
      run
        .pending()
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(['external', 'question']);
    run.answer('1.2', 'green');
    expect(run.pending().map(({ kind }) => kind)).toEqual(['question']);
    run.answer('q1', 'yes');
    await run.result;

    expect(observation(started, 1)).toBe('<ask_user>\nyes\n</ask_user>\n<build>\ngreen\n</build>');
  });
});

describe('a turn that waits for people and is handed over', () => {
  const ALL =
    '<thinking>All at once.</thinking>\n<action>\n' +
    '- tool: search\n  args:\n    query: a\n' +
    '- tool: ask_user\n  args:\n    question: Which?\n' +
    '- tool: search\n  args:\n    query: b\n' +
    '- tool: pay\n  args:\n    amount: 5\n' +
    '- tool: build\n' +
    '</action>';

  it('goes on exactly there, and repeats nothing [row 6] [sub 17]', async () => {
    const ran: string[] = [];
    const paid: unknown[] = [];
    const search = searchTool((query) => {
      ran.push(query);
      return `hits for ${query}`;
    });
    const build = defineTool({
      name: 'build',
      description: 'Builds.',
      execute: () => {
        ran.push('build');
        return external();
      },
    }) as ToolDefinition;
    const started = startRun([ALL, answer()], {
      agent: { askUser: true, tools: [search, payTool(paid), build] },
      handoverDue: (_iteration, place) => place === 'waiting',
    });
    const { run, clock } = started;
    await untilWaiting(started);
    clock.advance(HOUR);
    expect(bodiesOf(run.events, 'agent:execution:handover')).toHaveLength(1);
    expect(run.state.link).toBe(2);

    expect(
      run
        .pending()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['1.4', '1.5', 'q1']);
    run.decide('1.4', { args: { amount: 4 } });
    run.answer('1.5', 'green');
    run.answer('q1', 'yes');
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', iterations: 2 });
    expect(ran.toSorted()).toEqual(['a', 'b', 'build']);
    expect(paid).toEqual([{ amount: 4 }]);
    expect(observation(started, 1)).toBe(
      [
        '<search>\nhits for a\n</search>',
        '<ask_user>\nyes\n</ask_user>',
        '<search>\nhits for b\n</search>',
        '<pay>\nA person changed the arguments to {"amount":4}.\npaid\n</pay>',
        '<build>\ngreen\n</build>',
      ].join('\n'),
    );
    expect(
      bodiesOf(run.events, 'agent:tool_call:after').map(({ durationMs }) => durationMs),
    ).toEqual([0, 0, HOUR, HOUR, 0]);
    expect(bodiesOf(run.events, 'agent:iteration:before')).toHaveLength(2);
    expect(valueOf(step.stats, 'agent:active_ms')).toBe(0);
    expect(valueOf(step.stats, 'agent:model_calls')).toBe(2);
    started.script.assertDone();
  });

  it('keeps a deadline across the hand-over [row 6]', async () => {
    const started = startRun(
      [ask('question: Which?', 'timeoutMs: 7200000', 'default: none'), answer()],
      { ...asking, handoverDue: () => true },
    );
    await untilWaiting(started);
    started.clock.advance(2 * HOUR);

    await started.run.result;

    expect(observation(started, 1)).toBe('<ask_user>\nnone\n</ask_user>');
  });

  it('stays in its link when it would not fit [row 6]', async () => {
    const started = startRun([ask('question: Which?'), answer()], {
      ...asking,
      handoverDue: (_iteration, place) => place === 'waiting',
      fitsHandover: () => false,
    });
    await untilWaiting(started);
    expect(started.run.state.link).toBe(1);

    started.run.answer('q1', 'x');

    expect((await started.run.result).status).toBe('success');
  });

  it('does not judge again the answer beside its calls [row 33]', async () => {
    let judged = 0;
    const started = startRun(
      [
        '<action>\ntool: ask_user\nargs:\n  question: Which?\n</action>\n<answer>early</answer>',
        answer('late'),
      ],
      {
        agent: {
          askUser: true,
          precedence: 'answer',
          validators: [
            {
              kind: 'validator',
              name: 'patient',
              validate: (text: unknown) => {
                judged += 1;
                return text === 'late'
                  ? { accepted: true as const }
                  : { accepted: false as const, feedback: 'Ask first.' };
              },
            },
          ],
        },
        handoverDue: (_iteration, place) => place === 'waiting',
      },
    );
    await untilWaiting(started);
    expect(started.run.state.link).toBe(2);
    started.run.answer('q1', 'x');

    const step = await started.run.result;

    expect(step.value).toBe('late');
    expect(judged).toBe(2);
    expect(observation(started, 1)).toBe(
      '<feedback>\nAsk first.\n</feedback>\n<ask_user>\nx\n</ask_user>',
    );
  });

  it('ends as canceled when the cancel comes after it [row 2]', async () => {
    const started = startRun([ask('question: Which?')], {
      ...asking,
      handoverDue: (_iteration, place) => place === 'waiting',
    });
    await untilWaiting(started);

    started.run.cancel();

    expect((await started.run.result).status).toBe('canceled');
  });
});
