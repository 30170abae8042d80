/** Time travel and forks: a client names a moment of a run, and a worker gets the state of it. */
import { randomUUID } from 'node:crypto';
import {
  ApplicationFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type Client,
} from '@temporalio/client';
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import type { UsageCode } from '../core/base/usage-codes.ts';
import { usageCodes } from '../core/base/usage-codes.ts';
import { defined } from '../core/base/defined.ts';
import { forkId, momentId } from '../core/base/ids.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { ForkOptions, RunMoment } from '../core/base/fork.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { AGENT_WORKFLOW, MOMENT_WORKFLOW } from '../core/contract/messages.ts';
import { isMoment, momentText, readFork } from '../core/fork/read-fork.ts';
import { changingCalls, noEffectsText } from '../core/fork/recorded-calls.ts';
import type { StateView } from '../core/fork/state-view.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import {
  checkedNewRunId,
  checkedRunId,
  startInput,
  type StartParts,
} from '../core/start/start-input.ts';
import { tenantOfId } from '../core/tenant/tenant.ts';
import { idInTenant } from './tenants/tenant-id.ts';
import { clip } from '../core/text/cut.ts';
import { requireKnown } from '../core/text/option-names.ts';
import { summaryLine } from '../core/text/summary.ts';
import { unreadableError } from '../protection/key-errors.ts';
import { warnOfId } from '../protection/warn-of-id.ts';
import { describeRun } from './connection/own-run.ts';
import { noWorker } from './connection/service-calls.ts';
import { memoText } from './run-list.ts';
import type { WithRunAttributes } from './connection/search-attributes.ts';
import { readWorkers } from './workers.ts';

/** The moment of a run at which a fork begins. */
export interface ForkSourceOptions {
  /** The id of the run: alive or ended, of any kind, a child as well. */
  readonly run: string;
  /** Default `latest`. */
  readonly at?: RunMoment;
}

/** How a fork differs from its source, and how it is started. */
export interface ForkStartOptions
  extends
    ForkOptions,
    Pick<StartParts, 'task' | 'context' | 'limits' | 'model' | 'onEvent' | 'trace'> {
  /** The id of the fork. Default: that of the source's root, `-fork-` and eight digits. */
  readonly id?: string;
  /** Another agent than the source's; with `definition: 'current'`. */
  readonly agent?: string;
}

const SOURCE_OPTIONS: { readonly [Name in keyof ForkSourceOptions]-?: true } = {
  run: true,
  at: true,
};

const FORK_OPTIONS: { readonly [Name in keyof ForkStartOptions]-?: true } = {
  edits: true,
  definition: true,
  instructions: true,
  effects: true,
  stats: true,
  task: true,
  context: true,
  limits: true,
  model: true,
  onEvent: true,
  trace: true,
  id: true,
  agent: true,
};

/** How long a worker may take for a moment. */
const MOMENT_MS = 120_000;

/** After so long without an answer, the pollers of the queue are looked at. */
const SILENCE_MS = 5_000;

/**
 * The run `id` as it stood at `moment`.
 *
 * @throws UsageError `fork_moment`, `history_gone`, `replay_failed`, `fork_workflows`,
 * `state_too_large`, `run_not_found`, `not_an_agent`, `keys_missing`, `no_worker`.
 */
export async function viewMoment(
  client: Client,
  id: string,
  moment: RunMoment,
): Promise<StateView> {
  if (!isMoment(moment)) throw new UsageError('invalid_input', momentText(moment));
  const { taskQueue, tenant } = await describeSource(client, id);
  const handle = await client.workflow.start(MOMENT_WORKFLOW, {
    // Below the run: its keys encrypt what is seen, and `forget` deletes it with the run.
    workflowId: momentId(id, randomUUID().slice(0, 8)),
    taskQueue,
    args: [{ source: { workflowId: id }, at: moment }],
    workflowExecutionTimeout: MOMENT_MS,
    ...(tenant === undefined ? undefined : { priority: { fairnessKey: tenant } }),
  });
  const ended = new AbortController();
  const silent = async (): Promise<never> => {
    await untilSilent(ended.signal);
    const workers = await readWorkers(client, taskQueue);
    if (workers.length > 0) return new Promise(() => undefined);
    await handle.terminate('no worker').catch(() => undefined);
    throw noWorker(id);
  };
  try {
    const result = handle.result() as Promise<unknown>;
    return (await Promise.race([result, silent()])) as StateView;
  } catch (error) {
    throw momentError(error, id);
  } finally {
    ended.abort();
  }
}

/** Settles after {@link SILENCE_MS}; never once there was an answer. */
function untilSilent(answered: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SILENCE_MS);
    answered.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

