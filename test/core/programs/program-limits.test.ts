/** What ends a program from outside: limits, a cancel, an interrupt; and what is said of it then. */
import { describe, expect, it } from 'vitest';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import { eventually } from '../../support/eventually.ts';
import { startPrograms } from '../../support/programs.ts';
import { bodiesOf, gate, searchTool, typesOf } from '../../support/runs.ts';

const THREE = '(map #(attempt (tool/search {:query %})) ["a" "b" "c"])';
const THREE_AT_ONCE = '(pmap #(attempt (tool/search {:query %})) ["a" "b" "c"])';
const REFUSED = (key: string): unknown => ({
  error: {
    reason: 'tool_error',
    tool: 'search',
    message: `\`search\` failed: not run, the limit of 2 for ${key} is reached.`,
  },
});

function custom(key: string, max: number, onReach: 'end' | 'refuse'): LimitsInput {
  return { custom: [{ kind: 'exact', key, max, onReach }] };
}

describe('limits on the calls of a program [row 41]', () => {
  it.each([
    { name: 'one after another', source: THREE },
    { name: 'at once', source: THREE_AT_ONCE },
  ])('end the run exactly there, $name', async ({ source }) => {
    const ran: string[] = [];
    const started = startPrograms([source], {
      agent: { tools: [searchTool((query) => ran.push(query))] },
      limits: { toolCalls: 2 },
    });

    const step = await started.run.result;

    expect(ran).toEqual(['a', 'b']);
    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:tool_calls' });
    expect(step.exceededLimit).toMatchObject({ value: 2, attempted: 3 });
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(2);
    const [report] = started.reports;
    expect(report).toMatchObject({ outcome: 'error', done: [{ tool: 'search', count: 2 }] });
    expect(report?.error).toMatchObject({ reason: 'canceled', phase: 'run' });
    expect(bodiesOf(started.run.events, 'agent:program:after')).toMatchObject([
      { outcome: 'canceled', calls: 2, error: { reason: 'canceled' } },
    ]);
    expect(valueOf(step.stats, 'agent:code_executions_error')).toBe(0);
  });

  it.each([
    { name: 'all calls, one after another', source: THREE, key: 'agent:tool_calls' },
    { name: 'all calls, at once', source: THREE_AT_ONCE, key: 'agent:tool_calls' },
    { name: 'one tool', source: THREE_AT_ONCE, key: 'agent:tool_calls:search' },
  ])('refuse what is too much, and the program goes on: $name', async ({ source, key }) => {
    const started = startPrograms([source], { limits: custom(key, 2, 'refuse') });

    const step = await started.run.result;

    expect(step).toMatchObject({
      status: 'success',
      value: [{ ok: 'hits for a' }, { ok: 'hits for b' }, REFUSED(key)],
    });
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(2);
    expect(bodiesOf(started.run.events, 'agent:tool_call:after').at(-1)).toMatchObject({
      callId: expect.stringMatching(/^1\.p/),
      outcome: 'refused',
    });
  });

  it('let calls run whose forerunners did not count', async () => {
    const started = startPrograms(['(pmap #(attempt (tool/search {:query %})) [1 2 "c" "d"])'], {
      limits: { toolCalls: 2 },
    });

    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(2);
    expect(step.value).toMatchObject([
      { error: { reason: 'invalid_tool_args' } },
      { error: { reason: 'invalid_tool_args' } },
      { ok: 'hits for c' },
      { ok: 'hits for d' },
    ]);
  });

  it('of the program itself end the program alone', async () => {
    const started = startPrograms(
      ['(map #(attempt (tool/search {:query (str %)})) (range 1001))', '7'],
      { limits: 'unlimited' },
    );

    const step = await started.run.result;

    expect(started.reports[0]).toMatchObject({
      error: { reason: 'tool_call_limit_exceeded' },
      done: [{ tool: 'search', count: 1_000 }],
    });
    expect(step).toMatchObject({ status: 'success', value: 7 });
  });
});

