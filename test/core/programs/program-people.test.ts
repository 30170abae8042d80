/** Programs that wait for people, the outside and a time, and what they get. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { external } from '../../../src/define/tool/external.ts';
import type { Decision } from '../../../src/core/contract/pending.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { programsLoop } from '../../support/fixtures/workflows/programs-loop.ts';
import { startPrograms, type ProgramRun } from '../../support/programs.ts';
import { bodiesOf, searchTool, START, startRun, typesOf } from '../../support/runs.ts';
import { eventually } from '../../support/eventually.ts';

const HOUR = 3_600_000;

async function untilWaiting({ run }: ProgramRun): Promise<readonly string[]> {
  const seen = await run.resultOrPending();
  if (seen.kind === 'step') {
    throw new Error(
      `Expected a run that waits, got ${seen.step.reason}: ${seen.step.message ?? ''}`,
    );
  }
  return seen.pending.map(({ id }) => id);
}

/** A tool that a person approves, and what it ran with. */
function payTool(
  ran: unknown[],
  fields: Partial<Parameters<typeof defineTool>[0]> = {},
): ToolDefinition {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    approval: 'always',
    execute: ({ amount }: { amount: number }) => {
      ran.push(amount);
      return { paid: amount };
    },
    ...fields,
  } as Parameters<typeof defineTool>[0]) as ToolDefinition;
}

