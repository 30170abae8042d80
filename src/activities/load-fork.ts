/**
 * The activities of forks: they get a moment of a run by a replay of its history on this worker. So
 * no client can forge a state, and none needs the code of the workflows.
 */
import {
  ApplicationFailure,
  ApplicationFailureCategory,
  CancelledFailure,
} from '@temporalio/common';
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { errorText } from '../core/base/error-text.ts';
import type { FailureType } from '../core/base/failure-types.ts';
import { momentId } from '../core/base/ids.ts';
import { byteSize, isPlainObject, type Json } from '../core/base/json.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import type { ForkInput, RunMoment } from '../core/base/fork.ts';
import { isMoment, momentText, readFork } from '../core/fork/read-fork.ts';
import { stateView } from '../core/fork/state-view.ts';
import { foreignIdProblem, tenantOfId } from '../core/tenant/tenant.ts';
import { nearestName } from '../core/text/nearest.ts';
import { shown } from '../core/text/shown.ts';
import type { Registry } from '../define/definition/definitions.ts';
import type { McpTools } from '../define/mcp/mcp-tools.ts';
import { callsAfter, forkAgent, needsCalls, type ForkSource } from '../registry/fork-agent.ts';
import { listedTools } from '../registry/listed-tools.ts';
import type { Archive } from './archive-transcript.ts';
import type { ActivityRuntime, EverloopActivities, NoAgentDetails } from './activity-types.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { TenantPort } from './tenant-activities.ts';

/** Gets moments of runs by replay. */
export interface StateSource {
  /**
   * The moment `at` of a run, with what it did after it if `withCalls`.
   *
   * @throws UsageError `run_not_found`, `not_an_agent`, `fork_moment`, `history_gone`,
   * `replay_failed`, `fork_workflows`, `keys_missing`, `state_too_large`.
   */
  at(
    source: ForkInput['source'],
    at: RunMoment,
    options: { readonly withCalls: boolean; readonly signal: AbortSignal },
  ): Promise<ForkSource>;
}

/** What the activities need. */
export interface ForkActivityParts {
  readonly registry: Registry;
  readonly runtime: ActivityRuntime;
  readonly mcp?: McpTools | undefined;
  readonly tenants: TenantPort;
  /** Absent on a worker without workflows. */
  readonly states?: StateSource | undefined;
  readonly archive: Pick<Archive, 'noteFork'>;
}

/** Bytes of JSON of a result, with a margin under the 2 MB of the service. */
const MAX_RESULT_BYTES = 1_500_000;

/** The activity `loadFork`. It fails with the codes of forks, or as `loadAgent` does. */
export function loadForkActivity(parts: ForkActivityParts): EverloopActivities['loadFork'] {
  const { registry, runtime, mcp, tenants } = parts;
  return ({ input, identity, isElsewhere = false }) =>
    untilItFails(async () => {
      const read = readFork(input?.fork);
      if (read.kind === 'problems') throw failed('invalid_input', read.problems.join('\n'));
      const { fork } = read;
      requireOwnKeys(fork.source.workflowId, input.tenant);
      const withCalls = needsCalls(fork);
      const source = await momentOf(parts, fork.source, { at: fork.at, withCalls, isElsewhere });
      const definition = registry.agents.get(input.agent)?.definition;
      const listing =
        fork.definition === 'current' ? await listedTools(definition?.servers, mcp) : undefined;
      const sizes = sizesOf(runtime);
      const converses = fork.source.workflowId === ownId();
      const request = { input, fork, identity, converses };
      const forked = forkAgent({ registry, sizes, listing }, source, request);
      const elsewhereMs = definition?.elsewhereMs ?? runtime.elsewhereMs;
      if (forked.kind === 'failed') {
        throw failed(forked.code, forked.message, {
          what: forked.what,
          agent: input.agent,
          elsewhereMs,
          registry,
          isElsewhere,
        });
      }
      const { state, inputs, warnings } = forked;
      requireSize(source.origin.workflowId, state as unknown as Json, runtime);
      await noteFork(parts.archive, source, identity.runId);
      const { tenant } = state;
      const isRoot = identity.parent === undefined && tenant !== undefined;
      const awaitsTurn = (isRoot && (await tenants.hasLedger(tenant))) || undefined;
      const offered = { runtime: defined({ ...runtime, elsewhereMs }), ...defined({ awaitsTurn }) };
      return { state, inputs, warnings, ...offered };
    });
}

const MAX_ERRORS = 3;

/** Lost workers are repeated by the service; an error that nobody expected is not, after three attempts. */
async function untilItFails<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await withHeartbeat(work);
  } catch (error) {
    const isKnown = error instanceof ApplicationFailure || error instanceof CancelledFailure;
    if (isKnown || Context.current().info.attempt < MAX_ERRORS) throw error;
    throw failed('internal', errorText(error));
  }
}

