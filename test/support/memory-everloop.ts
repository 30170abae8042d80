/** A client whose runs are in memory: the loop is the real one, the service is a map. */
import { defined } from '../../src/core/base/defined.ts';
import { agentNameOf, type TypedAgent } from '../../src/core/start/agent-types.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { StartOptions } from '../../src/client/everloop-client.ts';
import { mergeAgents } from '../../src/client/agents.ts';
import { listPrograms } from '../../src/client/programs.ts';
import { followRun } from '../../src/client/follow-run.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { RunSummary } from '../../src/client/run-list.ts';
import type { RunOverview, RunStatus } from '../../src/core/contract/messages.ts';
import { endedProgram, wholeSource } from '../../src/core/program-text/ended-program.ts';
import { treeView } from '../../src/core/run/tree-view.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { describeAgents } from '../../src/registry/describe-agents.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { createChunkBus, type ChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import type { ConsoleClient } from '../../src/console/console-client.ts';
import { fakeRun, STEP } from '../cli/cli-fixture.ts';

/** The client, and what runs were started with. */
export interface MemoryEverloop extends ConsoleClient {
  readonly started: readonly StartOptions[];
  /** Forgets the run, as the service does after its retention. */
  forget(id: string): void;
  /** Whether `list` knows of runs; else it lags behind. */
  isListing: boolean;
}

/** What no test asks of runs in memory. */
function unexpected(): never {
  throw new Error('Expected another call of the client.');
}

interface Kept {
  readonly agent: string;
  readonly options: StartOptions;
  readonly run: MemoryRun;
  readonly bus: ChunkBus;
  step: Step | null;
}

/** A client of these agents. */
export function memoryEverloop(agents: readonly AgentDefinition[]): MemoryEverloop {
  const kept = new Map<string, Kept>();
  const started: StartOptions[] = [];
  const find = (id: string): Kept => {
    const one = kept.get(id);
    if (one === undefined) throw new UsageError('run_not_found', `No run ${id}.`);
    return one;
  };
  const attach = (id: string): RunHandle => handleOf(id, async () => find(id));
  const everloop: MemoryEverloop = {
    started,
    isListing: true,
    forget: (id) => void kept.delete(id),
    attach,
    conversation: unexpected,
    start: (async (given: TypedAgent | string, options: StartOptions) => {
      const name = agentNameOf(given);
      const agent = agents.find((one) => one.name === name);
      const { id = `${name}-${kept.size}` } = options;
      if (agent === undefined) throw new Error(`Expected one of the agents, got ${name}.`);
      if (kept.has(id)) throw new UsageError('id_in_use', `${id} is in use.`);
      started.push(options);
      const bus = createChunkBus();
      const { onEvent: _on, id: _id, ifExists: _exists, stream: _stream, ...parts } = options;
      const run = startInMemory({ agent, ...parts, chunks: bus });
      const one: Kept = { agent: name, options, run, bus, step: null };
      void run.result.then((step) => (one.step = step));
      kept.set(id, one);
      return attach(id);
    }) as MemoryEverloop['start'],
    fork: async ({ run: source, at = 'latest' }, options = {}) => {
      const { agent, options: given, run } = find(source);
      const { id = `${source}-fork`, onEvent: _callbacks, trace: _trace, ...differs } = options;
      const bus = createChunkBus();
      const one: Kept = { agent, options: given, run: run.fork(at, differs), bus, step: null };
      void one.run.result.then((step) => (one.step = step));
      kept.set(id, one);
      return attach(id);
    },
    list: async ({ idPrefix = '' } = {}) =>
      (everloop.isListing ? [...kept] : [])
        .filter(([id]) => id.startsWith(idPrefix))
        .map(([id, one]) => summaryOf(id, one)),
    listPage: async (options = {}) => {
      const { limit = 100, cursor = '0', state } = options;
      const all = (await everloop.list(options)).filter((run) => !state || run.state === state);
      const end = Number(cursor) + limit;
      return { runs: all.slice(Number(cursor), end), cursor: end < all.length ? `${end}` : null };
    },
    counts: async () => {
      const states = [...kept].map(([id, one]) => summaryOf(id, one).state);
      const count = (state: string): number => states.filter((one) => one === state).length;
      return {
        running: count('running'),
        waiting: count('waiting'),
        completed: count('completed'),
        failed: 0,
        canceled: 0,
        terminated: 0,
        timed_out: 0,
      };
    },
    agents: async () => {
      const told = { worker: 'memory', taskQueue: 'memory' };
      const described = describeAgents(createRegistry({ agents }));
      return mergeAgents({ workers: [{ ...told, ...described }], silent: [] });
    },
    schedules: {
      create: unexpected,
      attach: (id) => {
        throw new UsageError('schedule_not_found', `No schedule ${id}.`);
      },
      list: async () => [],
    },
    tenants: { list: async () => [], show: unexpected, set: unexpected },
    setup: async () => ({ lackingAttributes: [], keys: null }),
    pushedEvents: async function* () {
      yield { kind: 'feed', feed: 'polled' } as const;
    },
    workers: async () => [
      { identity: '7@host/node-22/everloop-0/b1/d', takes: ['workflows'], lastContactAt: 9 },
    ],
    inbox: async () => {
      const items = [...kept].flatMap(([id, { agent, run, step }]) =>
        (step === null ? run.pending() : []).map((item) => ({ run: id, agent, task: '', item })),
      );
      return { items, silent: [], more: 0 };
    },
  };
  return everloop;
}

function handleOf(id: string, find: () => Promise<Kept>): RunHandle {
  const alive = async (): Promise<MemoryRun> => {
    const { run, step } = await find();
    if (step === null) return run;
    throw new UsageError(
      'run_ended',
      `Expected run \`${id}\` to be alive, got one that has ended.`,
    );
  };
  const handle: RunHandle = fakeRun(id, {
    status: async () => statusOf(await find()),
    stats: async () => (await find()).run.state.stats,
    view: async () => overviewOf(await find()),
    current: async () => null,
    links: async () => [],
    histories: async function* () {
      yield { executionId: 'first', history: { events: [] } };
      yield { executionId: 'second', history: { events: [] } };
    },
    attempts: async () => [],
    program: async ({ id: programId } = {}) => {
      const { run } = await find();
      const newest = run.program();
      if (programId === undefined || newest?.programId === programId) return newest;
      const events = run.events.filter((event) => {
        return 'programId' in event && event.programId === programId;
      });
      const before = events.find(({ type }) => type === 'agent:program:before');
      const after = events.find(({ type }) => type === 'agent:program:after');
      if (before?.type !== 'agent:program:before') return null;
      const ended = after?.type === 'agent:program:after' ? after : undefined;
      const whole = wholeSource(before.source, run.entries);
      return endedProgram({ before, after: ended }, whole);
    },
    programs: () =>
      listPrograms({
        events: async ({ from, limit }) => (await find()).run.events.slice(from, from + limit),
      }),
    transcript: async ({ from = 0, limit } = {}) =>
      (await find()).run.entries.slice(from, limit === undefined ? undefined : from + limit),
    events: async ({ from = 0, limit } = {}) =>
      (await find()).run.events.slice(from, limit === undefined ? undefined : from + limit),
    at: async (moment) => (await find()).run.at(moment),
    pending: async () => (await find()).run.pending(),
    answer: async (item, value) => ((await alive()).answer(item, value), { id: item }),
    decide: async (item, decision) => ((await alive()).decide(item, decision), { id: item }),
    send: async (text, options) => (await alive()).send(text, options),
    adjust: async (limits) => {
      const run = await alive();
      run.adjust(limits);
      return { limits: run.state.limits, paused: run.state.pausedAt !== null };
    },
    pause: async () => {
      (await alive()).pause();
      return { limits: [], paused: true };
    },
    resume: async () => {
      (await alive()).resume();
      return { limits: [], paused: false };
    },
    cancel: async (message) => (await alive()).cancel(message),
    result: async () => (await find()).run.result,
    step: async () => (await find()).step,
    async *stream() {
      const { bus, run } = await find();
      const pieces = bus.subscribe({});
      void run.result.then(pieces.unsubscribe);
      yield* pieces;
    },
    follow: (options) => followRun(handle, options),
    startedWith: async () => {
      const { agent, options } = await find();
      const { task = '', context, history, messageId } = options;
      return {
        agent,
        task: typeof task === 'string' ? { text: task } : task,
        ...defined({ context, history, messageId }),
      };
    },
  });
  return handle;
}

function summaryOf(id: string, { agent, run, step }: Kept): RunSummary {
  const live = run.pending().length > 0 ? 'waiting' : 'running';
  return {
    id,
    agent,
    task: '',
    status: '',
    state: step === null ? live : 'completed',
    parent: null,
    root: id,
    startedAt: new Date(0),
    closedAt: null,
  };
}

function overviewOf(one: Kept): RunOverview {
  const { run, step } = one;
  const status = { ...statusOf(one), ...(step !== null && { step }) };
  const tree = treeView(run.state, run.events.at(-1)?.at ?? 0);
  const pending = step === null ? run.pending() : [];
  return { ...tree, status, stats: run.state.stats, limits: run.state.limits, pending };
}

function statusOf({ run, step }: Kept): RunStatus {
  const { seq, iteration, runId } = run.state;
  const live = run.pending().length > 0 ? 'waiting' : 'running';
  return {
    version: seq,
    state: step === null ? live : 'ended',
    runId,
    agent: run.state.head.spec.name,
    iteration,
    waitsFor: [],
    usage: STEP.usage,
    unreadInputs: 0,
    link: 1,
    events: run.events.length,
    entries: run.entries.length,
  };
}
