/** The client: starts runs, finds them again and lists them. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import type { AgentEvent } from '../core/contract/events.ts';
import type { AgentInput, CompiledAgent } from '../core/contract/input.ts';
import type { FeedMark, PushedEvent } from '../core/streaming/chunk.ts';
import { clip } from '../core/text/cut.ts';
import { summaryLine } from '../core/text/summary.ts';
import { shown } from '../core/text/shown.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import { checkedRunId, startInput, type StartParts } from '../core/start/start-input.ts';
import { unwrap } from '../core/run/unwrap.ts';
import { compiledFrom, isCompiled } from '../core/program-text/compiled.ts';
import { pushedOfAll } from './streaming/pushed-events.ts';
import { openAhead } from './streaming/run-stream.ts';
import { defined } from '../core/base/defined.ts';
import { readInbox, type InboxOptions, type InboxView } from './inbox.ts';
import { createKeptLinks } from './reading/kept-links.ts';
import { createRunHandle, type RunHandleParts } from './create-run-handle.ts';
import type { RunHandle } from './run-handle.ts';
import { attributesOfRun, createAttributeUse } from './search-attributes.ts';
import {
  countRuns,
  listPage,
  listRuns,
  memoText,
  type CountOptions,
  type ListOptions,
  type PageOptions,
  type RunCounts,
  type RunPage,
  type RunSummary,
} from './run-list.ts';
import { unreadableError } from '../protection/key-errors.ts';
import { warnOfId } from '../protection/warn-of-id.ts';
import { tolerant } from './connection/open-connection.ts';
import { readAgents, type AgentsView } from './agents.ts';
import { readSetup, type SetupView } from './setup.ts';
import { readWorkers, type WorkerSummary } from './workers.ts';

/** What a run is started with. */
export interface StartOptions extends Omit<StartParts, 'compiled' | 'compiles'> {
  /**
   * The id of the run; default `{agent}-{uuid}`. Everyone who may list runs reads it, also with keys,
   * so a warning tells you of an id that looks like a secret.
   */
  readonly id?: string;
  /** When `id` is in use: `fail` (default), or `attach` to the run that has it. */
  readonly ifExists?: 'fail' | 'attach';
  /**
   * True: the stream of the run is open when `start` returns, and belongs to the first `stream()` or
   * `follow()` of the handle. Unread for a minute, it is closed. Default false: both open their own,
   * which has the text of the reply that is being written as well.
   */
  readonly stream?: boolean;
}

/** Options for a run that compiles an agent, and for a run of a compiled agent. */
export type CompileOptions = Pick<
  StartOptions,
  'task' | 'context' | 'limits' | 'model' | 'id' | 'ifExists'
>;

/** Which events of all runs are wanted. */
export interface PushedOptions {
  /** Default: all. */
  readonly types?: readonly AgentEvent['type'][];
}

/** The client of a fleet of agents. */
export interface Everloop {
  /**
   * Starts a run; settles when the service has accepted it.
   * @throws UsageError `invalid_input` for input that no worker could start with, `id_in_use`.
   */
  start(agent: string, options: StartOptions): Promise<RunHandle>;
  /**
   * Runs an agent of mode `lisp` once, and keeps the program whose answer was accepted, with the
   * definitions that it uses.
   * @throws UsageError `run_failed` when the run does not succeed, `not_compilable` when the answer
   * did not come from its last program.
   */
  compileAgent(agent: string, options?: CompileOptions): Promise<CompiledAgent>;
  /**
   * Starts the program of a compiled agent, without a model. It is a normal run: tools are
   * activities, and questions wait for people. A program error becomes the reason of its Step.
   * @throws UsageError as `start`.
   */
  runCompiled(compiled: CompiledAgent, options?: CompileOptions): Promise<RunHandle>;
  /**
   * The handle of an existing run. Does not call the service.
   * @throws UsageError `invalid_input` for an id that no run can have.
   */
  attach(id: string): RunHandle;
  /** Runs, newest first. */
  list(options?: ListOptions): Promise<readonly RunSummary[]>;
  /** A page of the runs, newest first, and the cursor of the next. */
  listPage(options?: PageOptions): Promise<RunPage>;
  /** How many runs there are in each state. Of an agent: those that have the search attributes. */
  counts(options?: CountOptions): Promise<RunCounts>;
  /** The workers of a task queue, by default of this client's, as the service has heard of them. */
  workers(taskQueue?: string): Promise<readonly WorkerSummary[]>;
  /**
   * The agents that workers serve, as plain data: those of the workers whose provisional text this
   * client reads, whatever their task queue. Takes at most ten seconds.
   * @throws UsageError `no_stream` without a source that knows workers; `stream_token` when all
   * workers refuse the token.
   */
  agents(): Promise<AgentsView>;
  /**
   * The events that workers push, of all runs, at least once and with gaps, as `pushedEvents` of a
   * run; with `types`, only events of these types, at most 50. Ends only when its reader leaves.
   * @throws UsageError `stream_token` when all workers refuse the token.
   */
  pushedEvents(options?: PushedOptions): AsyncIterable<PushedEvent | FeedMark>;
  /** Whether the namespace has the search attributes of runs, and which keys this client has. */
  setup(): Promise<SetupView>;
  /**
   * What waits for people, in all runs: one question to the service, for thousands of runs. Lags
   * behind the runs by about a second.
   */
  inbox(options?: InboxOptions): Promise<InboxView>;
}

