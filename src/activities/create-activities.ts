/** Creates the activities of a worker from its registry, caches and archive. */
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { jsonDigest } from '../core/base/digest.ts';
import type { Json } from '../core/base/json.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import { HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import type { ActivityRuntime, EverloopActivities } from './activity-types.ts';
import { createArchiveTranscript, type Archive } from './archive-transcript.ts';
import { deliver, type CallbackSettings } from '../callbacks/deliver.ts';
import { callbackFailure } from './failures.ts';
import { createCallModel } from './call-model.ts';
import {
  callToolActivity,
  callToolOnceActivity,
  judgeAnswerActivity,
  checkLiteralsActivity,
  needsApprovalActivity,
  loadAgentActivity,
} from './tool-activities.ts';
import { loadForkActivity, viewMomentActivity, type StateSource } from './load-fork.ts';
import { createGivenUpCalls } from './given-up-calls.ts';
import type { HeardCancels } from './heard-cancels.ts';
import { hideFailures } from './hide-failures.ts';
import type { Registry } from '../define/definition/definitions.ts';
import type { McpTools } from '../define/mcp/mcp-tools.ts';
import type { ToolPlaces } from '../tools/isolation.ts';
import { createToolFigures } from '../tools/tool-figures.ts';
import { NO_WATCH, type CallObserver } from '../telemetry/call-observer.ts';
import { createPageQuery } from './page-query.ts';
import { createContextSource } from './run-context.ts';
import type { Permits } from './permits/permits.ts';
import type { Rates } from './rates.ts';
import { createTenantActivities, NO_TENANTS, type TenantPort } from './tenant-activities.ts';
import { createTranscriptSource, type TranscriptCache } from './transcript-source.ts';

/** What activities need; all of it lives as long as the worker. */
export interface ActivityParts {
  readonly registry: Registry;
  readonly runtime: ActivityRuntime;
  readonly cache: TranscriptCache;
  readonly chunks: ChunkPublisher;
  readonly archive: Archive;
  /** Whether the states that links hand over are archived. Default true. */
  readonly archivesStates?: boolean | undefined;
  readonly places: ToolPlaces;
  readonly callbacks: CallbackSettings;
  /** The hosts from which media of requests are fetched. Default: any at a public address. */
  readonly mediaHosts?: readonly string[] | undefined;
  /** The servers that this worker reaches. Default: none. */
  readonly mcp?: McpTools;
  /** Gets moments of runs. Default: none, as on a worker without workflows. */
  readonly states?: StateSource | undefined;
  /** Reaches ledgers of tenants; default: there are none. */
  readonly tenants?: TenantPort;
  /** The rates of model entries; default: nothing paces requests. */
  readonly rates?: Rates;
  /** The permits of model entries; default: nothing bounds the requests under way. */
  readonly permits?: Permits;
  /** Watches the calls of models and tools; default: nothing does. */
  readonly watch?: CallObserver;
  /** Takes values out of what activities return and throw; default: nothing does. */
  readonly hide?: HideText;
  /** Cancels that workflows of this process tell; default: none. */
  readonly cancels?: HeardCancels;
}

/** The activities of a worker. */
export function createActivities(parts: ActivityParts): EverloopActivities {
  const { registry, runtime, cache, chunks, archive, places, callbacks } = parts;
  const { watch = NO_WATCH, hide = HIDE_NOTHING, tenants = NO_TENANTS } = parts;
  const query = createPageQuery();
  const { mcp, cancels } = parts;
  const hasBlobs = runtime.blobs === true;
  const readContext = createContextSource(query);
  const figures = createToolFigures();
  const toolParts = {
    registry,
    places,
    mcp,
    chunks,
    watch,
    hasBlobs,
    readContext,
    hide,
    figures,
    ...defined({ cancels }),
  };
  const callTool = callToolActivity(toolParts);
  const told = {
    givenUp: createGivenUpCalls(),
    tenants,
    mediaHosts: parts.mediaHosts,
    ...defined({ cancels, rates: parts.rates, permits: parts.permits }),
  };
  const transcripts = createTranscriptSource({ cache, query });
  const forks = { registry, runtime, mcp, tenants, archive, states: parts.states };
  const loading = { tenants, ...defined({ mcp }) };
  const activities: EverloopActivities = {
    loadFork: loadForkActivity(forks),
    viewMoment: viewMomentActivity(forks),
    loadAgent: loadAgentActivity(registry, runtime, loading),
    loadTurn: loadTurnActivity(loadAgentActivity(registry, runtime, loading)),
    callModel: createCallModel({ ...toolParts, transcripts, ...told }),
    callTool,
    callToolOnce: callToolOnceActivity(toolParts),
    // The same code under another name, so that histories and metrics tell the two apart.
    searchTools: callTool,
    needsApproval: needsApprovalActivity(registry, mcp),
    checkLiterals: checkLiteralsActivity(registry),
    judgeAnswer: judgeAnswerActivity(registry, { hide, readContext, ...defined({ cancels }) }),
    deliverCallback: createDeliverCallback(callbacks),
    ...createTenantActivities(tenants),
    readClock: () => Promise.resolve(),
    archiveTranscript: createArchiveTranscript(archive, parts.archivesStates),
  };
  return hideFailures(activities, hide);
}

/** The activity that loads an agent again, for a further turn of a conversation. */
function loadTurnActivity(
  loadAgent: EverloopActivities['loadAgent'],
): EverloopActivities['loadTurn'] {
  return async (input, known) => {
    const { spec, ...loaded } = await loadAgent(input);
    const digest = jsonDigest(JSON.parse(JSON.stringify(spec)) as Json);
    return digest === known ? loaded : { ...loaded, spec };
  };
}

/** The activity that delivers a callback: one attempt; the service repeats it for a day. */
function createDeliverCallback(settings: CallbackSettings): EverloopActivities['deliverCallback'] {
  return async (message) => {
    const { cancellationSignal: signal } = Context.current();
    const delivery = await deliver(message, settings, { now: Date.now(), signal });
    if (delivery.kind !== 'delivered') throw callbackFailure(delivery);
  };
}