describe('a question in a program [sub 17]', () => {
  it('waits in a map in a pmap, and its value is the option itself [row 38]', async () => {
    const source = `
      (pmap (fn [city]
              (map (fn [n] (ask (str "Which " n " in " city "?")
                                {:options [{:label "John Smith" :id 1} {:label "John Doe" :id 2}]
                                 :details {:city city}}))
                   ["John"]))
            ["Rome" "Oslo"])`;
    const started = startPrograms([source], { agent: { askUser: true } });
    const { run, clock } = started;

    expect(await untilWaiting(started)).toEqual(['q1', 'q2']);
    expect(run.pending()).toEqual(
      ['Rome', 'Oslo'].map((city, index) => ({
        id: `q${index + 1}`,
        kind: 'question',
        agent: 'tester',
        path: 'tester',
        question: `Which John in ${city}?`,
        options: ['John Smith', 'John Doe'],
        free: false,
        details: { city },
        since: START,
      })),
    );
    clock.advance(7 * 24 * HOUR);
    run.answer('q2', 2);
    run.answer('q1', '  JOHN smith ');
    const step = await run.result;

    expect(step.value).toEqual([[{ label: 'John Smith', id: 1 }], [{ label: 'John Doe', id: 2 }]]);
    expect(valueOf(step.stats, 'agent:questions')).toBe(2);
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(0);
    expect(valueOf(step.stats, 'agent:active_ms')).toBe(0);
    expect(started.reports[0]?.calls).toBe(2);
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'program:before',
      'question:asked',
      'question:asked',
      'waiting',
      'question:answered',
      'question:answered',
      'program:after',
      'iteration:after',
      'execution:after',
    ]);
  });

  it.each([
    { name: 'free text', source: '(ask "Who?" {:options ["a" "b"] :free true})', answer: 'C' },
    { name: 'text', source: '(tool/ask_user {:question "Who?"})', answer: 'C' },
  ])('takes $name', async ({ source, answer }) => {
    const started = startPrograms([source], { agent: { askUser: true } });
    await untilWaiting(started);

    started.run.answer('q1', answer);

    expect((await started.run.result).value).toBe(answer);
  });

  it.each([
    {
      name: 'its default',
      source: '(ask "Who?" {:timeout-ms 3600000 :default {:id 7}})',
      value: { id: 7 },
    },
    {
      name: 'nil, when that is the default',
      source: '(nil? (ask "Who?" {:timeout-ms 3600000 :default nil}))',
      value: true,
    },
    {
      name: 'an error that can be recovered',
      source: '(attempt (ask "Which John?" {:timeout-ms 3600000}))',
      value: {
        error: { reason: 'ask_timeout', message: 'Nobody answered "Which John?" within 1 h.' },
      },
    },
  ])('ends at its timeout with $name', async ({ source, value }) => {
    const started = startPrograms([source], { agent: { askUser: true } });
    await untilWaiting(started);

    started.clock.advance(HOUR);
    const step = await started.run.result;

    expect(step.value).toEqual(value);
    expect(bodiesOf(started.run.events, 'agent:question:answered')).toEqual([
      { type: 'agent:question:answered', questionId: 'q1', waitedMs: HOUR, timedOut: true },
    ]);
  });

  it.each([
    { source: '(ask " ")', message: '`ask`: the question is empty.' },
    { source: '(ask "?" {:options []})', message: '`ask`: there are no options to choose from.' },
    { source: '(ask "?" {:options ["a" " "]})', message: '`ask`: an option is empty.' },
    {
      source: '(ask "?" {:options (range 101)})',
      message: '`ask`: at most 100 options are allowed, got 101.',
    },
    {
      source: '(ask "?" {:timeout-ms 0})',
      message: '`ask`: 0 as :timeout-ms is not between 1 and 315360000000.',
    },
    {
      source: '(ask "?" {:details (str/join (repeat 70000 "x"))})',
      message: '`ask`: question, options and details have 70011 bytes, at most 65536 are allowed.',
    },
  ])('is not asked when nobody could answer it: $source', async ({ source, message }) => {
    const started = startPrograms([`(attempt ${source})`], { agent: { askUser: true } });

    await started.run.result;

    expect(started.reports[0]?.error).toMatchObject({ reason: 'runtime_error' });
    expect(started.reports[0]?.error?.message).toContain(message);
    expect(bodiesOf(started.run.events, 'agent:question:asked')).toEqual([]);
  });

  it.each([
    { onReach: 'refuse' as const, status: 'success' },
    { onReach: 'end' as const, status: 'limit_exceeded' },
  ])('keeps to a limit that says $onReach [row 40]', async ({ onReach, status }) => {
    const started = startPrograms(['(attempt (ask "Who?"))'], {
      agent: { askUser: true },
      limits: { custom: [{ kind: 'exact', key: 'agent:questions', max: 0, onReach }] },
    });

    const step = await started.run.result;

    expect(step.status).toBe(status);
    if (onReach === 'refuse') {
      expect(step.value).toMatchObject({
        error: { message: 'not run, the limit of 0 for agent:questions is reached.' },
      });
    }
  });

  it('is withdrawn when the program goes on without it', async () => {
    const started = startPrograms(
      [
        '(attempt (pcalls #(tool/search {:query (inc 0)}) #(ask "Who?") #(sleep 1000000)))',
        '(ask "Really?")',
      ],
      { agent: { askUser: true } },
    );

    expect(await untilWaiting(started)).toEqual(['q2']);
    expect(started.run.program()?.status?.counts).toMatchObject({ waiting: 1 });
    started.run.answer('q2', 'yes');
    const step = await started.run.result;

    expect(step.value).toBe('yes');
    expect(bodiesOf(started.run.events, 'agent:question:answered')).toEqual([
      { type: 'agent:question:answered', questionId: 'q1', waitedMs: 0, withdrawn: true },
      {
        type: 'agent:question:answered',
        questionId: 'q2',
        waitedMs: 0,
        text: 'yes',
        updateId: 'update-1',
      },
    ]);
    expect(() => started.run.answer('q1', 'late')).toThrow('question q1 is already answered');
  });
});

