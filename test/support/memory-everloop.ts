/** A client whose runs are in memory: the loop is the real one, the service is a map. */
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { Everloop, StartOptions } from '../../src/client/everloop-client.ts';
import { followRun } from '../../src/client/follow-run.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { RunStatus } from '../../src/core/contract/messages.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { createChunkBus, type ChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { fakeRun, STEP } from '../cli/cli-fixture.ts';

/** The client, and what runs were started with. */
export interface MemoryEverloop extends Pick<Everloop, 'start' | 'attach' | 'list'> {
  readonly started: readonly StartOptions[];
  /** Forgets the run, as the service does after its retention. */
  forget(id: string): void;
  /** Whether `list` knows of runs; else it lags behind. */
  isListing: boolean;
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
    start: async (name, options) => {
      const agent = agents.find((one) => one.name === name);
      const { id = `${name}-${kept.size}` } = options;
      if (agent === undefined) throw new Error(`Expected one of the agents, got ${name}.`);
      if (kept.has(id)) throw new UsageError('id_in_use', `${id} is in use.`);
      started.push(options);
      const bus = createChunkBus();
      const { onEvent: _callbacks, ...given } = options;
      const run = startInMemory({ agent, ...given, chunks: bus });
      const one: Kept = { agent: name, options, run, bus, step: null };
      void run.result.then((step) => (one.step = step));
      kept.set(id, one);
      return attach(id);
    },
    list: async ({ idPrefix = '' } = {}) =>
      (everloop.isListing ? [...kept] : [])
        .filter(([id]) => id.startsWith(idPrefix))
        .map(([id, { agent }]) => ({
          id,
          agent,
          task: '',
          status: '',
          state: 'running' as const,
          parent: null,
          root: id,
          startedAt: new Date(0),
          closedAt: null,
        })),
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
    transcript: async () => (await find()).run.entries,
    events: async () => (await find()).run.events,
    pending: async () => (await find()).run.pending(),
    answer: async (item, value) => ((await alive()).answer(item, value), { id: item }),
    decide: async (item, decision) => ((await alive()).decide(item, decision), { id: item }),
    send: async (text, options) => (await alive()).send(text, options),
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
      const { task = '', context, history } = options;
      return {
        agent,
        task: typeof task === 'string' ? { text: task } : task,
        ...(context === undefined ? {} : { context }),
        ...(history === undefined ? {} : { history }),
      };
    },
  });
  return handle;
}

function statusOf({ run, step }: Kept): RunStatus {
  const { seq, iteration, runId } = run.state;
  const live = run.pending().length > 0 ? 'waiting' : 'running';
  return {
    version: seq,
    state: step === null ? live : 'ended',
    runId,
    agent: '',
    iteration,
    waitsFor: [],
    usage: STEP.usage,
    unreadInputs: 0,
    link: 1,
  };
}