/** What {@link createEverloop} takes. */
export interface EverloopParts extends RunHandleParts {
  /** Task queue of the workers; default `everloop`. */
  readonly taskQueue?: string;
  /** The ids of the keys that `client` encrypts and reads with; default: none. */
  readonly keyIds?: readonly string[];
  /** The traceparent of the span that is active when a run is started; default: none. */
  readonly traceparent?: () => string | undefined;
}

/** The default task queue of clients and workers. */
export const DEFAULT_TASK_QUEUE = 'everloop';

const MEMO_TASK_CHARACTERS = 200;

/** A client on a connection that the caller owns and closes. */
export function createEverloop(options: EverloopParts): Everloop {
  const parts: EverloopParts = { kept: createKeptLinks(), ...options };
  const { client, taskQueue = DEFAULT_TASK_QUEUE } = parts;
  const withAttributes = createAttributeUse();
  const attach = (id: string): RunHandle => createRunHandle(checkedRunId(id), parts);
  const start = async (
    agent: string,
    options: StartOptions & Pick<StartParts, 'compiled' | 'compiles'>,
  ): Promise<RunHandle> => {
    const blobs = client.options.loadedDataConverter.externalStorage !== undefined;
    const traced = continued(options, parts.traceparent?.());
    const input = startInput(agent, traced, sizesOf({ blobs }));
    const workflowId = idOf(agent, options);
    const { text } = input.task;
    const startWith = (hasAttributes: boolean): Promise<WorkflowHandleWithFirstExecutionRunId> =>
      client.workflow.start(AGENT_WORKFLOW, {
        workflowId,
        taskQueue,
        args: [input],
        memo: memoOf(input),
        staticSummary: summaryLine(`${agent}: ${text}`),
        // Another run under the id of a finished one would hide its Step.
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        typedSearchAttributes: hasAttributes ? attributesOfRun(agent) : [],
      });
    try {
      const { firstExecutionRunId: runId } = await withAttributes(startWith);
      const source = options.stream === true ? parts.chunks : undefined;
      const opened = source && openAhead(source, runId);
      return createRunHandle(workflowId, parts, { runId, ...defined({ opened }) });
    } catch (error) {
      const isKnown = error instanceof WorkflowExecutionAlreadyStartedError;
      if (!isKnown) throw startError(error, workflowId);
      if (options.ifExists !== 'attach') throw idInUse(workflowId);
      await assertSameAgent(client, workflowId, agent);
      return attach(workflowId);
    }
  };
  return {
    attach,
    start,
    compileAgent: async (agent, options = {}) =>
      programOf(await start(agent, { ...options, compiles: true })),
    runCompiled: async (compiled, options = {}) => {
      requireCompiled(compiled);
      return start(compiled.agent, { ...options, compiled });
    },
    list: (options = {}) => withAttributes((has) => listRuns(client, options, has)),
    workers: (name = taskQueue) => readWorkers(client, name),
    agents: () => readAgents(parts.chunks),
    setup: () => readSetup(client, parts.keyIds),
    pushedEvents: ({ types } = {}) => pushedOfAll(parts.chunks, types),
    listPage: (options = {}) => withAttributes((has) => listPage(client, options, has)),
    counts: (options = {}) => withAttributes((has) => countRuns(client, options, has)),
    inbox: (options = {}) =>
      withAttributes((hasAttributes) => readInbox(client, { ...options, hasAttributes })),
  };
}

function requireCompiled(compiled: CompiledAgent): void {
  if (isCompiled(compiled)) return;
  throw new UsageError(
    'invalid_input',
    `Expected what \`compileAgent\` returns, got ${shown(compiled)}. Compile the agent first.`,
  );
}

/** The program that a run has answered with; waits for its end. */
async function programOf(run: RunHandle): Promise<CompiledAgent> {
  const step = await run.result();
  unwrap(step);
  const [entries, events] = [await run.transcript(), await run.events()];
  return compiledFrom({ step, entries, events });
}

function idOf(agent: string, { id }: StartOptions): string {
  if (id !== undefined) warnOfId(agent, checkedRunId(id));
  return id ?? checkedRunId(`${agent}-${randomUUID()}`);
}

/** What lists of runs show, and what the trace of a run follows from. */
function memoOf({ agent, task, trace }: AgentInput): Record<string, unknown> {
  const shownTask = clip(task.text, MEMO_TASK_CHARACTERS);
  return defined({ agent, task: shownTask, traceparent: trace?.parent });
}

/** `options`, whose trace continues that of the caller, unless they name another. */
function continued<Options extends Pick<StartParts, 'trace'>>(
  options: Options,
  parent: string | undefined,
): Options {
  if (parent === undefined || options.trace?.parent !== undefined) return options;
  return { ...options, trace: { ...options.trace, parent } };
}

function startError(error: unknown, id: string): unknown {
  return unreadableError(error, `to start run \`${id}\``) ?? error;
}

function idInUse(id: string): UsageError {
  return new UsageError(
    'id_in_use',
    `Expected a free run id, got \`${id}\`, which another run has. Choose another id, or start with \`ifExists: 'attach'\`.`,
  );
}

/** Attaching to a run of another agent is a mistake. */
async function assertSameAgent(client: Client, id: string, agent: string): Promise<void> {
  const { memo = {} } = await tolerant(client).workflow.getHandle(id).describe();
  const found = memoText(memo, 'agent');
  if (found === agent) return;
  throw new UsageError(
    'id_in_use',
    `Expected run \`${id}\` to be of agent \`${agent}\`, got one of \`${found}\`. Choose another id.`,
  );
}