describe('an approval in a program [sub 18]', () => {
  it.each<{ name: string; decision: Decision; ran: unknown[]; value: unknown }>([
    { name: 'approved', decision: { approve: true }, ran: [50], value: { ok: { paid: 50 } } },
    {
      name: 'denied',
      decision: { deny: 'too expensive' },
      ran: [],
      value: {
        error: {
          reason: 'tool_denied',
          tool: 'pay',
          message: '`pay` failed: Denied by a person: too expensive.',
        },
      },
    },
    { name: 'edited', decision: { args: { amount: 40 } }, ran: [40], value: { ok: { paid: 40 } } },
    {
      name: 'edited badly',
      decision: { args: { amount: 'much' } },
      ran: [],
      value: { error: { reason: 'invalid_tool_args', tool: 'pay' } },
    },
  ])('$name: the tool runs as decided', async ({ decision, ran, value }) => {
    const seen: unknown[] = [];
    const started = startPrograms(['(attempt (tool/pay {:amount 50}))'], {
      agent: { tools: [payTool(seen)] },
    });
    expect(await untilWaiting(started)).toEqual(['1.p1']);
    expect(started.run.pending()).toMatchObject([
      { kind: 'approval', tool: 'pay', args: { amount: 50 }, reasoning: 'because' },
    ]);

    started.run.decide('1.p1', decision);
    const step = await started.run.result;

    expect(seen).toEqual(ran);
    expect(step.value).toMatchObject(value as object);
    expect(started.reports[0]?.warnings).toEqual(
      'args' in decision
        ? [`A person changed the arguments of pay to ${JSON.stringify(decision.args)}.`]
        : [],
    );
  });

  it('ends a program by default when it is denied or nobody decides', async () => {
    const seen: unknown[] = [];
    const started = startPrograms(['(tool/pay {:amount 50})'], {
      agent: { tools: [payTool(seen, { approvalTimeoutMs: HOUR })] },
    });
    await untilWaiting(started);

    started.clock.advance(HOUR);
    await started.run.result;

    expect(seen).toEqual([]);
    expect(started.reports[0]?.error).toMatchObject({ reason: 'tool_denied' });
    expect(started.reports[0]?.error?.message).toContain('nobody decided within 1 h.');
  });

  it('is taken back when the program goes on without the call', async () => {
    const seen: unknown[] = [];
    const started = startPrograms(
      [
        '(attempt (pcalls #(tool/search {:query (inc 0)}) #(tool/pay {:amount 1}) #(tool/pay {:amount 2})))',
        '(ask "Go on?")',
      ],
      { agent: { tools: [payTool(seen), searchTool()], askUser: true } },
    );

    expect(await untilWaiting(started)).toEqual(['q1']);
    started.run.answer('q1', 'yes');
    await started.run.result;

    expect(seen).toEqual([]);
    expect(
      bodiesOf(started.run.events, 'agent:tool_call:after').map(
        ({ callId, outcome }) => `${callId} ${outcome}`,
      ),
    ).toEqual(['1.p1/0/1 rejected', '1.p1/1/1 canceled', '1.p1/2/1 canceled']);
  });
});

describe('outside work in a program [sub 18]', () => {
  const build = (fields: { timeoutMs?: number; maxResultBytes?: number } = {}): ToolDefinition => {
    const { timeoutMs, ...rest } = fields;
    return defineTool({
      name: 'build',
      description: 'Builds.',
      execute: () =>
        external({
          details: { url: 'https://ci/7' },
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        }),
      ...rest,
    }) as ToolDefinition;
  };

  it('gives the program what somebody answers', async () => {
    const started = startPrograms(['(:passed (tool/build))'], { agent: { tools: [build()] } });
    expect(await untilWaiting(started)).toEqual(['1.p1']);

    started.run.answer('1.p1', { passed: 7 });

    expect((await started.run.result).value).toBe(7);
  });

  it.each([
    {
      name: 'late',
      tool: { timeoutMs: HOUR },
      act: ({ clock }: ProgramRun) => clock.advance(HOUR),
      message: '`build` failed: build did not finish within 3600 s.',
    },
    {
      name: 'too large',
      tool: { maxResultBytes: 1_024 },
      act: ({ run }: ProgramRun) => run.answer('1.p1', { log: 'x'.repeat(2_000) }),
      message:
        '`build` failed: the result of build has 2010 bytes, at most 1024 are allowed. Ask for less.',
    },
  ])('fails when it is $name', async ({ tool, act, message }) => {
    const started = startPrograms(['(attempt (tool/build))'], { agent: { tools: [build(tool)] } });
    await untilWaiting(started);

    act(started);
    const step = await started.run.result;

    expect(step.value).toEqual({ error: { reason: 'tool_error', tool: 'build', message } });
  });
});

