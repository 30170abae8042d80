/** Programs of a run that is paused in their middle: what began goes on, nothing but timers begins. */
import { describe, expect, it } from 'vitest';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import type { RunState } from '../../../src/core/run/run-state.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { eventually } from '../../support/eventually.ts';
import { startPrograms, type ProgramRun } from '../../support/programs.ts';
import { bodiesOf, gate, searchTool, START, typesOf, type RunOptions } from '../../support/runs.ts';
import { player } from '../../support/trees.ts';

/** A run that is paused while the call `first` of its program is in flight. */
interface PausedRun extends ProgramRun {
  /** What was searched for. */
  readonly ran: readonly string[];
  /** Lets `first` end, and waits until its end is recorded. */
  endFirst(): Promise<void>;
}

const FIRST = '(tool/search {:query "first"})';

const answerer = player('answerer', () => '<answer>Yes.</answer>');

async function startPaused(source: string, options: RunOptions = {}): Promise<PausedRun> {
  const { agent, ...rest } = options;
  const held = gate<string>();
  const ran: string[] = [];
  const search = searchTool((query) => {
    ran.push(query);
    return query === 'first' ? held.opened : `hits for ${query}`;
  });
  const started = startPrograms([source], {
    agent: {
      model: { id: 'm', model: async () => 'Because.', price: { input: 0, output: 0 } },
      tools: [search, agentTool({ agent: answerer })],
      askUser: true,
      llmQuery: true,
      limits: 'unlimited',
      ...agent,
    },
    ...rest,
  });
  await eventually('the first call', () => ran.length > 0);
  started.run.pause();
  const endFirst = async (): Promise<void> => {
    held.open('found');
    const hasEnded = (): boolean =>
      bodiesOf(started.run.events, 'agent:tool_call:after').some(({ outcome }) => outcome === 'ok');
    await eventually('its end', hasEnded);
  };
  return { ...started, ran, endFirst };
}

/** Types of the events behind the pause. */
function sincePause({ run }: ProgramRun): readonly string[] {
  const types = typesOf(run.events);
  return types.slice(types.indexOf('paused') + 1);
}

