/** Answers to queries: they read what is there and change nothing. */

import { CancellationScope, condition, setHandler, workflowInfo } from '@temporalio/workflow';
import { defined } from '../core/base/defined.ts';
import type { Json } from '../core/base/json.ts';
import type {
  LinkPage,
  PendingItem,
  RunOverview,
  RunPhase,
  RunStatus,
  TranscriptRequest,
  TreeAnswer,
} from '../core/contract/messages.ts';
import { pageOf } from '../core/contract/page.ts';
import {
  positionProblem,
  readEventsRequest,
  readTranscriptRequest,
  type PageRequest,
} from '../core/start/page-request.ts';
import type { ProgramView } from '../core/contract/report.ts';
import { limitsByDefault } from '../core/limits/default-limits.ts';
import type { SaidPlace } from '../core/contract/conversation.ts';
import { turnOfMessage, totalStats, viewOfConversation } from '../core/conversation/records.ts';
import { isKnownMessage } from '../core/conversation/said.ts';
import { EMPTY_STATS, type Stats } from '../core/contract/stats.ts';
import { earlyAnswers } from '../core/people/early-answers.ts';
import { pendingItems } from '../core/run/pending-items.ts';
import { isBetweenTurns, type RunState } from '../core/run/run-state.ts';
import { usageOf } from '../core/run/step-of.ts';
import { treeView } from '../core/run/tree-view.ts';
import type { LinkAnswers } from '../core/fork/link-answers.ts';
import { currentIteration, programOfState, type CurrentIteration } from '../core/run/view.ts';
import { waitsFor } from '../core/run/waits-for.ts';
import { failureOf } from './failures.ts';
import {
  eventsQuery,
  iterationQuery,
  pendingQuery,
  placeQuery,
  programQuery,
  statsQuery,
  statusQuery,
  transcriptQuery,
  treeQuery,
  viewQuery,
} from './messages.ts';
import { MAX_INPUT_ID } from '../core/start/check-input.ts';
import { DEFINITION, type Session } from './session.ts';
import { readFrom, sinks } from './sinks.ts';

/** Installs the handlers of all queries. */
export function installQueries(session: Session): void {
  setHandler(treeQuery, () => treeAnswer(session));
  setHandler(statusQuery, () => statusOf(session));
  setHandler(statsQuery, () => statsOf(stateOf(session)));
  setHandler(placeQuery, (id) => placeOf(session, id));
  setHandler(transcriptQuery, (payload) =>
    transcriptPage(session, requested(readTranscriptRequest(payload))),
  );
  setHandler(eventsQuery, (payload) =>
    linkPage(
      session,
      session.log.events,
      session.log.firstEvent,
      requested(readEventsRequest(payload)),
    ),
  );
  setHandler(pendingQuery, () => pendingOf(session));
  setHandler(programQuery, () => programOf(session));
  setHandler(viewQuery, () => overviewOf(session));
  setHandler(iterationQuery, () => iterationOf(session));
}

/** The statistics of the run; of a conversation, those of all its turns. */
function statsOf(state: RunState | null): Stats {
  return state === null ? EMPTY_STATS : totalStats(state);
}

/** Where a message to a conversation went. */
function placeOf(session: Session, id: unknown): SaidPlace {
  const message = typeof id === 'string' && id.length <= MAX_INPUT_ID ? id : '';
  const turns = stateOf(session)?.turns;
  const { said = '' } = session.mailbox.peek();
  return {
    isKnown: isKnownMessage(said, message),
    ...defined({ turn: turns && turnOfMessage(turns, message) }),
  };
}

/** All answers at once. Of the lists, the items from these places of the link on. */
function answersOf(
  session: Session,
  from: { readonly event: number; readonly entry: number },
): LinkAnswers {
  const { events, firstEvent, entries, firstEntry } = session.log;
  const state = stateOf(session);
  const forkedFrom = session.previous === null ? sourceOf(session) : undefined;
  return {
    status: statusOf(session),
    stats: statsOf(state),
    pending: pendingOf(session),
    tree: treeAnswer(session),
    view: overviewOf(session),
    program: programOf(session),
    iteration: iterationOf(session),
    events: {
      first: firstEvent + from.event,
      items: events.slice(from.event) as unknown as Json[],
    },
    entries: {
      first: firstEntry + from.entry,
      items: entries.slice(from.entry) as unknown as Json[],
    },
    scratchpad: state === null ? [] : scratchpadOf(state),
    previous: session.previous,
    ...defined({ forkedFrom }),
  };
}

function iterationOf(session: Session): CurrentIteration | null {
  const state = session.step === null ? stateOf(session) : null;
  if (state === null) return null;
  return currentIteration(state, session.log.events, session.run?.shownReply() ?? null);
}

function scratchpadOf({ head, scratchpad }: RunState): readonly Json[] {
  return [head, ...scratchpad.flatMap((entry) => entry.messages)] as unknown as Json[];
}

/**
 * Tells a reader that replays the link what it answers: at the beginning, and in the tasks from the
 * length of the history on that the reader names. The last that is told is as of the last task, after
 * all that it did. Telling is no command: a condition that never holds only looks.
 */
export function tellAnswers(session: Session): void {
  const from = readFrom();
  if (from === null) return;
  const told = { event: 0, entry: 0 };
  const tell = (): void => {
    const answers = answersOf(session, told);
    told.event += answers.events.items.length;
    told.entry += answers.entries.items.length;
    sinks.probe.answers({ ...answers, ...defined({ workflows: session.workflows }) });
  };
  tell();
  void CancellationScope.nonCancellable(() =>
    condition(() => {
      if (workflowInfo().historyLength >= from) tell();
      return false;
    }),
  );
}

