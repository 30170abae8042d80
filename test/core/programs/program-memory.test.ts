/** What programs leave to those after them: definitions, history, journal, plan; and how much. */
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type {
  AgentDefinition,
  ToolDefinition,
} from '../../../src/define/definition/definitions.ts';
import type { ProgramSpec } from '../../../src/core/contract/spec.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { DEFAULT_PROGRAM } from '../../../src/core/programs/world.ts';
import type { ProgramReport } from '../../../src/core/contract/report.ts';
import { EMPTY_MEMORY } from '../../../src/lisp.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { startPrograms } from '../../support/programs.ts';
import { programsLoop } from '../../support/fixtures/workflows/programs-loop.ts';
import { searchTool, startRun } from '../../support/runs.ts';

async function valuesOf(sources: readonly string[]): Promise<readonly unknown[]> {
  const started = startPrograms(sources);
  await started.run.result;
  return started.reports.map(({ value, error }) => error?.reason ?? value ?? null);
}

describe('definitions', () => {
  it.each([
    {
      name: 'stay after a value, and after return',
      sources: ['(def a 1) 0', '(def b 2) (return 0)', '[a b]'],
      values: [0, 0, [1, 2]],
    },
    {
      name: 'are dropped by an error and by fail',
      sources: [
        '(def a 1)',
        '(def a 2) (def b 3) (/ 1 0)',
        '(def a 4) (fail "no")',
        '[a (attempt 1)]',
        'b',
      ],
      values: [null, 'arithmetic_error', 'no', [1, { ok: 1 }], 'unbound_var'],
    },
    {
      name: 'may be functions that call tools and each other',
      sources: [
        '(defn find-it [q] (tool/search {:query q}))',
        '(defn twice [q] [(find-it q) (find-it (str q q))])',
        '(twice "a")',
      ],
      values: [null, null, ['hits for a', 'hits for aa']],
    },
    {
      name: 'are one thing and history another: the last three plain values',
      sources: ['1', '2', '(return 3)', '(/ 1 0)', '(fail 5)', '6', '[*1 *2 *3]'],
      values: [1, 2, 3, 'arithmetic_error', 5, 6, [6, 2, 1]],
    },
  ])('$name [row 29]', async ({ sources, values }) => {
    // `def` gives the mark of its name, which has no JSON form.
    expect(await valuesOf(sources)).toEqual(values);
  });

  it('are told when they change, and all names that are there', async () => {
    const started = startPrograms([
      '(def rows [1 2 3]) (def rate 0.15) (defn f [x] x)',
      '(def rate 0.2) (def rows [1 2 3]) rate',
      '(def unused-name',
    ]);

    await started.run.result;

    expect(started.reports.map(({ changed, stored }) => ({ changed, stored }))).toEqual([
      {
        changed: [
          { name: 'f', preview: '#fn[f]' },
          { name: 'rate', preview: '0.15' },
          { name: 'rows', preview: '[1 2 3]' },
        ],
        stored: ['f', 'rate', 'rows'],
      },
      { changed: [{ name: 'rate', preview: '0.2' }], stored: ['f', 'rate', 'rows'] },
      { changed: [], stored: ['f', 'rate', 'rows'] },
    ]);
    expect(started.reports[0]).toMatchObject({ outcome: 'value', isEmpty: true, preview: '' });
    expect(started.reports[1]).toMatchObject({ isEmpty: false, preview: '0.2' });
  });

  it('that are long are shown cut, and values over 16 KB leave the history as their preview', async () => {
    const started = startPrograms(['(vec (range 9000))', '*1']);

    await started.run.result;

    const preview = started.reports[0]?.preview ?? '';
    expect(preview.length).toBeLessThanOrEqual(250);
    expect(preview).toMatch(/^\[0 1 2 /);
    expect(started.reports[0]?.value).toHaveLength(9_000);
    expect(typeof started.reports[1]?.value).toBe('string');
  });

  it('and values without a JSON form are reported as such', async () => {
    const started = startPrograms(['{:rows [{:f inc}]}']);

    await started.run.result;

    const { value, notJson, preview } = started.reports[0] ?? {};
    expect({ value, notJson, preview }).toEqual({
      value: undefined,
      notJson: { path: '[:rows 0 :f]', message: expect.stringContaining('has no JSON form') },
      preview: '{:rows [{:f #fn[inc]}]}',
    });
  });
});

describe('the journal', () => {
  it('repeats a failed program without repeating its finished calls [row 29]', async () => {
    const ran: string[] = [];
    const search = searchTool((query) => {
      ran.push(query);
      if (query === 'b' && ran.length < 3) throw new Error('broken');
      return `hits for ${query}`;
    });
    const source = '[(task "a" (tool/search {:query "a"})) (task "b" (tool/search {:query "b"}))]';
    const started = startPrograms([source, source, '(task-reset "a") (task "a" 7)'], {
      agent: { tools: [search] },
    });

    const step = await started.run.result;

    expect(ran).toEqual(['a', 'b', 'b']);
    expect(started.reports[0]?.error).toMatchObject({ reason: 'tool_error' });
    expect(started.reports[1]?.value).toEqual(['hits for a', 'hits for b']);
    expect(step.value).toBe(7);
  });

  it('keeps the plan beside it, which an error does not change', async () => {
    const started = startPrograms([
      '(step-done "1" "found 12")',
      '(step-done "2" "lost") (/ 1 0)',
      '(step-done "3" "sent")',
    ]);

    await started.run.result;

    expect(started.reports.map(({ plan }) => plan)).toEqual([
      { '1': 'found 12' },
      { '1': 'found 12' },
      { '1': 'found 12', '3': 'sent' },
    ]);
  });
});

/** Runs `sources` with `program` as the specification of programs. */
async function withSpec(
  sources: readonly string[],
  program: Partial<ProgramSpec>,
): Promise<{ step: Step; reports: readonly ProgramReport[] }> {
  const reports: ProgramReport[] = [];
  const loop = programsLoop(sources, (report) => reports.push(report));
  const { run } = startRun([], {
    next: (work) => {
      // The options of programs are the modes' to define: here they stand in the specification.
      Object.assign(work.run.state.head.spec, { program: { ...DEFAULT_PROGRAM, ...program } });
      return loop(work);
    },
  });
  return { step: await run.result, reports };
}

describe('memory that is too large', () => {
  const SOURCES = [
    '(def small 1)',
    '(def big (vec (range 2000))) (task "t" (tool/search {:query "a"}))',
    '[small (task "t" "again") data/fail]',
  ];
  const cause = expect.stringMatching(
    /the definitions have 1?\d{4} bytes, at most 2000 are allowed/,
  );

  it('ends the run when that is strict [sub 3]', async () => {
    const { step, reports } = await withSpec(SOURCES, { memoryLimitBytes: 2_000 });

    expect(step).toMatchObject({
      status: 'error',
      reason: 'memory_limit_exceeded',
      message: cause,
      iterations: 2,
    });
    expect(reports).toHaveLength(1);
    expect(step.memory).toMatchObject({ bindings: { small: 1 }, journal: { '"t"': 'hits for a' } });
  });

  it('undoes the program and tells it otherwise; what tasks have done stays [sub 3]', async () => {
    const { step, reports } = await withSpec(SOURCES, {
      memoryLimitBytes: 2_000,
      memoryStrategy: 'rollback',
    });

    expect(reports[1]).toMatchObject({
      outcome: 'error',
      error: { reason: 'memory_limit_exceeded', phase: 'end', message: cause },
      stored: ['small'],
      changed: [],
      done: [{ tool: 'search', count: 1 }],
    });
    expect(step).toMatchObject({
      status: 'success',
      value: [1, 'hits for a', { reason: 'memory_limit_exceeded' }],
    });
    expect(step.stats.counters['agent:code_executions_error']).toBe(1);
  });

  it('counts the journal, too: one that alone is too large is not kept', async () => {
    const { step, reports } = await withSpec(
      ['(def small 1)', '(task "t" (vec (range 2000)))', '[small (task "t" "again")]'],
      { memoryLimitBytes: 2_000, memoryStrategy: 'rollback' },
    );

    expect(reports[1]?.error).toMatchObject({ reason: 'memory_limit_exceeded' });
    expect(step.value).toEqual([1, 'again']);
  });
});

describe('the memory of a Step', () => {
  it('begins another run where the first ended [sub 3]', async () => {
    const first = startPrograms(['(def rate 0.15) (defn twice [x] (* 2 x)) (println "a") rate']);
    const { memory, notes } = await first.run.result;

    expect(notes).toEqual(['a']);
    const second = startPrograms(['[rate (twice 4) *1]'], { memory });

    expect((await second.run.result).value).toEqual([0.15, 8, 0.15]);
  });

  it('is empty for a run that never ran a program, and begins one like none', async () => {
    const agent: AgentDefinition = defineAgent({
      name: 'plain',
      mode: 'react',
      model: { id: 'm', model: async () => '<answer>done</answer>' },
    });
    const { memory } = await startInMemory({ agent, task: 'Go' }).result;

    expect(memory).toEqual({});
    expect(await startPrograms(['1'], { memory }).run.result).toMatchObject({ value: 1 });
    const carried = startInMemory({ agent, task: 'Go', memory: EMPTY_MEMORY });
    expect((await carried.result).memory).toEqual({});
  });

  it.each([
    { memory: 7, text: 'Expected `memory` to be that of a Step, got 7.' },
    { memory: { v: 2 }, text: 'Expected `memory` of version 1, got 2.' },
    {
      memory: { ...EMPTY_MEMORY, heap: {}, sources: { a: 1 } },
      text: 'got one with a broken heap, sources.',
    },
  ])('is refused when it is none: $text', ({ memory, text }) => {
    expect(() => startPrograms(['1'], { memory: memory as never })).toThrow(text);
  });

  it.each([
    {
      name: 'a heap that is no heap',
      memory: { heap: [{ ref: 5 }, { ref: 0 }], bindings: { a: { ref: 0 } } },
    },
    {
      name: 'values of no kind',
      memory: { bindings: { a: { zz: 1 }, b: { m: 7 }, c: { f: {} } } },
    },
    {
      name: 'a source that was changed',
      memory: {
        bindings: { a: { fn: { code: ['l1:00', 0], env: [] } } },
        sources: { 'l1:00': '(fn [] 1)' },
      },
    },
    {
      name: 'names of JavaScript',
      memory: { bindings: JSON.parse('{"__proto__": 1, "constructor": 2}') as object },
    },
  ])('that somebody made up breaks nothing: $name', async ({ memory }) => {
    const started = startPrograms(['(+ 1 1)', '(str a)'], {
      memory: { ...EMPTY_MEMORY, ...memory } as never,
    });

    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(started.reports[0]).toMatchObject({ outcome: 'value', value: 2 });
  });

  it('is also what an interrupted program leaves: nothing but its journal', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Hangs.',
      execute: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))),
    } as unknown as Parameters<typeof defineTool>[0]) as ToolDefinition;
    const started = startPrograms(
      ['(def x 1) (task "t" (tool/search {:query "a"})) (tool/slow)', '(task "t" "again")'],
      {
        agent: { tools: [searchTool(), slow] },
        onEvent: (event, run) => {
          if (event.type === 'agent:tool_call:before' && event.tool === 'slow') {
            run.send('Stop', { kind: 'interrupt' });
          }
        },
      },
    );

    const step = await started.run.result;

    expect(step.value).toBe('hits for a');
    expect(started.reports[1]?.stored).toEqual([]);
  });
});
