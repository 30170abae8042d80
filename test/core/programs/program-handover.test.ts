/** Programs that are handed over in their middle: nothing may tell them from those that are not. */
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { external } from '../../../src/define/tool/external.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { PendingItem } from '../../../src/core/contract/messages.ts';
import type { RunState } from '../../../src/core/run/run-state.ts';
import { startPrograms, type ProgramRun } from '../../support/programs.ts';
import { bodiesOf, searchTool, typesOf, type RunOptions } from '../../support/runs.ts';
import { eventually } from '../../support/eventually.ts';

function tools(ran: string[]): readonly ToolDefinition[] {
  const search = searchTool((query) => {
    ran.push(query);
    return `hits for ${query}`;
  });
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object', properties: { amount: { type: 'integer' } } },
    approval: 'always',
    execute: ({ amount }: { amount: number }) => {
      ran.push(`pay ${amount}`);
      return `paid ${amount}`;
    },
  } as Parameters<typeof defineTool>[0]) as ToolDefinition;
  const build = defineTool({
    name: 'build',
    description: 'Builds.',
    execute: () => {
      ran.push('build');
      return external({});
    },
  }) as ToolDefinition;
  return [search, pay, build];
}

const SOURCES = [
  { name: 'calls in a row', sources: ['(mapv #(tool/search {:query (str %)}) (range 5))'] },
  {
    name: 'nested parallel forms, with an attempt',
    sources: [
      '(def total (reduce + 0 (flatten (pmap (fn [x] (pmap (fn [y] (count (:ok (attempt (tool/search {:query (str x y)}))))) [1 2 3])) [1 2 3]))))',
      '(return total)',
    ],
  },
  {
    name: 'questions in branches, notes and definitions',
    sources: [
      `(def answers (pmap (fn [n] (println "asking" n) (let [a (ask (str "Q" n) {:options [{:name "x" :n n} {:name "y" :n n}]})] (tool/search {:query (:name a)}) a)) [1 2]))
       (def ask-more (fn [q] (ask q)))`,
      '(return [(map :n answers) (ask-more "last?") *1])',
    ],
  },
  {
    name: 'approvals, outside work and timers at once',
    sources: [
      '(pcalls #(tool/pay {:amount 5}) #(tool/build) #(sleep 1000) #(tool/search {:query "z"}) #(now))',
    ],
  },
  {
    name: 'tasks and an error',
    sources: [
      '(task "one" (tool/search {:query "one"})) (sleep 5) (task "two" (tool/search {:query "two"})) (/ 1 0)',
      '[(task "one" (tool/search {:query "again"})) (task "two" (tool/search {:query "again"}))]',
    ],
  },
];

/** Answers whatever waits, and lets time pass, until the run has ended. */
async function play(
  sources: readonly string[],
  options: RunOptions,
): Promise<ProgramRun & { ran: readonly string[]; links: number }> {
  const ran: string[] = [];
  const started = startPrograms(sources, {
    ...options,
    agent: { tools: tools(ran), askUser: true, limits: 'unlimited' },
  });
  const { run, clock } = started;
  let isOver = false;
  void run.result.then(() => (isOver = true));
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    const items: readonly PendingItem[] = isOver ? [] : run.pending();
    for (const item of items.toReversed()) {
      if (item.kind === 'question') run.answer(item.id, item.options === undefined ? 'text' : 1);
      if (item.kind === 'approval') run.decide(item.id, { approve: true });
      if (item.kind === 'external') run.answer(item.id, { passed: 7 });
    }
    if (items.length === 0) clock.advance(500);
  }
  const links = bodiesOf(run.events, 'agent:execution:handover').length;
  return { ...started, ran, links };
}

describe('a program that is handed over at every effect [row 6] [row 29]', () => {
  it.each(SOURCES)('comes to the same: $name', async ({ sources }) => {
    const whole = await play(sources, {});
    const chain = await play(sources, { handoverDue: (_, place) => place === 'program' });

    expect(whole.links).toBe(0);
    expect(chain.links).toBeGreaterThan(0);
    expect(chain.reports).toEqual(whole.reports);
    expect(chain.ran.toSorted()).toEqual(whole.ran.toSorted());
    const [step, expected] = await Promise.all([chain.run.result, whole.run.result]);
    expect(step.value).toEqual(expected.value);
    expect(step.memory).toEqual(expected.memory);
    expect(step.stats.counters).toEqual(expected.stats.counters);
  });
});

