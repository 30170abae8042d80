/** Evals: their plan, their loop in memory, and their table. */
import { describe, expect, it } from 'vitest';
import { EVAL_AGENT, type EvalRow } from '../../../src/core/evaluation/eval-plan.ts';
import { evalResult } from '../../../src/client/evals.ts';
import { evalTable } from '../../../src/core/evaluation/eval-table.ts';
import { readPlan } from '../../../src/core/evaluation/read-plan.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { textOf } from '../../../src/core/base/message.ts';
import { createRegistry } from '../../../src/registry/registry.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startMemoryRun } from '../../../src/testing/start-memory-run.ts';
import { INLINE_SIZES } from '../../../src/core/base/size-limits.ts';
import { evalText } from '../../../src/cli/views/eval-text.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';

const moment = { name: 'one', agent: 'clerk', run: 'clerk-7', at: { iteration: 3 } };

describe('the plan of an eval', () => {
  it.each([
    [
      { parts: [moment], variants: [{ name: 'a' }, { name: 'b' }] },
      'Expected variants that differ, got `a` and `b`, which differ in nothing but their names. Change one.',
    ],
    [
      { parts: [], variants: [{ name: 'a' }] },
      'Expected `parts` to be a list with at least one element, got []. Fill it.',
    ],
    [
      { parts: [moment, moment], variants: [{ name: 'a' }] },
      'Expected `parts` with names of their own, got "one" twice. Rename one.',
    ],
    [
      { parts: [{ name: 'x', agent: 'y' }], variants: [{ name: 'a' }] },
      'Expected `parts[0]` to have a `run` or a `task`, got neither. Add one.',
    ],
    [
      { parts: [moment], variants: [{ name: 'a', modle: 'x' }] },
      'Expected the fields of `variants[0]` to be among name, model, instructions, limits, definition, edits, agent, got `modle`. Remove it.',
    ],
    [
      { parts: [moment], variants: [{ name: 'a' }], times: 0 },
      'Expected `times` from 1 up, got 0. Change it.',
    ],
    [
      { parts: [moment], variants: [{ name: 'a' }], times: 300 },
      'Expected at most 200 tries, got 300 (1 parts × 1 variants × 300). Take several evals.',
    ],
    [
      {
        parts: [{ name: 't', agent: 'x', task: 'Go' }],
        variants: [{ name: 'a', instructions: 'Be brief' }],
      },
      'Expected variant `a` to have `model`, `limits` or `agent` alone, because there are parts with a task, got `instructions`, `definition` or `edits`. Use moments of runs.',
    ],
  ])('%j is refused', (plan, message) => {
    const read = readPlan(plan);
    expect(read.kind === 'problems' && read.problems.join('\n')).toBe(message);
  });

  it('gets its defaults', () => {
    expect(readPlan({ parts: [moment], variants: [{ name: 'a' }] })).toEqual({
      kind: 'plan',
      plan: { v: 1, parts: [moment], variants: [{ name: 'a' }], times: 1, effects: 'replay-only' },
    });
  });
});

/** Two models of which one knows the capital. */
function evalInMemory(plan: JsonObject, limits = {}, onJudged: () => void = () => undefined) {
  const model = (id: string, text: string) => ({
    id,
    model: async () => ({ content: text, usage: { inputTokens: id.length, outputTokens: 1 } }),
  });
  const asked = defineAgent({ name: 'oracle', mode: 'text', model: 'small' });
  const judge = defineAgent({
    name: 'judge',
    mode: 'text',
    // It passes what it can judge: it must know what was asked.
    model: {
      id: 'j',
      model: async ({ messages }) => {
        const read = messages.map(textOf).join('\n');
        onJudged();
        return { content: read.includes('Capital of Austria?') ? 'yes' : 'no' };
      },
    },
  });
  const registry = createRegistry({
    agents: [asked, judge],
    models: [model('small', 'Graz'), model('large', 'Vienna')],
  });
  return startMemoryRun(
    {
      registry,
      clock: createFakeClock(),
      sizes: INLINE_SIZES,
      chunks: { publish: () => undefined },
      onEvent: () => undefined,
      carry: (_message, deliver) => deliver(),
      childHandoverDue: () => false,
    },
    {
      input: { v: 1, agent: EVAL_AGENT, task: { text: '' }, context: { plan }, limits },
      address: 'eval-1',
      handoverDue: () => true,
    },
  );
}

const tasks = ['a', 'b'].map((name) => ({
  name,
  agent: 'oracle',
  task: `Capital of Austria? ${name}`,
  expected: 'Vienna',
}));
const variants = [{ name: 'small' }, { name: 'large', model: 'large' }];