function momentError(error: unknown, id: string): unknown {
  if (!(error instanceof WorkflowFailedError)) {
    return unreadableError(error, `to look at run \`${id}\``) ?? error;
  }
  const inner = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
  if (inner instanceof ApplicationFailure && isUsageCode(inner.type)) {
    return new UsageError(inner.type, inner.message);
  }
  return inner instanceof TimeoutFailure ? noWorker(id) : error;
}

function isUsageCode(type: unknown): type is UsageCode {
  return typeof type === 'string' && Object.hasOwn(usageCodes, type);
}

/** What the service knows of a source. */
export interface DescribedRun {
  readonly taskQueue: string;
  readonly agent: string;
  readonly task: string;
  /** The tenant of the run; undefined: none. */
  readonly tenant: string | undefined;
}

/** @throws UsageError `run_not_found`, `not_an_agent` */
export async function describeSource(client: Client, id: string): Promise<DescribedRun> {
  const info = await describeRun(client, id);
  const { memo = {}, taskQueue } = info;
  return {
    taskQueue,
    agent: memoText(memo, 'agent'),
    task: memoText(memo, 'task'),
    tenant: tenantOfId(id),
  };
}

/** A fork that was started. */
export interface StartedFork {
  readonly workflowId: string;
  readonly runId: string;
}

const MEMO_TASK_CHARACTERS = 200;

/**
 * Starts a fork: the service gets a reference to the moment, and a worker replays it.
 *
 * @throws UsageError `fork_effects` if `effects` is missing and the source changed something after
 * the moment; `invalid_input`, `id_in_use`, `run_not_found`, `not_an_agent`; without `effects` also
 * as {@link viewMoment}.
 */
export async function startFork(
  { client, attributesOf }: { readonly client: Client; readonly attributesOf: WithRunAttributes },
  from: ForkSourceOptions,
  options: ForkStartOptions,
): Promise<StartedFork> {
  requireKnown(from, SOURCE_OPTIONS, 'the source of a fork');
  requireKnown(options, FORK_OPTIONS, '`fork`');
  const { run, at = 'latest' } = from;
  const { edits, definition, instructions, effects, stats, agent: other, id, ...given } = options;
  const source = await describeSource(client, checkedRunId(run));
  const read = readFork({
    source: { workflowId: run },
    at,
    ...defined({ edits, definition, instructions, effects, stats }),
  });
  if (read.kind === 'problems') throw new UsageError('invalid_input', read.problems.join('\n'));
  if (effects === undefined) await requireEffects(client, run, at);
  const blobs = client.options.loadedDataConverter.externalStorage !== undefined;
  const agent = other ?? source.agent;
  const input: AgentInput = {
    ...startInput(agent, { ...given, ...defined({ tenant: source.tenant }) }, sizesOf({ blobs })),
    fork: read.fork,
  };
  const { tenant } = source;
  const workflowId = idOf({ run, agent, tenant }, id);
  const task = input.task.text || source.task;
  try {
    const { firstExecutionRunId } = await attributesOf({ agent, tenant }, (attributes) =>
      client.workflow.start(AGENT_WORKFLOW, {
        workflowId,
        taskQueue: source.taskQueue,
        args: [input],
        memo: defined({
          agent,
          task: clip(task, MEMO_TASK_CHARACTERS),
          forkedFrom: run,
          traceparent: input.trace?.parent,
        }),
        staticSummary: summaryLine(`${agent}: ${task}`),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        ...(tenant === undefined ? undefined : { priority: { fairnessKey: tenant } }),
        typedSearchAttributes: attributes,
      }),
    );
    return { workflowId, runId: firstExecutionRunId };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
      throw unreadableError(error, `to fork run \`${run}\``) ?? error;
    }
    const message = `Expected a free run id, got \`${workflowId}\`, which another run has. Choose another id.`;
    throw new UsageError('id_in_use', message);
  }
}

/**
 * A fork of a child is a root, so its id is none of a child. It is of the tenant of its tree: keys
 * follow what an id has before its `:`.
 */
function idOf(
  { run, agent, tenant }: { run: string; agent: string; tenant: string | undefined },
  id: string | undefined,
): string {
  if (id === undefined) {
    return checkedNewRunId(forkId(run, randomUUID().slice(0, 8)), tenant);
  }
  warnOfId(agent, checkedRunId(id));
  const whole = tenant === undefined ? id : idInTenant('fork', tenant, id);
  return checkedNewRunId(whole, tenant);
}

/** The worker checks it again, for clients that do not. */
async function requireEffects(client: Client, run: string, at: RunMoment): Promise<void> {
  const { iteration, callsAfter } = await viewMoment(client, run, at);
  const changing = changingCalls(callsAfter);
  if (changing.length === 0) return;
  throw new UsageError('fork_effects', noEffectsText(iteration, changing));
}
