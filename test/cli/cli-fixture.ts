/** The command line with a process of the test's own: what it writes, and a client of fakes. */
import { EventEmitter } from 'node:events';
import type { ConnectedEverloop, ConnectOptions } from '../../src/client/connect.ts';
import type { Everloop, StartOptions } from '../../src/client/everloop-client.ts';
import { readEvents } from '../../src/client/events/follow-events.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { CliIo } from '../../src/cli/terminal/io.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { EMPTY_STATS } from '../../src/core/contract/stats.ts';

/** What a command line did. */
export interface CliResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What clients were opened with. */
  readonly connects: readonly ConnectOptions[];
}

/** How a command line is run; everything has a default. */
export interface CliSetup {
  readonly env?: CliIo['env'];
  readonly cwd?: string;
  readonly isTty?: boolean;
  readonly stdin?: readonly string[];
  readonly everloop?: Partial<Everloop>;
  readonly io?: Partial<CliIo>;
}

/** Runs a command line in this process. */
export async function cli(argv: readonly string[], setup: CliSetup = {}): Promise<CliResult> {
  const written = { stdout: '', stderr: '' };
  const connects: ConnectOptions[] = [];
  const sink = (name: 'stdout' | 'stderr'): CliIo['stdout'] => ({
    isTTY: setup.isTty ?? false,
    write: (text) => {
      written[name] += text;
    },
  });
  const refuse = (): never => {
    throw new Error('Expected no worker to be started.');
  };
  const exitCode = await runCli(argv, {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: setup.env ?? { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    cwd: setup.cwd ?? '/nowhere',
    signals: Object.assign(new EventEmitter(), { exit: () => undefined }),
    async *lines() {
      yield* setup.stdin ?? [];
    },
    openLines: () => ({
      isTerminal: setup.isTty ?? false,
      lines: (async function* () {
        yield* setup.stdin ?? [];
      })(),
      prompt: () => undefined,
      close: () => undefined,
    }),
    openStdio: () => {
      throw new Error('Expected no protocol.');
    },
    connect: async (options) => {
      connects.push(options);
      return fakeClient(setup.everloop ?? {});
    },
    connectDeployment: refuse,
    local: refuse,
    runWorker: refuse,
    folderQueue: async () => 'folder',
    ...setup.io,
  });
  return { exitCode, ...written, connects };
}

/** A client that knows what the test gives it, and nothing else. */
function fakeClient(everloop: Partial<Everloop>): ConnectedEverloop {
  const unexpected = (): never => {
    throw new Error('Expected another call of the client.');
  };
  return {
    start: unexpected,
    run: unexpected,
    fork: unexpected,
    evaluate: unexpected,
    attach: unexpected,
    conversation: unexpected,
    conversations: unexpected,
    list: unexpected,
    listPage: unexpected,
    counts: unexpected,
    workers: unexpected,
    agents: unexpected,
    setup: unexpected,
    tenants: { list: unexpected, show: unexpected, set: unexpected },
    pushedEvents: unexpected,
    inbox: unexpected,
    compileAgent: unexpected,
    runCompiled: unexpected,
    schedules: { create: unexpected, attach: unexpected, list: unexpected },
    ...everloop,
    address: '127.0.0.1:1',
    namespace: 'default',
    close: () => Promise.resolve(),
  };
}

/** The trace of every fake run. */
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** The method `start` of a client, as a function of the agent's name. */
export function starting(
  start: (agent: string, options: StartOptions) => Promise<RunHandle>,
): Everloop['start'] {
  return ((agent: string, options: StartOptions) => start(agent, options)) as Everloop['start'];
}

/** A handle that knows what the test gives it, and nothing else. */
export function fakeRun(id: string, parts: Partial<RunHandle> = {}): RunHandle {
  const unexpected = (): never => {
    throw new Error('Expected another call of the handle.');
  };
  const run: RunHandle = {
    id,
    status: unexpected,
    summary: unexpected,
    traceId: () => Promise.resolve(TRACE_ID),
    stats: unexpected,
    view: unexpected,
    current: unexpected,
    links: unexpected,
    histories: unexpected,
    at: unexpected,
    scratchpad: unexpected,
    attempts: unexpected,
    transcript: unexpected,
    events: unexpected,
    followEvents: ({ signal = new AbortController().signal, ...options } = {}) =>
      readEvents(run, options, signal),
    async *pushedEvents() {
      yield { kind: 'feed', feed: 'polled' };
    },
    program: unexpected,
    programs: unexpected,
    pending: unexpected,
    tree: unexpected,
    child: unexpected,
    answer: unexpected,
    decide: unexpected,
    revoke: unexpected,
    retry: unexpected,
    resultOrPending: unexpected,
    send: unexpected,
    adjust: unexpected,
    pause: unexpected,
    resume: unexpected,
    cancel: unexpected,
    result: unexpected,
    step: unexpected,
    stream: unexpected,
    streamToken: unexpected,
    follow: unexpected,
    startedWith: unexpected,
    ...parts,
  };
  return run;
}

/** A Step as a run of two iterations leaves it. */
export const STEP: Step = {
  v: 1,
  runId: 'execution-1',
  agent: 'clerk',
  mode: 'react',
  status: 'success',
  value: 'Vienna.',
  reason: 'answered',
  signature: null,
  fieldDescriptions: {},
  usage: {
    inputTokens: 200,
    outputTokens: 20,
    totalTokens: 220,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    costMicroUsd: 1_500,
    modelCalls: 2,
    modelCallRetries: 0,
    toolCalls: 3,
    durationMs: 3_200,
  },
  stats: EMPTY_STATS,
  memory: {},
  notes: [],
  iterations: 2,
  children: [],
  trace: {
    workflowId: 'clerk-1',
    executionId: 'execution-1',
    firstExecutionId: 'execution-1',
    unreadInputs: [],
    chain: { links: 1, events: 5, entries: 2, inputs: 0 },
  },
};