describe('a sleep in a program', () => {
  it('is a timer; the run counts as active meanwhile, and nobody is waited for', async () => {
    const started = startPrograms(['(let [a (now)] (sleep 1500) (- (now) a))']);
    const { run, clock } = started;
    await eventually('a program that sleeps', () => run.program()?.status?.state === 'waiting');
    expect(run.pending()).toEqual([]);
    expect(run.state.waitingSince ?? null).toBe(null);
    expect(run.program()?.status?.effects).toMatchObject([
      { id: '1', kind: 'sleep', state: 'waiting', since: START, until: START + 1_500 },
    ]);

    clock.advance(1_499);
    expect(run.program()?.status?.state).toBe('waiting');
    clock.advance(1);
    const step = await run.result;

    expect(step.value).toBe(1_500);
    expect(valueOf(step.stats, 'agent:active_ms')).toBe(1_500);
    expect(started.reports[0]?.calls).toBe(0);
  });

  it.each([{ hands: false }, { hands: true }])(
    'is known as a timer until it ends or is dropped, handed over: $hands',
    async ({ hands }) => {
      const loop = programsLoop([
        `(pcalls #(do (sleep 500) (sleep 1000)) #(sleep 2000))
         (attempt (pcalls #(do (sleep 100) (tool/search {:query (inc 0)})) #(sleep 900000)))
         (ask "Go on?")`,
      ]);
      let known: Run | undefined;
      const { run, clock } = startRun([], {
        agent: { askUser: true },
        handoverDue: (_, place) => hands && place === 'program',
        next: (work) => {
          known = work.run;
          return loop(work);
        },
      });
      const untilTimers = (...ends: readonly number[]): Promise<boolean> =>
        eventually(`timers until ${ends.join()}`, () => {
          const timers = known?.timers().map((at) => at - START);
          return JSON.stringify(timers) === JSON.stringify(ends);
        });

      await untilTimers(500, 2_000);
      clock.advance(500);
      await untilTimers(2_000, 1_500);
      clock.advance(1_000);
      await untilTimers(2_000);
      clock.advance(500);
      await untilTimers(2_100, 902_000);
      clock.advance(100);
      await untilTimers();
      await run.resultOrPending();
      run.answer('q1', 'yes');

      expect((await run.result).value).toBe('yes');
      expect([known?.timers(), run.state.link > 1]).toEqual([[], hands]);
    },
  );

  it('longer than a timer of the service can be is several', async () => {
    const started = startPrograms(['(sleep 2592000000)']);
    await eventually(
      'a program that sleeps',
      () => started.run.program()?.status?.state === 'waiting',
    );
    for (let days = 0; days < 30; days++) {
      expect(started.run.program()?.outcome).toBe(undefined);
      started.clock.advance(24 * HOUR);
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect((await started.run.result).status).toBe('success');
  });
});

describe('the program of a run, for people', () => {
  it('is shown while it runs and after [row 24]', async () => {
    const source = '(def a (tool/search {:query "a"}))\n(pmap #(ask (str "Q" %)) [1 2])\n(count a)';
    const started = startPrograms([source, '(foo)'], { agent: { askUser: true } });
    expect(started.run.program()).toBe(null);
    await untilWaiting(started);

    const { status, ...view } = started.run.program() ?? {};
    expect(view).toEqual({ programId: '1.p', source, since: START });
    expect(status?.forms.map(({ state, preview }) => [state, preview])).toEqual([
      ['done', "#'a"],
      ['waiting', undefined],
      ['pending', undefined],
    ]);
    expect(status?.effects.map(({ id, name, state, text }) => [id, name, state, text])).toEqual([
      ['1', 'search', 'done', '{"query":"a"}'],
      ['2/0/1', 'ask', 'waiting', 'Q1'],
      ['2/1/1', 'ask', 'waiting', 'Q2'],
    ]);
    expect(status?.counts).toEqual({ pending: 0, running: 0, waiting: 2, done: 1, failed: 0 });
    started.run.answer('q1', 'x');
    started.run.answer('q2', 'y');
    await started.run.result;

    expect(started.run.program()).toMatchObject({
      programId: '2.p',
      source: '(foo)',
      outcome: 'error',
      error: { reason: 'unbound_var' },
    });
    expect(started.run.program()).not.toHaveProperty('status');
  });
});
