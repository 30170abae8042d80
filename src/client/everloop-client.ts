/** The client: starts runs, finds them again and lists them. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithFirstExecutionRunId,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { randomUUID } from 'node:crypto';
import type { AgentEvent } from '../core/contract/events.ts';
import {
  agentNameOf,
  type ContextOf,
  type ContextOption,
  type TypedAgent,
  type ValueOf,
} from '../core/start/agent-types.ts';
import type { AgentInput, CompiledAgent } from '../core/contract/input.ts';
import type { FeedMark, PushedEvent } from '../core/streaming/chunk.ts';
import { EVAL_AGENT } from '../core/evaluation/eval-plan.ts';
import type { Json } from '../core/base/json.ts';
import { requireKnown } from '../core/text/option-names.ts';
import { summaryLine } from '../core/text/summary.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import {
  checkedNewRunId,
  checkedRunId,
  startInput,
  type StartParts,
} from '../core/start/start-input.ts';
import { unwrap } from '../core/run/unwrap.ts';
import { compiledFrom } from '../core/program-text/compiled.ts';
import { pushedOfAll } from './streaming/pushed-events.ts';
import { openAhead } from './streaming/run-stream.ts';
import { defined } from '../core/base/defined.ts';
import { readInbox, type InboxOptions, type InboxView } from './inbox.ts';
import { createKeptLinks } from './reading/kept-links.ts';
import { readWith, type HistoryReader } from './reading/run-reader.ts';
import { createRunHandle, type RunHandleParts } from './create-run-handle.ts';
import { evalPlan, type EvalInput } from './evals.ts';
import { startFork, type ForkSourceOptions, type ForkStartOptions } from './forks.ts';
import type { RunHandle } from './run-handle.ts';
import {
  createAttributeUse,
  createRunAttributes,
  type WithRunAttributes,
} from './connection/search-attributes.ts';
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
import { describeRun } from './connection/own-run.ts';
import { coded } from './connection/service-errors.ts';
import { createConversation, type Conversation, type ConversationOptions } from './conversation.ts';
import {
  listConversations,
  type ConversationListOptions,
  type ConversationPage,
} from './list-conversations.ts';
import { readAgents, type AgentsView } from './agents.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import { memoOf, requireCompiled } from '../core/start/start-parts.ts';
import { readSetup, type SetupView } from './setup.ts';
import { idInTenant } from './tenants/tenant-id.ts';
import { createTenants, type Tenants } from './tenants/tenants.ts';
import { readWorkers, type WorkerSummary } from './workers.ts';

/** What a run is started with. */
export interface StartOptions extends Omit<StartParts, 'compiled' | 'compiles'> {
  /**
   * The id of the run; default `{agent}-{uuid}`. Everyone who may list runs reads it, also with keys,
   * so a warning tells you of an id that looks like a secret. With `tenant`, the id begins with
   * `{tenant}:`, which is put before an id without a `:`.
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
  'tenant' | 'task' | 'context' | 'limits' | 'model' | 'id' | 'ifExists'
>;

const COMPILE_OPTIONS: { readonly [Name in keyof CompileOptions]-?: true } = {
  tenant: true,
  task: true,
  context: true,
  limits: true,
  model: true,
  id: true,
  ifExists: true,
};

const START_OPTIONS: { readonly [Name in keyof StartOptions]-?: true } = {
  ...COMPILE_OPTIONS,
  history: true,
  conversation: true,
  messageId: true,
  by: true,
  trace: true,
  memory: true,
  onEvent: true,
  settings: true,
  toolChoice: true,
  stream: true,
};

/** What a run of `Agent` is started with: the context is of the type that the definition says. */
export type StartOptionsOf<Agent> = Omit<StartOptions, 'context'> & ContextOption<ContextOf<Agent>>;

/** The task of a run of `Agent`, or all that it is started with. */
export type AgentRunInput<Agent> =
  {} extends ContextOption<ContextOf<Agent>>
    ? string | StartOptionsOf<Agent>
    : StartOptionsOf<Agent>;

/** Which events of all runs are wanted. */
export interface PushedOptions {
  /** Default: all. */
  readonly types?: readonly AgentEvent['type'][];
}

/** The client of a fleet of agents. */
export interface Everloop {
  /**
   * Starts a run; settles when the service has accepted it. Of a definition, which a worker must
   * serve, context and value have its types; so they have of a name with the type of the definition.
   *
   * @example
   * const { sentiment } = unwrap(await (await everloop.start(review, { context })).result());
   * const run = await everloop.start<typeof review>('review', { context });
   * @throws UsageError `invalid_input` for input that no worker could start with, `id_in_use`.
   */
  start<Agent extends TypedAgent = TypedAgent>(
    agent: Agent | string,
    options: StartOptionsOf<Agent>,
  ): Promise<RunHandle<ValueOf<Agent>>>;
  /**
   * Runs an agent to its end, and returns its value: `start`, `result` and `unwrap` in one. `input`
   * is the task, or the options of a start. If this process ends before the run, the run goes on.
   *
   * @example
   * const { sentiment } = await everloop.run(review, { context });
   * @throws UsageError as `start`; `run_failed` when the run does not succeed.
   */
  run<Agent extends TypedAgent = TypedAgent>(
    agent: Agent | string,
    input: AgentRunInput<Agent>,
  ): Promise<ValueOf<Agent>>;
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
   * Starts a run that begins from a moment of another one, with edits, another model, limits, words or
   * definition. The source is not touched: it may be alive, ended, a child or a fork itself. Settles
   * when the service has accepted it; a moment that is not there ends the fork, as its Step says.
   *
   * @throws UsageError `fork_effects` without `effects`, if the source made calls after the moment that
   * are not `read`; `invalid_input`, `id_in_use`, `run_not_found`, `not_an_agent`.
   * @example
   * const fork = await everloop.fork({ run: 'clerk-7', at: { iteration: 7 } }, {
   *   edits: [{ entry: 12, text: 'Refund 10, not 100' }], effects: 'reuse',
   * });
   */
  fork(source: ForkSourceOptions, options?: ForkStartOptions): Promise<RunHandle>;
  /**
   * Starts an eval: recorded moments of runs, or tasks, each continued with each variant, so many
   * times. It is one durable run, whose limits are the budget of all; its value is for `evalResult`.
   * It is of the tenant of the recorded runs, which must be the same.
   *
   * @throws UsageError `invalid_input` with all problems, such as variants that differ in nothing;
   * `run_not_found`, `id_in_use`.
   */
  evaluate(
    input: EvalInput,
    options?: Pick<StartOptions, 'id' | 'limits' | 'onEvent' | 'tenant'>,
  ): Promise<RunHandle>;
  /**
   * A conversation with an agent: one long-lived run, whose transcript is its memory. Does not call the
   * service; the first message begins it.
   *
   * @example
   * const chat = everloop.conversation('concierge', { id: 'guest-42' });
   * const turn = await chat.say('A table for two, please.');
   * for await (const update of turn.follow()) render(update);
   * @throws UsageError `invalid_input` for an id that no conversation can have.
   */
  conversation<Agent extends TypedAgent = TypedAgent>(
    agent: Agent | string,
    options?: ConversationOptions,
  ): Conversation<ValueOf<Agent>>;
  /**
   * The handle of an existing run. Does not call the service.
   * @throws UsageError `invalid_input` for an id that no run can have.
   */
  attach(id: string): RunHandle;
  /**
   * A page of conversations, newest first: of a person, if the ids of his begin with his name. For the
   * list beside a chat. Lags behind by about a second.
   */
  conversations(options?: ConversationListOptions): Promise<ConversationPage>;
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
  /** What is set for tenants, and how they stand. */
  readonly tenants: Tenants;
  /** Whether the namespace has the search attributes of runs, and which keys this client has. */
  setup(): Promise<SetupView>;
  /**
   * What waits for people, in all runs: one question to the service, for thousands of runs. Lags
   * behind the runs by about a second.
   */
  inbox(options?: InboxOptions): Promise<InboxView>;
  /** Schedules of the service, which start runs by the clock. */
  readonly schedules: Schedules;
}

/** What {@link createEverloop} takes. */
export interface EverloopParts extends RunHandleParts {
  /** Task queue of the workers; default `everloop`. */
  readonly taskQueue?: string;
  /** The ids of the keys that `client` encrypts and reads with; default: none. */
  readonly keyIds?: readonly string[];
  /** Reads runs whose workers do not answer; default: nothing does. Its owner closes it. */
  readonly reader?: HistoryReader;
  /** The traceparent of the span that is active when a run is started; default: none. */
  readonly traceparent?: () => string | undefined;
}

/** The default task queue of clients and workers. */
export const DEFAULT_TASK_QUEUE = 'everloop';

/** A client on a connection that the caller owns and closes. */
export function createEverloop(options: EverloopParts): Everloop {
  const parts: EverloopParts = { kept: createKeptLinks(), ...options };
  const { client, taskQueue = DEFAULT_TASK_QUEUE } = parts;
  if (parts.reader !== undefined) readWith(client, parts.reader);
  const withAttributes = createAttributeUse();
  const attributesOf = createRunAttributes(withAttributes);
  const attach = (id: string): RunHandle => createRunHandle(checkedRunId(id), parts);
  const hasBlobs = (): boolean => client.options.loadedDataConverter.externalStorage !== undefined;
  const startNamed: StartNamed = async (agent, options) => {
    const traced = continued(options, parts.traceparent?.());
    const input = startInput(agent, traced, sizesOf({ blobs: hasBlobs() }));
    const workflowId = idOf(agent, options);
    const startWith = (attributes: SearchAttributePair[]): Promise<StartedRun> =>
      client.workflow.start(AGENT_WORKFLOW, {
        ...startOf(input),
        workflowId,
        taskQueue,
        typedSearchAttributes: attributes,
      });
    try {
      const { firstExecutionRunId: runId } = await attributesOf(input, startWith);
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
  const start: StartAgent = async (agent, options) => {
    requireKnown(options, START_OPTIONS, '`start`');
    return startNamed(agentNameOf(agent), options);
  };
  const list: Everloop['list'] = (options = {}) =>
    withAttributes((has) => listRuns(client, options, has));
  const { traceparent } = parts;
  const conversing = { client, taskQueue, attributesOf, attach, hasBlobs, traceparent };
  return coded<Everloop>({
    attach,
    conversations: (options = {}) =>
      listConversations((page) => withAttributes((has) => listPage(client, page, has)), options),
    conversation: ((agent, talk) =>
      coded(createConversation(conversing, agentNameOf(agent), talk))) as Everloop['conversation'],
    start: start as Everloop['start'],
    run: runWith(start),
    ...forkMethods(parts, attributesOf, startNamed),
    schedules: createSchedules({ client, taskQueue, attributesOf, attach, list }),
    ...compileMethods(startNamed),
    list,
    workers: (name = taskQueue) => readWorkers(client, name),
    agents: () => readAgents(parts.chunks),
    tenants: createTenants(client, taskQueue),
    setup: () => readSetup(client, parts.keyIds),
    pushedEvents: ({ types } = {}) => pushedOfAll(parts.chunks, types),
    listPage: (options = {}) => withAttributes((has) => listPage(client, options, has)),
    counts: (options = {}) => withAttributes((has) => countRuns(client, options, has)),
    inbox: (options = {}) =>
      withAttributes((hasAttributes) => readInbox(client, { ...options, hasAttributes })),
  });
}

/** The methods of programs that an agent has written. */
function compileMethods(startNamed: StartNamed): Pick<Everloop, 'compileAgent' | 'runCompiled'> {
  return {
    compileAgent: async (agent, options = {}) => {
      requireKnown(options, COMPILE_OPTIONS, '`compileAgent`');
      return programOf(await startNamed(agent, { ...options, compiles: true }));
    },
    runCompiled: async (compiled, options = {}) => {
      requireCompiled(compiled);
      requireKnown(options, COMPILE_OPTIONS, '`runCompiled`');
      return startNamed(compiled.agent, { ...options, compiled });
    },
  };
}

const EVALUATE_OPTIONS = { id: true, limits: true, onEvent: true, tenant: true } as const;

/** Starts a run of an agent. */
type StartAgent = (agent: TypedAgent | string, options: StartOptions) => Promise<RunHandle>;

/** The method `run` of a client that starts runs with `start`. */
export function runWith(start: StartAgent): Everloop['run'] {
  const run = async (
    agent: TypedAgent | string,
    input: string | StartOptions,
  ): Promise<unknown> => {
    const started = await start(agent, typeof input === 'string' ? { task: input } : input);
    return unwrap(await started.result());
  };
  return run as Everloop['run'];
}

/** Starts a run of the agent with this name. */
type StartNamed = (
  agent: string,
  options: StartOptions & Pick<StartParts, 'compiled' | 'compiles'>,
) => Promise<RunHandle>;

/** The methods that begin from other runs. */
function forkMethods(
  parts: EverloopParts,
  attributesOf: WithRunAttributes,
  start: StartNamed,
): Pick<Everloop, 'fork' | 'evaluate'> {
  const { client } = parts;
  return {
    fork: async (source, options = {}) => {
      const traced = continued(options, parts.traceparent?.());
      const { workflowId, runId } = await startFork({ client, attributesOf }, source, traced);
      return createRunHandle(workflowId, parts, { runId });
    },
    evaluate: async (input, options = {}) => {
      requireKnown(options, EVALUATE_OPTIONS, '`evaluate`');
      const { plan, tenant } = await evalPlan(client, input, options.tenant);
      const context = { plan: plan as unknown as Json };
      return start(EVAL_AGENT, { ...options, ...defined({ tenant }), context });
    },
  };
}

type StartedRun = WorkflowHandleWithFirstExecutionRunId;

/** The start of a workflow, without its place and its attributes. */
function startOf(input: AgentInput): Pick<WorkflowStartOptions, 'priority'> & {
  readonly args: [AgentInput];
  readonly memo: Record<string, unknown>;
  readonly staticSummary: string;
  readonly workflowIdReusePolicy: 'REJECT_DUPLICATE';
} {
  const { agent, task, tenant } = input;
  return {
    args: [input],
    memo: memoOf(input),
    staticSummary: summaryLine(`${agent}: ${task.text}`),
    // Another run under the id of a finished one would hide its Step.
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    // Activities and children inherit it.
    ...(tenant === undefined ? undefined : { priority: { fairnessKey: tenant } }),
  };
}

/** The program that a run has answered with; waits for its end. */
async function programOf(run: RunHandle): Promise<CompiledAgent> {
  const step = await run.result();
  unwrap(step);
  const [entries, events] = [await run.transcript(), await run.events()];
  return compiledFrom({ step, entries, events });
}

function idOf(agent: string, { id, tenant }: StartOptions): string {
  if (id !== undefined) warnOfId(agent, checkedRunId(id));
  const own = id ?? checkedRunId(`${agent}-${randomUUID()}`);
  return checkedNewRunId(tenant === undefined ? own : idInTenant('run', tenant, own), tenant);
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
  const { memo = {} } = await describeRun(client, id);
  const found = memoText(memo, 'agent');
  if (found === agent) return;
  throw new UsageError(
    'id_in_use',
    `Expected run \`${id}\` to be of agent \`${agent}\`, got one of \`${found}\`. Choose another id.`,
  );
}
