/** What a model call needs of its worker: the agent, the model, the transcript, the request. */
import { Context } from '@temporalio/activity';
import { infoOf } from '../core/calls/run-info.ts';
import { errorText } from '../core/base/error-text.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { missingPart } from '../core/extension/own-parts.ts';
import { noUsage } from '../core/model/usage.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { entryFor, type CalledEntry } from '../define/model/model-entry.ts';
import { findEntry } from '../define/model/provider-models.ts';
import { ownModel } from '../models/own-model.ts';
import { orderFor } from '../models/prepare-request.ts';
import { requestFor } from '../models/prompt-texts.ts';
import { withModel } from '../models/providers/load-model.ts';
import { missingModel } from '../registry/registry.ts';
import type { AttemptNotes } from '../telemetry/call-observer.ts';
import { agentNotHere, modelFailure, notHere, transcriptUnavailable } from './failures.ts';
import type { AskedAttempt, FoundAttempt } from './model-attempt.ts';
import {
  OtherTranscriptError,
  type TranscriptKey,
  type TranscriptSource,
} from './transcript-source.ts';
import { triesOf } from './tries.ts';

/** Where a worker finds what calls need. */
export interface FindParts {
  readonly registry: Registry;
  readonly transcripts: TranscriptSource;
}

/** Finds what the call needs. Fails with `not_here` for what this worker lacks. */
export async function findCall(
  { registry, transcripts }: FindParts,
  order: ModelOrder,
  notes: AttemptNotes,
): Promise<Pick<FoundAttempt, 'entry' | 'view'>> {
  // Without the agent the request would lack its middleware and what its functions write.
  if (!registry.agents.has(order.agent)) throw agentNotHere(order.agent);
  const entry = entryFor(await entryOf(registry, order), order);
  // An order that has its whole request does not need the transcript.
  const view = order.inline === undefined ? await transcriptOf(transcripts, order, notes) : null;
  const lacking = view && missingPart(view.head.spec, registry.extensions);
  if (lacking == null) return { entry, view };
  const message = `This worker has no ${lacking}. Add it with \`extend\` in the module of \`workflowsPath\`.`;
  throw notHere({ what: lacking, agent: order.agent }, message);
}

/**
 * The worker that loaded the agent had its models, so another worker may have them. Models that a
 * custom loop names were never checked, so for these the failure is final.
 */
async function entryOf(registry: Registry, order: ModelOrder): Promise<CalledEntry> {
  const { added } = triesOf(order);
  const { agent } = order;
  const lack = { usage: { ...noUsage }, usageKnown: false, ...added, agent, code: 'model_error' };
  const entry = findEntry(registry.models, order.model);
  if (entry !== undefined) {
    try {
      return await withModel(entry, registry.packageFolders);
    } catch (error) {
      throw notHere({ ...lack, what: `the package of model ${order.model}` }, errorText(error));
    }
  }
  const failure = missingModel(registry, order);
  if (order.own?.models === undefined) {
    throw notHere({ ...lack, what: `model ${order.model}` }, failure.message);
  }
  throw modelFailure(order, failure);
}

async function transcriptOf(
  transcripts: TranscriptSource,
  order: ModelOrder,
  notes: AttemptNotes,
): Promise<TranscriptView> {
  try {
    const onRead = (isCached: boolean): void => notes.transcript(isCached ? 'cache' : 'query');
    return await transcripts.resolve(transcriptKey(order), order.transcript, onRead);
  } catch (error) {
    notes.transcript('failed');
    // While the run does not answer, the attempt is lost. Another answer would come again for ever.
    if (!(error instanceof OtherTranscriptError)) throw transcriptUnavailable(errorText(error));
    const { retryable, message } = error;
    throw modelFailure(order, { code: 'model_error', retryable, message });
  }
}

/** The request of an attempt, and the model that it goes to. */
export async function requestOf(
  { registry }: FindParts,
  { order: given, view, tries, entry: named }: FoundAttempt,
): Promise<Pick<AskedAttempt, 'order' | 'entry' | 'request' | 'number' | 'info'>> {
  const number = given.triesBefore + tries.attempt + tries.losses;
  const run = Context.current().info.workflowExecution?.workflowId ?? '';
  const info = infoOf(given, { run, context: view?.head.context });
  const request = await requestFor(registry, given, view, { attempt: number, info });
  const order = view === null ? given : orderFor(given, view.head.spec, request.prepared);
  const chosen = order === given ? named : entryFor(await entryOf(registry, order), order);
  const entry = await ownModel(chosen, info);
  return { order, entry, request, number, info };
}

/** Under which key this process has the transcript of the run that orders the call. */
export function transcriptKey(order: ModelOrder): TranscriptKey {
  const { workflowNamespace, workflowExecution } = Context.current().info;
  return {
    namespace: workflowNamespace ?? '',
    workflowId: workflowExecution?.workflowId ?? '',
    executionId: workflowExecution?.runId ?? '',
    epoch: order.transcript.epoch,
  };
}