/** The archive keeps what the fork shows of its source for as long as there is the fork. */
async function noteFork(
  archive: ForkActivityParts['archive'],
  { origin: { workflowId, runId } }: ForkSource,
  forkRunId: string,
): Promise<void> {
  const { info, log } = Context.current();
  const fork = { workflowId: ownId(), runId: forkRunId };
  try {
    await archive.noteFork?.({ runId, run: { namespace: info.namespace, workflowId } }, fork);
  } catch (error) {
    // The archive only serves readers, so a fork does not wait for a full disk.
    log.warn('The archive did not note a fork of a run', {
      run: workflowId,
      reason: errorText(error),
    });
  }
}

/** The activity `viewMoment`. */
export function viewMomentActivity(parts: ForkActivityParts): EverloopActivities['viewMoment'] {
  return (order) =>
    withHeartbeat(async () => {
      const { source, at } = order ?? {};
      if (!isPlainObject(source) || typeof source['workflowId'] !== 'string') {
        throw failed('invalid_input', 'Expected the id of a run, got none. Name one.');
      }
      if (!isMoment(at)) throw failed('invalid_input', momentText(at));
      requireBelow(source.workflowId);
      const found = await momentOf(parts, source, { at, withCalls: true }).catch(
        (error: unknown) => {
          // What an archived state did next is in a history that is gone.
          if (typeOf(error) !== 'history_gone') throw error;
          return momentOf(parts, source, { at, withCalls: false });
        },
      );
      const { workflowId: run, executionId } = found.origin;
      const view = stateView(found.state, { run, executionId }, callsAfter(found));
      requireSize(run, view as unknown as Json, parts.runtime);
      return view;
    });
}

/** A moment is encrypted as the run is, and deleted with it, so what looks at it is below it. */
function requireBelow(run: string): void {
  const own = ownId();
  if (own.startsWith(momentId(run, ''))) return;
  const message = `Expected what looks at run \`${run}\` to have an id below it, got ${shown(own)}. Use \`run.at\`.`;
  throw failed('invalid_input', message);
}

/** Keys go by what an id has before its `:`, so a fork under another name would hand a run over. */
function requireOwnKeys(run: string, tenant: string | undefined): void {
  const own = ownId();
  const isForeign = tenantOfId(own) !== undefined && tenantOfId(own) !== tenantOfId(run);
  const problem = foreignIdProblem(isForeign ? tenantOfId(run) : tenant, own);
  if (problem !== undefined) throw failed('invalid_input', problem);
}

function ownId(): string {
  return Context.current().info.workflowExecution?.workflowId ?? '';
}

async function momentOf(
  { states, runtime }: ForkActivityParts,
  source: ForkInput['source'],
  wanted: { readonly at: RunMoment; readonly withCalls: boolean; readonly isElsewhere?: boolean },
): Promise<ForkSource> {
  const { at, withCalls, isElsewhere } = wanted;
  const { cancellationSignal: signal } = Context.current();
  const what = `the workflows of run ${source.workflowId}`;
  const { elsewhereMs } = runtime;
  if (states === undefined) {
    const message = `Expected a worker with the workflows of run \`${source.workflowId}\`, got one without any.`;
    throw failed('fork_workflows', message, { what, elsewhereMs, isElsewhere });
  }
  try {
    return await states.at(source, at, { withCalls, signal });
  } catch (error) {
    if (!isUsageError(error)) throw error;
    throw failed(error.code as FailureType, error.message, { what, elsewhereMs, isElsewhere });
  }
}

function requireSize(run: string, value: Json, { blobs }: ActivityRuntime): void {
  const bytes = byteSize(value);
  const most = blobs === true ? sizesOf({ blobs }).handover : MAX_RESULT_BYTES;
  if (bytes <= most) return;
  throw failed(
    'state_too_large',
    `Expected a moment of run \`${run}\` of at most ${most} bytes, got ${bytes}. Use workers with a blob store, or a moment after a compaction.`,
  );
}

/** A failure that the service does not repeat; with `lack`, another worker may have what is missing. */
function failed(
  type: FailureType,
  message: string,
  lack?: {
    readonly what?: string | undefined;
    readonly agent?: string;
    readonly registry?: Registry;
    readonly elsewhereMs: number | null | undefined;
    readonly isElsewhere?: boolean | undefined;
  },
): ApplicationFailure {
  const { what, agent, registry, elsewhereMs, isElsewhere = false } = lack ?? {};
  const names = [...(registry?.agents.keys() ?? [])];
  const near = what === undefined && agent !== undefined ? nearestName(agent, names) : undefined;
  const details: NoAgentDetails = defined({ elsewhereMs, what, near });
  return ApplicationFailure.create({
    type,
    message,
    // Where workers are asked one after another, the next may have what this one lacks.
    nonRetryable: !isElsewhere || !ELSEWHERE.has(type),
    category: ApplicationFailureCategory.BENIGN,
    ...defined({ details: lack && [details] }),
  });
}

/** What another worker may have. */
const ELSEWHERE: ReadonlySet<FailureType> = new Set([
  'agent_not_found',
  'extension_not_found',
  'mcp_unavailable',
  'fork_workflows',
  'replay_failed',
  'keys_missing',
]);

function typeOf(error: unknown): unknown {
  return error instanceof ApplicationFailure ? error.type : undefined;
}