describe('limits on programs [row 42]', () => {
  it('end the run before the next one begins', async () => {
    const started = startPrograms(['1', '2', '3'], {
      limits: { custom: [{ kind: 'exact', key: 'agent:code_executions', max: 2 }] },
    });

    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:code_executions' });
    expect(started.reports.map(({ outcome }) => outcome)).toEqual(['value', 'value', 'error']);
    expect(typesOf(started.run.events).filter((type) => type === 'program:before')).toHaveLength(2);
  });

  it('refuse one, and the run goes on', async () => {
    const started = startPrograms(['1', '2', '3'], {
      limits: custom('agent:code_executions', 2, 'refuse'),
    });

    const step = await started.run.result;

    expect(step).toMatchObject({
      status: 'success',
      value: { outcome: 'error', reason: 'refused' },
    });
    expect(started.reports[2]?.error).toEqual({
      reason: 'refused',
      phase: 'check',
      message: 'not run, the limit of 2 for agent:code_executions is reached.',
    });
    expect(valueOf(step.stats, 'agent:code_executions')).toBe(2);
    expect(bodiesOf(started.run.events, 'agent:program:after').at(-1)).toMatchObject({
      outcome: 'refused',
      steps: 0,
    });
  });

  it('end a run whose programs keep failing', async () => {
    const started = startPrograms(['(', '(/ 1 0)', '(foo)', '(fail 1)', '1'], {
      agent: { limits: { custom: [] } },
    });

    const step = await started.run.result;

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:code_executions_error_consecutive',
      iterations: 4,
    });
  });

  it.each([
    { name: 'its own', limits: {}, fuel: 1_000_000 },
    { name: 'what the run leaves', limits: { programSteps: 5_000 }, fuel: 5_000 },
  ])('give it fuel up to the smaller: $name', async ({ limits, fuel }) => {
    const started = startPrograms(['(loop [] (recur))', '(reduce + (range 9000000))'], { limits });

    const step = await started.run.result;

    const [first] = started.reports;
    if (fuel === 1_000_000) {
      expect(first?.error).toMatchObject({ reason: 'loop_limit_exceeded' });
      expect(started.reports[1]?.error).toMatchObject({ reason: 'size_exceeded' });
      expect(step.status).toBe('success');
      return;
    }
    expect(first).toMatchObject({ fuel, error: { reason: 'fuel_exceeded' } });
    expect(first?.error?.message).toContain('used its 5,000 units of fuel');
    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:program_steps' });
    expect(step.exceededLimit).toMatchObject({ value: 5_000, attempted: 5_001 });
    expect(started.reports).toHaveLength(1);
  });

  it('take from the fuel of the next program what the last used', async () => {
    const started = startPrograms(
      ['(reduce + (range 1000))', '(get budget/remaining :fuel)', '1'],
      {
        limits: { programSteps: 10_000 },
      },
    );

    await started.run.result;

    const used = started.reports[0]?.fuel ?? 0;
    expect(used).toBeGreaterThan(1_000);
    expect(started.reports[1]?.value).toBeGreaterThan(9_990 - used);
    expect(started.reports[1]?.value).toBeLessThan(10_000 - used);
  });

  it('let a program go on whose call crosses a limit on what it counts, until that call is in', async () => {
    const started = startPrograms(['(tool/search {:query "a"}) (tool/search {:query "b"})'], {
      agent: {
        tools: [
          searchTool((query, { count }) => {
            count('crm:rows', 5);
            return query;
          }),
        ],
      },
      limits: { custom: [{ kind: 'exact', key: 'crm:rows', max: 4 }] },
    });

    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'crm:rows' });
    expect(started.reports[0]).toMatchObject({ error: { reason: 'canceled' }, calls: 1 });
  });
});