/** The request; an error of a query goes to its client and not to the run. */
function requested<Request>(read: PageRequest<Request>): Request {
  if (read.kind === 'invalid') throw failureOf('invalid_input', read.message);
  return read.request;
}

/** The newest state: at first the restored one; null before the agent of a fresh run is loaded. */
export function stateOf({ run, restored }: Session): RunState | null {
  return run?.state ?? restored;
}

function statusOf(session: Session): RunStatus {
  const { run, step, mailbox } = session;
  const turns = stateOf(session)?.turns;
  const inbox = mailbox.peek();
  const early = earlyAnswers(inbox).map(({ id }) => id);
  const { standing = [] } = run?.state ?? {};
  return {
    version: (run?.state.seq ?? 0) + inbox.accepted,
    state: phaseOf(session),
    runId: workflowInfo().firstExecutionRunId,
    agent: session.agent,
    iteration: run?.state.iteration ?? 0,
    waitsFor: waitsForOf(session),
    usage: usageOf(statsOf(stateOf(session))),
    unreadInputs: inbox.waiting.length + (inbox.messages?.length ?? 0),
    link: session.link,
    events: run?.state.seq ?? session.log.firstEvent,
    entries: run?.state.historyLength ?? session.log.firstEntry,
    ...defined({
      endedEarly: early.length === 0 ? undefined : early,
      approvals: standing.length === 0 ? undefined : standing,
      defaultLimits: limitsByDefault(stateOf(session)?.limits ?? []),
      conversation: turns && viewOfConversation(turns),
      step: step ?? undefined,
    }),
  };
}

function treeAnswer(session: Session): TreeAnswer | null {
  const state = stateOf(session);
  if (state === null) return null;
  const { step, ...status } = statusOf(session);
  void step;
  return { ...treeView(state, Date.now()), status, stats: statsOf(state) };
}

function overviewOf(session: Session): RunOverview | null {
  const tree = treeAnswer(session);
  const state = stateOf(session);
  if (tree === null || state === null) return null;
  return { ...tree, limits: state.limits, pending: pendingOf(session) };
}

function phaseOf(session: Session): RunPhase {
  if (session.step !== null) return 'ended';
  const state = stateOf(session);
  if (state === null) return 'running';
  if (state.pausedAt !== null) return 'paused';
  if (isBetweenTurns(state)) return 'waiting';
  return (state.waitingSince ?? null) === null ? 'running' : 'waiting';
}

function waitsForOf(session: Session): readonly string[] {
  const state = stateOf(session);
  const inFlight = session.host?.inFlight() ?? [session.opening];
  if (state !== null && isBetweenTurns(state) && inFlight.length === 0) {
    return [session.opening === DEFINITION ? 'message' : session.opening];
  }
  return waitsFor(state, { inFlight, timers: session.run?.timers() ?? [] });
}

function pendingOf(session: Session): readonly PendingItem[] {
  const state = stateOf(session);
  if (state === null || session.step !== null) return [];
  return pendingItems(state, session.mailbox.peek());
}

/** The program of the run. Before a handed-over run goes on, it is read from the snapshot. */
function programOf({ run, restored }: Session): ProgramView | null {
  if (run !== null) return run.program();
  return restored === null ? null : programOfState(restored);
}

function transcriptPage(session: Session, request: TranscriptRequest): LinkPage {
  const { run, log: runLog, previous } = session;
  const { from, maxBytes, view, epoch } = request;
  if (view === 'history') {
    return linkPage(session, runLog.entries, runLog.firstEntry, request);
  }
  const state = run?.state;
  if (state === undefined || (epoch !== undefined && epoch !== state.mark.epoch)) {
    return { items: [], next: null, first: 0, previous, stale: true };
  }
  if (view === 'state') {
    const page = pageOf([state as unknown as Json], from, maxBytes, session.sizes.page);
    return { ...page, first: 0, previous };
  }
  return {
    ...pageOf(scratchpadOf(state), from, maxBytes, session.sizes.page),
    first: 0,
    previous,
  };
}

/** A page whose indexes count over the whole chain; `list` begins at index `first` of the chain. */
function linkPage(
  session: Session,
  list: readonly unknown[],
  first: number,
  { from, maxBytes, limit }: Pick<TranscriptRequest, 'from' | 'maxBytes' | 'limit'>,
): LinkPage {
  const { previous, sizes } = session;
  const items = list as readonly Json[];
  const problem = positionProblem(items, first, from);
  if (problem !== null) throw failureOf('invalid_input', problem);
  const index = Math.max(0, from.index - first);
  const start = { index, offset: from.index < first ? 0 : from.offset };
  const page = pageOf(items, start, maxBytes, sizes.page, limit);
  const next = page.next === null ? null : { ...page.next, index: page.next.index + first };
  const forkedFrom = previous === null ? sourceOf(session) : undefined;
  return { ...page, next, first, previous, ...defined({ forkedFrom }) };
}

function sourceOf(session: Session): LinkPage['forkedFrom'] {
  const origin = stateOf(session)?.fork?.origin;
  if (origin === undefined) return undefined;
  const { workflowId, runId, executionId } = origin;
  return { workflowId, runId, executionId };
}
