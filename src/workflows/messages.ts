/** The messages of a run as Temporal defines them; clients and handlers share this file. */
import {
  defineQuery,
  defineSignal,
  defineUpdate,
  type QueryDefinition,
  type SignalDefinition,
} from '@temporalio/workflow';
import type { ProgramView } from '../core/contract/report.ts';
import type { RunInput } from '../core/run/inbox.ts';
import type { CurrentIteration } from '../core/run/view.ts';
import {
  MESSAGE_NAMES,
  type Adjustment,
  type AdjustReceipt,
  type AnswerPayload,
  type AnswerReceipt,
  type CancelPayload,
  type DecidePayload,
  type EventsRequest,
  type HeldWorker,
  type LinkPage,
  type Overrun,
  type PendingItem,
  type RetryPayload,
  type RetryReceipt,
  type RunOverview,
  type RunStatus,
  type SendReceipt,
  type TranscriptRequest,
  type TreeAnswer,
} from '../core/contract/messages.ts';
import type {
  ChildCancel,
  DeadlineChange,
  LeaseGrant,
  LeaseRequest,
  ProgressMessage,
} from '../core/contract/tree-messages.ts';
import { TENANT_MESSAGES, type TenantTurn } from '../core/tenant/tenant-messages.ts';
import type { Stats } from '../core/contract/stats.ts';
import type { ClosePayload, SaidPlace, SaidMessage } from '../core/contract/conversation.ts';

/** Sends input; idempotent by `RunInput.id`. */
export const sendUpdate: ReturnType<typeof defineUpdate<SendReceipt, [RunInput]>> = defineUpdate(
  MESSAGE_NAMES.send,
);
/** Changes limits, pauses, resumes. */
export const adjustUpdate: ReturnType<typeof defineUpdate<AdjustReceipt, [Adjustment]>> =
  defineUpdate(MESSAGE_NAMES.adjust);
/** Answers a question, or ends outside work; idempotent by `updateId`. */
export const answerUpdate: ReturnType<typeof defineUpdate<AnswerReceipt, [AnswerPayload]>> =
  defineUpdate(MESSAGE_NAMES.answer);
/** Approves, denies or edits a call; idempotent by `updateId`. */
export const decideUpdate: ReturnType<typeof defineUpdate<AnswerReceipt, [DecidePayload]>> =
  defineUpdate(MESSAGE_NAMES.decide);
/** Has a call tried again that waits for an operator. */
export const retryUpdate: ReturnType<typeof defineUpdate<RetryReceipt, [RetryPayload]>> =
  defineUpdate(MESSAGE_NAMES.retry);
/** Sends input without waiting for a receipt; other clients may send a text, or leave fields out. */
export const inputSignal: SignalDefinition<[RunInput]> = defineSignal(MESSAGE_NAMES.input);
/** Answers as {@link answerUpdate} does, where no worker takes the update; counts once with it. */
export const answerSignal: SignalDefinition<[AnswerPayload]> = defineSignal(MESSAGE_NAMES.answer);
/** Decides as {@link decideUpdate} does, where no worker takes the update; counts once with it. */
export const decideSignal: SignalDefinition<[DecidePayload]> = defineSignal(MESSAGE_NAMES.decide);
/** Ends the run; it still returns its Step. */
export const cancelSignal: SignalDefinition<[(CancelPayload | ChildCancel)?]> = defineSignal(
  MESSAGE_NAMES.cancel,
);
/** Says something to a conversation, and starts it where there is none; counts once by its id. */
export const saySignal: SignalDefinition<[SaidMessage]> = defineSignal(MESSAGE_NAMES.say);
/** Ends a conversation after its open turn. */
export const closeSignal: SignalDefinition<[ClosePayload?]> = defineSignal(MESSAGE_NAMES.close);
/** Where a message to a conversation went. */
export const placeQuery: QueryDefinition<SaidPlace, [string]> = defineQuery(MESSAGE_NAMES.place);
/** From a worker: what it has cut off several times in a row. */
export const overrunSignal: SignalDefinition<[Overrun]> = defineSignal(MESSAGE_NAMES.overrun);
/** From a worker: a call held it, so that the service took it for lost. */
export const heldWorkerSignal: SignalDefinition<[HeldWorker]> = defineSignal(
  MESSAGE_NAMES.heldWorker,
);
/** From a worker: what lists say of this run is old. */
export const listWaitsSignal: SignalDefinition<[]> = defineSignal(MESSAGE_NAMES.listWaits);
/** Makes the run look again whether a hand-over is due. */
export const nudgeSignal: SignalDefinition<[]> = defineSignal(MESSAGE_NAMES.nudge);
/** Where the run stands. */
export const statusQuery: QueryDefinition<RunStatus> = defineQuery(MESSAGE_NAMES.status);
/** All statistics. */
export const statsQuery: QueryDefinition<Stats> = defineQuery(MESSAGE_NAMES.stats);
/** A page of the transcript. */
export const transcriptQuery: QueryDefinition<LinkPage, [TranscriptRequest?]> = defineQuery(
  MESSAGE_NAMES.transcript,
);
/** A page of events. */
export const eventsQuery: QueryDefinition<LinkPage, [EventsRequest?]> = defineQuery(
  MESSAGE_NAMES.events,
);
/** The program that runs, else the last one. */
export const programQuery: QueryDefinition<ProgramView | null> = defineQuery(MESSAGE_NAMES.program);
/** What waits for a person. */
export const pendingQuery: QueryDefinition<readonly PendingItem[]> = defineQuery(
  MESSAGE_NAMES.pending,
);
/** The part of the tree that the run knows; null before its agent is loaded. */
export const treeQuery: QueryDefinition<TreeAnswer | null> = defineQuery(MESSAGE_NAMES.tree);
/** What a page about the run shows; null before its agent is loaded. */
export const viewQuery: QueryDefinition<RunOverview | null> = defineQuery(MESSAGE_NAMES.view);
/** The iteration that is open; null: none is. */
export const iterationQuery: QueryDefinition<CurrentIteration | null> = defineQuery(
  MESSAGE_NAMES.iteration,
);
/** From a child: what it and all below it have spent. */
export const progressSignal: SignalDefinition<[ProgressMessage]> = defineSignal(
  MESSAGE_NAMES.progress,
);
/** From a child: it needs more of its leases. */
export const leaseRequestSignal: SignalDefinition<[LeaseRequest]> = defineSignal(
  MESSAGE_NAMES.leaseRequest,
);
/** From the parent: the deadlines of the runs above. */
export const deadlinesSignal: SignalDefinition<[DeadlineChange]> = defineSignal(
  MESSAGE_NAMES.deadlines,
);
/** From the parent: what may be spent in all. */
export const leaseGrantSignal: SignalDefinition<[LeaseGrant]> = defineSignal(
  MESSAGE_NAMES.leaseGrant,
);
/** From the ledger of the tenant: it is the turn of the run. */
export const turnSignal: SignalDefinition<[TenantTurn]> = defineSignal(TENANT_MESSAGES.turn);