/** Starts a program that hangs in `phase`, and waits until it does. */
async function hangIn(
  source: string,
): Promise<{ started: ReturnType<typeof startPrograms>; aborted: string[] }> {
  const aborted: string[] = [];
  const inTool = gate();
  const search = searchTool(async (query, { signal }) => {
    if (query === 'quick') return 'quick';
    inTool.open();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    aborted.push(query);
    throw new Error('stopped');
  });
  const started = startPrograms([source, '(str data/fail *1)'], {
    agent: { tools: [search], askUser: true },
  });
  await eventually(
    'a program that waits',
    () => started.run.program()?.status?.state === 'waiting',
  );
  if (source.includes('slow')) await inTool.opened;
  return { started, aborted };
}

const PHASES = [
  { name: 'a call', source: '(tool/search {:query "quick"}) (tool/search {:query "slow"})' },
  { name: 'a question', source: '(tool/search {:query "quick"}) (ask "Who?")' },
  { name: 'a sleep', source: '(tool/search {:query "quick"}) (sleep 1000)' },
  {
    name: 'all of them',
    source:
      '(tool/search {:query "quick"}) (pcalls #(tool/search {:query "slow"}) #(ask "Who?") #(sleep 9))',
  },
];

describe('a program that is stopped', () => {
  it.each(PHASES)('by a cancel, in $name [row 37]', async ({ source }) => {
    const { started, aborted } = await hangIn(source);

    started.run.cancel('enough');
    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'canceled', message: 'enough' });
    expect(aborted).toEqual(source.includes('slow') ? ['slow'] : []);
    expect(started.run.pending()).toEqual([]);
    expect(started.reports).toHaveLength(1);
    expect(started.reports[0]).toMatchObject({
      outcome: 'error',
      error: { reason: 'canceled' },
      done: [{ tool: 'search', count: 1 }],
    });
    expect(started.reports[0]?.error?.message).toContain('The run was canceled.');
    expect(typesOf(started.run.events).slice(-3)).toEqual([
      'program:after',
      'iteration:after',
      'execution:after',
    ]);
  });

  it.each(PHASES)('by an interrupt, in $name: the run goes on [row 37]', async ({ source }) => {
    const { started } = await hangIn(source);

    started.run.send('Wait!', { kind: 'interrupt' });
    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'success', value: '' });
    expect(started.reports[0]?.error?.message).toContain(
      'The program was canceled before it finished: a new message came.',
    );
    expect(started.reports[0]?.done).toEqual([{ tool: 'search', count: 1 }]);
    expect(bodiesOf(started.run.events, 'agent:iteration:after')).toMatchObject([
      { outcome: 'interrupted' },
      { outcome: 'end' },
    ]);
    expect(valueOf(step.stats, 'agent:code_executions_error')).toBe(0);
    expect(valueOf(step.stats, 'agent:code_executions')).toBe(2);
  });

  it.each(PHASES)('by its deadline, in $name [row 46]', async ({ source }) => {
    const { started } = await hangIn(source);
    started.run.adjust({ wallClockMs: 5 });

    started.clock.advance(7);
    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:wall_clock_ms' });
    expect(started.reports[0]?.error).toMatchObject({ reason: 'canceled' });
  });

  it('before it begins: nothing of it is recorded', async () => {
    const started = startPrograms(['(tool/search {:query "a"})'], {
      onEvent: ({ type }, run) => {
        if (type === 'agent:iteration:before') run.cancel();
      },
    });

    const step = await started.run.result;

    expect(step.status).toBe('canceled');
    expect(started.reports[0]).toMatchObject({ outcome: 'error', error: { reason: 'canceled' } });
    expect(typesOf(started.run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'iteration:after',
      'execution:after',
    ]);
  });

  it('while its arguments are checked: nothing of it runs', async () => {
    const started = startPrograms(['(tool/search {:query "a"})'], {
      onEvent: ({ type }, run) => {
        if (type === 'agent:program:before') run.cancel();
      },
    });

    const step = await started.run.result;

    expect(step.status).toBe('canceled');
    expect(typesOf(started.run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'program:before',
      'program:after',
      'iteration:after',
      'execution:after',
    ]);
  });
});