describe('a run that is paused in the middle of a program', () => {
  it.each([
    { name: 'call', next: '(tool/search {:query "b"})', value: 'hits for b' },
    {
      name: 'of several calls',
      next: '(pmap #(tool/search {:query %}) ["b" "c"])',
      value: ['hits for b', 'hits for c'],
    },
    { name: 'question to a model', next: '(tool/llm_query {:prompt "Why?"})', value: 'Because.' },
    { name: 'agent', next: '(tool/answerer {:task "Well?"})', value: 'Yes.' },
    { name: 'question to a person', next: '(ask "Who?")', value: 'me' },
  ])('begins no $name before it is resumed', async ({ next, value }) => {
    const started = await startPaused(`[${FIRST} ${next}]`);
    const { run } = started;
    await started.endFirst();
    expect(sincePause(started)).toEqual(['tool_call:after']);
    expect(run.pending().map(({ kind }) => kind)).toEqual(['pause']);

    run.resume();
    const seen = await run.resultOrPending();
    if (seen.kind === 'pending') run.answer('q1', 'me');
    const step = await run.result;

    expect(step.value).toEqual(['found', value]);
  });

  it('lets all that began end, and takes answers', async () => {
    const started = await startPaused(
      `(pcalls #(do ${FIRST} (tool/search {:query "b"})) #(do (ask "Who?") (ask "Really?")))`,
    );
    const { run, ran } = started;
    run.answer('q1', 'me');
    await started.endFirst();
    expect(sincePause(started)).toEqual(['question:answered', 'tool_call:after']);
    expect([ran, run.pending().map(({ kind }) => kind)]).toEqual([['first'], ['pause']]);

    run.resume();
    await eventually('the second question', () => run.pending().length > 0);
    run.answer('q2', 'yes');

    expect((await run.result).value).toEqual(['hits for b', 'yes']);
  });

  it('lets time pass: timers begin and end, and the run stands still', async () => {
    const started = await startPaused(
      `(do ${FIRST} (let [a (now)] (sleep 1000) [(- (now) a) (tool/search {:query "b"})]))`,
    );
    const { run, clock, ran } = started;
    await started.endFirst();
    const timers = (): unknown =>
      run.program()?.status?.effects.filter(({ kind }) => kind === 'sleep');
    expect(timers()).toMatchObject([{ state: 'waiting', until: START + 1_000 }]);
    clock.advance(1_000);
    await eventually('the timer', () => run.program()?.status?.counts.done === 2);
    expect([ran, sincePause(started)]).toEqual([['first'], ['tool_call:after']]);

    run.resume();
    const step = await run.result;

    expect(step.value).toEqual([1_000, 'hits for b']);
    expect(valueOf(step.stats, 'agent:active_ms')).toBe(0);
  });

  it('begins nothing of a program that comes while it is paused', async () => {
    const ran: string[] = [];
    const started = startPrograms(['(tool/search {:query "a"})'], {
      agent: { tools: [searchTool((query) => ran.push(query))] },
      onEvent: ({ type }, run) => {
        if (type === 'agent:program:before') run.pause();
      },
    });
    const isHeld = (): boolean => started.run.program()?.status?.state === 'waiting';
    await eventually('a program that waits', isHeld);
    expect([ran, sincePause(started)]).toEqual([[], []]);

    started.run.resume();

    expect((await started.run.result).value).toBe(1);
  });

  it.each<{ name: string; act: (started: PausedRun) => void; step: Partial<Step> }>([
    {
      name: 'a cancel',
      act: ({ run }) => run.cancel('enough'),
      step: { status: 'canceled', message: 'enough' },
    },
    {
      name: 'a deadline',
      act: ({ clock }) => clock.advance(60_001),
      step: { status: 'limit_exceeded', reason: 'agent:wall_clock_ms' },
    },
    {
      name: 'a limit that is lowered',
      act: ({ run }) => run.adjust({ toolCalls: 0 }),
      step: { status: 'limit_exceeded', reason: 'agent:tool_calls' },
    },
  ])('ends by $name', async ({ act, step }) => {
    const started = await startPaused(`[${FIRST} (tool/search {:query "b"})]`, {
      agent: { limits: { wallClockMs: 60_000, toolCalls: 10 } },
    });
    await started.endFirst();

    act(started);

    expect(await started.run.result).toMatchObject(step);
    expect(started.ran).toEqual(['first']);
    expect(started.reports).toMatchObject([
      { error: { reason: 'canceled' }, done: [{ tool: 'search', count: 1 }], calls: 1 },
    ]);
  });

  it('leaves an interrupt its effect on the program, and stays paused', async () => {
    const started = await startPaused(`[${FIRST} (tool/search {:query "b"})]`);
    const { run, ran } = started;
    await started.endFirst();

    run.send('Wait!', { kind: 'interrupt' });
    await eventually('the end of the program', () => started.reports.length === 1);
    expect(sincePause(started)).toEqual(['tool_call:after', 'program:after', 'iteration:after']);
    run.cancel();
    await run.result;

    expect([ran, started.reports]).toMatchObject([['first'], [{ error: { reason: 'canceled' } }]]);
  });

  it('hands over as it stands, and goes on in the next link', async () => {
    const states: RunState[] = [];
    let isDue = false;
    const started = await startPaused(
      `(pcalls #(do ${FIRST} (tool/search {:query "b"})) #(do (sleep 1000) (tool/search {:query "c"})) #(ask "Who?"))`,
      {
        handoverDue: () => isDue,
        onEvent: ({ type }, { state }) => {
          if (type === 'agent:tool_call:after') isDue = states.length === 0;
          if (type !== 'agent:execution:handover') return;
          states.push(state);
          isDue = false;
        },
      },
    );
    const { run, clock, ran } = started;
    await started.endFirst();
    await eventually('a second link', () => run.state.link === 2);
    expect(states[0]?.turn?.program).toMatchObject({
      open: [{ request: { kind: 'sleep' } }, { request: { kind: 'ask' } }],
      held: [{ kind: 'tool', args: { query: 'b' } }],
    });
    clock.advance(1_000);
    run.answer('q1', 'me');
    await eventually('the answer', () => run.program()?.status?.counts.done === 3);
    expect([ran, run.pending().map(({ kind }) => kind)]).toEqual([['first'], ['pause']]);

    run.resume();
    const step = await run.result;

    expect(step.value).toEqual(['hits for b', 'hits for c', 'me']);
    expect(ran).toEqual(['first', 'b', 'c']);
  });
});

describe('a program that is paused and resumed again and again', () => {
  const SOURCES = [
    '(mapv #(tool/search {:query (str %)}) (range 5))',
    '(def total (reduce + (flatten (pmap (fn [x] (pmap (fn [y] (count (:ok (attempt (tool/search {:query (str x y)}))))) [1 2 3])) [1 2 3]))))',
    '(pcalls #(ask "Who?") #(do (sleep 5) (tool/search {:query "z"})) #(attempt (tool/search {:query 1})))',
  ];

  /** Runs the programs to their end; with `pauses` the run is paused by every end of an effect. */
  async function play(pauses: boolean, hands: boolean): Promise<ProgramRun> {
    const started = startPrograms(SOURCES, {
      agent: { askUser: true, limits: 'unlimited' },
      handoverDue: (_, place) => hands && place === 'program',
      onEvent: ({ type }, run) => {
        if (pauses && /program:before|_call:after|answered/.test(type)) run.pause();
      },
    });
    const { run, clock } = started;
    let isOver = false;
    void run.result.then(() => (isOver = true));
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      for (const { kind, id } of run.pending()) if (kind === 'question') run.answer(id, 'me');
      clock.advance(1);
      run.resume();
    }
    return started;
  }

  it.each([{ hands: false }, { hands: true }])(
    'comes to the same, handed over: $hands [row 6]',
    async ({ hands }) => {
      const plain = await play(false, false);
      const paused = await play(true, hands);

      expect(paused.reports).toEqual(plain.reports);
      expect((await paused.run.result).value).toEqual((await plain.run.result).value);
      expect(typesOf(paused.run.events)).toContain('paused');
    },
  );
});