describe('an eval', () => {
  it('runs each task with each variant as often as asked, and compares them', async () => {
    const run = evalInMemory({
      v: 1,
      parts: tasks,
      variants,
      times: 9,
      effects: 'replay-only',
    } as unknown as JsonObject);
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success' });
    const { rows } = step.value as unknown as { rows: EvalRow[] };
    expect(rows).toHaveLength(36);
    expect(run.children).toHaveLength(36);
    expect(rows[0]).toMatchObject({
      part: 'a',
      variant: 'small',
      time: 1,
      passed: false,
      answer: 'Graz',
      turns: 1,
      tokens: 6,
    });
    const table = evalTable(rows);
    expect(table.map(({ variant, passed, tries }) => [variant, passed, tries])).toEqual([
      ['small', 0, 18],
      ['large', 18, 18],
    ]);
    expect(table[1]?.difference?.passRate).toEqual({ mean: 1, low: 1, high: 1 });
    expect(evalText(table)).toContain('MINUS small');
  });

  it('that meets its budget keeps the table of what was tried', async () => {
    const plan = { v: 1, parts: tasks, variants, times: 9, effects: 'run' };
    const step = await evalInMemory(plan as unknown as JsonObject, { modelCalls: 20 }).result;

    expect(step).toMatchObject({ status: 'limit_exceeded', value: null });
    const { rows, tries } = evalResult(step);
    expect(tries).toBe(36);
    // One call a try: every call that the budget allowed is in the table, and no try that it cut.
    expect(rows).toHaveLength(20);
    expect(rows.every(({ status }) => status === 'success')).toBe(true);
    expect(evalTable(rows).reduce((sum, { tries: ended }) => sum + ended, 0)).toBe(20);
    const keys = rows.map(({ part, variant, time }) => `${part} ${variant} ${time}`);
    const wanted = ['a', 'b'].flatMap((part) =>
      ['small', 'large'].flatMap((variant) =>
        Array.from({ length: 9 }, (_, at) => `${part} ${variant} ${at + 1}`),
      ),
    );
    expect(keys).toEqual(wanted.filter((key) => keys.includes(key)));
  });

  it('that is canceled keeps the table of what was tried, with verdicts', async () => {
    let answered = 0;
    const run = evalInMemory(
      { v: 1, parts: tasks, variants, times: 10, judge: 'judge' } as unknown as JsonObject,
      {},
      () => {
        answered += 1;
        if (answered === 35) run.cancel('enough');
      },
    );
    const step = await run.result;

    expect(step).toMatchObject({ status: 'canceled', message: 'enough' });
    const { rows, tries } = evalResult(step);
    expect(tries).toBe(40);
    // The first batch has its verdicts; of the second, what was tried is known, and not counted.
    expect(rows).toHaveLength(40);
    expect(rows.slice(0, 30).every(({ passed }) => passed)).toBe(true);
    const unjudged = rows.filter(({ isJudged }) => isJudged === false);
    expect(unjudged.length).toBeGreaterThan(0);
    expect(unjudged.every(({ passed, answer }) => !passed && answer !== '')).toBe(true);
    const counted = evalTable(rows).reduce((sum, { tries: ended }) => sum + ended, 0);
    expect(counted).toBe(40 - unjudged.length);
  });

  it('asks a judge, and ends at its budget', async () => {
    const judged = await evalInMemory({
      v: 1,
      parts: tasks,
      variants,
      times: 1,
      effects: 'run',
      judge: 'judge',
    } as unknown as JsonObject).result;
    const { rows } = judged.value as unknown as { rows: EvalRow[] };
    expect(rows.map(({ passed }) => passed)).toEqual([true, true, true, true]);

    const poor = await evalInMemory(
      { v: 1, parts: tasks, variants, times: 9, effects: 'run' } as unknown as JsonObject,
      { children: 3 },
    ).result;
    expect(poor).toMatchObject({ status: 'limit_exceeded', reason: 'agent:children' });
    const bad = await evalInMemory({
      v: 1,
      parts: tasks,
      variants: [variants[0], { name: 'same' }],
    } as unknown as JsonObject).result;
    expect(bad).toMatchObject({ status: 'error', reason: 'invalid_input' });
  });
});

describe('the table of an eval', () => {
  const row = (variant: string, part: string, passed: boolean, tokens: number): EvalRow => ({
    part,
    variant,
    time: 1,
    run: 'x',
    status: 'success',
    reason: 'answered',
    passed,
    turns: 2,
    tokens,
    costMicroUsd: 10,
    durationMs: 1,
    answer: '',
  });

  it('gives intervals by Wilson and of paired differences by Student', () => {
    const rows = [1, 2, 3, 4].flatMap((n) => [
      row('a', `${n}`, n > 1, 100),
      row('b', `${n}`, true, 100 + n),
    ]);
    const [a, b] = evalTable(rows);
    expect(a?.passRate.mean).toBe(0.75);
    expect(a?.passRate.low).toBeCloseTo(0.3006, 3);
    expect(a?.passRate.high).toBeCloseTo(0.9544, 3);
    expect(b?.difference?.tokens.mean).toBe(2.5);
    // 3.182 × 1.291 / 2
    expect(b?.difference?.tokens.high).toBeCloseTo(2.5 + 2.054, 2);
  });

  it('has no interval for a single pair', () => {
    const [, b] = evalTable([row('a', '1', true, 1), row('b', '1', true, 2)]);
    expect(b?.difference?.tokens).toEqual({ mean: 1, low: null, high: null });
  });
});