describe('a hand-over in the middle of a program', () => {
  it('lets calls in flight end, holds back new ones, and carries what waits', async () => {
    const states: RunState[] = [];
    let isDue = false;
    const started = startPrograms(
      ['(pcalls #(do (tool/search {:query "a"}) (tool/search {:query "b"})) #(ask "Who?"))'],
      {
        agent: { askUser: true },
        handoverDue: () => isDue,
        onEvent: ({ type }, { state }) => {
          if (type === 'agent:tool_call:before') isDue = states.length === 0;
          if (type === 'agent:execution:handover') {
            states.push(state);
            isDue = false;
          }
        },
      },
    );

    const seen = await started.run.resultOrPending();
    expect(seen).toMatchObject({ kind: 'pending', pending: [{ id: 'q1' }] });
    expect(states).toHaveLength(1);
    const kept = states[0]?.turn?.program;
    expect(kept).toMatchObject({
      programId: '1.p',
      open: [{ request: { id: '1/1/1', kind: 'ask' } }],
      held: [{ id: '1/0/2', kind: 'tool', args: { query: 'b' } }],
      done: [{ tool: 'search', count: 1 }],
      calls: 2,
    });
    expect(JSON.parse(JSON.stringify(states[0]))).toEqual(states[0]);
    started.run.answer('q1', 'me');
    const step = await started.run.result;

    expect(step.value).toEqual(['hits for b', 'me']);
    expect(typesOf(started.run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'program:before',
      'tool_call:before',
      'question:asked',
      'tool_call:after',
      'execution:handover',
      'tool_call:before',
      'tool_call:after',
      'waiting',
      'question:answered',
      'program:after',
      'iteration:after',
      'execution:after',
    ]);
  });

  it('is no hand-over while the program sleeps and nothing asks for one', async () => {
    const started = startPrograms(['(sleep 100)']);
    await eventually('a sleep', () => started.run.program()?.status?.state === 'waiting');
    started.clock.advance(100);

    await started.run.result;

    expect(typesOf(started.run.events)).not.toContain('execution:handover');
  });

  it.each([
    {
      name: 'its state is too large',
      source: '(let [x (tool/search {:query "a"})] (tool/search {:query "b"}))',
      fitsHandover: ({ turn }: RunState) => turn === undefined || turn === null,
    },
    {
      name: 'its snapshot is too large',
      source:
        '(let [x (mapv #(str % "-" (* % %) "-some-text-to-fill") (range 12000))] (tool/search {:query "a"}) (tool/search {:query "b"}) (count x))',
      fitsHandover: () => true,
    },
  ])('does not happen when $name: it goes on to its end', async ({ source, fitsHandover }) => {
    const started = startPrograms([source], {
      handoverDue: (_, place) => place === 'program',
      fitsHandover,
    });

    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(typesOf(started.run.events)).not.toContain('execution:handover');
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')).toHaveLength(2);
  });

  it('ends a program that neither fits nor has room left, and nothing recovers from that', async () => {
    let isFull = false;
    const started = startPrograms(
      ['(map #(attempt (tool/search {:query (str %)})) (range 10))', '1'],
      {
        fitsHandover: ({ turn }) => (turn ?? null) === null,
        handoverDue: (_, place) => place === 'program',
        isFull: () => isFull,
        onEvent: (event: AgentEvent) => {
          if (event.type === 'agent:tool_call:after') isFull = event.callId === '1.p3';
          if (event.type === 'agent:program:after') isFull = false;
        },
      },
    );

    const step = await started.run.result;

    expect(started.reports[0]).toMatchObject({
      error: { reason: 'size_exceeded' },
      done: [{ tool: 'search', count: 3 }],
    });
    expect(started.reports[0]?.error?.message).toContain('can neither go on here nor be moved on');
    expect(step).toMatchObject({ status: 'success', value: 1 });
  });

  it('ends a program whose snapshot this version cannot read; its journal stays', async () => {
    let isDue = false;
    const started = startPrograms(
      [
        '(def before 1)',
        '(def lost 2) (task "paid" (tool/search {:query "pay"})) (ask "Who?")',
        '[before data/fail (task "paid" (tool/search {:query "again"}))]',
      ],
      {
        agent: { askUser: true },
        handoverDue: () => isDue,
        onEvent: ({ type }, { state }) => {
          if (type === 'agent:question:asked') isDue = true;
          if (type !== 'agent:execution:handover') return;
          isDue = false;
          const { snapshot } = state.turn?.program ?? {};
          // What a later version would have written.
          Object.assign(snapshot ?? {}, { v: 3 });
        },
      },
    );

    const step = await started.run.result;

    const [, lost, after] = started.reports;
    expect(lost).toMatchObject({
      outcome: 'error',
      error: { reason: 'snapshot_version', phase: 'run' },
      done: [{ tool: 'search', count: 1 }],
      calls: 2,
      stored: ['before'],
    });
    expect(lost?.fuel).toBeGreaterThan(10);
    expect(after?.value).toEqual([
      1,
      { reason: 'snapshot_version', message: lost?.error?.message },
      'hits for pay',
    ]);
    expect(started.run.pending()).toEqual([]);
    expect(step.status).toBe('success');
  });

  it('keeps an answer that came with it for the next link', async () => {
    let isDue = false;
    const started = startPrograms(['(pcalls #(ask "A?") #(ask "B?"))'], {
      agent: { askUser: true },
      handoverDue: () => isDue,
      onEvent: ({ type }, run) => {
        if (type === 'agent:waiting') {
          setImmediate(() => {
            isDue = true;
            run.answer('q2', 'b');
          });
        }
        if (type === 'agent:execution:handover') isDue = false;
      },
    });
    await eventually('a second link', () => started.run.state.link > 1);
    expect(started.run.pending().map(({ id }) => id)).toEqual(['q1']);

    started.run.answer('q1', 'a');

    expect((await started.run.result).value).toEqual(['a', 'b']);
  });

  it.each([
    { name: 'a cancel', act: (started: ProgramRun) => started.run.cancel('enough') },
    {
      name: 'an interrupt',
      act: (started: ProgramRun) => void started.run.send('Wait!', { kind: 'interrupt' }),
    },
  ])('leaves $name its effect on a program that goes on', async ({ act }) => {
    let isDue = false;
    const started = startPrograms(['(tool/search {:query "a"}) (ask "Who?")', '2'], {
      agent: { askUser: true },
      handoverDue: () => isDue,
      onEvent: ({ type }) => {
        if (type === 'agent:question:asked') isDue = true;
        if (type === 'agent:execution:handover') isDue = false;
      },
    });
    await eventually('a second link', () => started.run.state.link > 1);
    await new Promise((resolve) => setImmediate(resolve));

    act(started);
    await started.run.result;

    expect(started.reports[0]).toMatchObject({
      error: { reason: 'canceled' },
      done: [{ tool: 'search', count: 1 }],
      calls: 2,
    });
  });
});
