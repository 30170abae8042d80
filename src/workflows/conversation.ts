/**
 * A conversation as a workflow: how it begins with its first message, what it loads for each turn,
 * and how it goes on when something is said while it ends.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  makeContinueAsNewFunc,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { EverloopActivities, LoadedTurnAgent } from '../activities/activity-types.ts';
import { defined } from '../core/base/defined.ts';
import { jsonDigest } from '../core/base/digest.ts';
import type { ForkInput } from '../core/base/fork.ts';
import { conversationOf } from '../core/base/ids.ts';
import { newConversation } from '../core/conversation/records.ts';
import type { Json } from '../core/base/json.ts';
import type { TurnSettings } from '../core/contract/conversation.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { ConversationPort, FirstMessage, LoadedTurn } from '../core/loop/conversation-loop.ts';
import type { Opening } from '../core/loop/loop.ts';
import type { WaitingMessage } from '../core/run/inbox.ts';
import type { Run } from '../core/run/run.ts';
import { headDigest, type RunState } from '../core/run/run-state.ts';
import { readEarlier } from '../core/start/earlier-messages.ts';
import { givenMaterial } from '../core/start/prepare-input.ts';
import { FORK_OPTIONS, LOAD_OPTIONS, onAnyWorker } from './attempts/activity-options.ts';
import { CanceledEarly, loadFailure } from './failures.ts';
import { loadWaiting, tenantTurn } from './load-anywhere.ts';
import { recorded } from './recorded/recorded.ts';
import { countLoaded } from './sending/outgoing.ts';
import { DEFINITION, traceOf, type Session } from './session.ts';
import type { Reopening, Start } from './start.ts';
import { leaveTenant } from './tenants/tenant-turn.ts';

type FreshStart = Extract<Start, { readonly kind: 'fresh' }>;

/** Waits for the first message of a conversation; the start that it makes of it. */
export async function firstMessage(
  session: Session,
  { input }: FreshStart,
): Promise<{ readonly message: WaitingMessage; readonly input: AgentInput }> {
  session.opening = 'message';
  const waiting = (): WaitingMessage | undefined => session.mailbox.peek().messages?.[0];
  await condition(() => waiting() !== undefined || session.mailbox.peek().cancel !== null);
  const message = session.mailbox.takeMessage();
  if (message === undefined) throw new CanceledEarly();
  session.opening = DEFINITION;
  const { converses: _converses, ...start } = input;
  return { message, input: turnInput(start, message, message.turn ?? {}) };
}

/** What a worker loads for a message. */
function turnInput(
  start: Omit<AgentInput, 'task'>,
  { id, text, media, by }: WaitingMessage,
  { totalLimits: _total, ...settings }: TurnSettings,
): AgentInput {
  return {
    ...start,
    ...settings,
    task: { text, ...defined({ media }) },
    messageId: id,
    ...defined({ by }),
  };
}

/** The start of a conversation that goes on from where execution `after` of it ended. */
export function reopening(input: AgentInput, after: string): AgentInput {
  const { workflowId } = workflowInfo();
  const { converses: _converses, ...start } = input;
  const fork: ForkInput = {
    source: { workflowId, executionId: after },
    at: 'latest',
    effects: 'run',
  };
  return { ...start, fork };
}

/** Whether a conversation cannot go on from where it ended, because nothing is left of that. */
export function isGone(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && GONE.includes(cause.type ?? '');
}

const GONE: readonly string[] = ['history_gone', 'run_not_found', 'fork_moment'];

/** The state in which a conversation begins with its first message, as its start asks for it. */
export function openConversation(
  state: RunState,
  { conversation = '', converses }: AgentInput,
  {
    message,
    opening = { warnings: [] },
  }: { readonly message: WaitingMessage; readonly opening?: Opening },
): { readonly state: RunState; readonly first: FirstMessage } {
  const idleMs: unknown = converses?.idleMs;
  const fits = typeof idleMs === 'number' && Number.isFinite(idleMs) && idleMs > 0;
  const turns = newConversation(conversation, fits ? idleMs : undefined);
  const read = converses?.messages === undefined ? null : readEarlier(converses.messages);
  if (read === null || read.kind === 'invalid') {
    const warning = { code: 'message_refused', message: read?.message ?? '' };
    const warnings = read === null ? opening.warnings : [...opening.warnings, warning];
    const first = { message, opening: { ...opening, warnings }, earlier: [] };
    return { state: { ...state, turns }, first };
  }
  // What is brought along comes first, so the message is not the task.
  const head = { ...state.head, task: { text: '' } };
  const mark = { ...state.mark, digest: headDigest(head) };
  return {
    state: { ...state, head, mark, turns },
    first: { message, opening, earlier: read.messages },
  };
}

/** Goes on in a new execution, which begins where this one has ended. */
export function reopen(session: Session, { state }: Run): Promise<never> {
  const { head, tenant, trace, turns } = state;
  const { workflowId, runId: after } = workflowInfo();
  const { waiting: _unread, cancel: _cancel, closing: _closing, ...inbox } = session.mailbox.peek();
  const input: AgentInput = {
    v: 1,
    agent: head.spec.name,
    task: { text: '' },
    conversation: turns?.id ?? conversationOf(workflowId) ?? '',
    converses: { after, ...defined({ idleMs: turns?.idleMs }) },
    ...defined({ tenant, trace }),
  };
  const reopening: Reopening = {
    v: 1,
    kind: 'reopening',
    input,
    inbox: { ...inbox, waiting: [], cancel: null },
  };
  return makeContinueAsNewFunc()(reopening);
}

/** What the loop of a conversation needs. */
export function conversationPort(session: Session, run: Run): ConversationPort {
  return {
    trace: () => traceOf(session),
    load: async (message, settings) => {
      try {
        return await loadTurn(session, run.state, message, settings);
      } catch (error) {
        session.opening = DEFINITION;
        if (error instanceof CanceledEarly) return null;
        const failure = loadFailure(error, session.agent, traceOf(session));
        return { code: failure.type ?? 'internal', failure: failure.message };
      }
    },
    rewind: (seq) => rewind(run.state, seq),
    left: async (totals) => {
      const { tenant } = session;
      if (tenant === null) return;
      session.tenant = null;
      await leaveTenant(tenant, totals);
    },
  };
}

async function loadTurn(
  session: Session,
  state: RunState,
  message: WaitingMessage,
  settings: TurnSettings,
): Promise<LoadedTurn> {
  const { head, tenant, trace, turns } = state;
  const start = {
    v: 1,
    agent: head.spec.name,
    ...defined({ tenant, trace, conversation: turns?.id, context: head.context }),
  } as const;
  const input = turnInput(start, message, settings);
  const known = jsonDigest(head.spec as unknown as Json);
  const loaded = await loadWaiting<LoadedTurnAgent>(session, input, {
    here: () => proxyLocalActivities<EverloopActivities>(LOAD_OPTIONS).loadTurn(input, known),
    elsewhere: (options: ActivityOptions) =>
      proxyActivities<EverloopActivities>(options).loadTurn(input, known),
  });
  session.opening = DEFINITION;
  countLoaded(loaded);
  const { spec, material = givenMaterial(input), warnings, refusal, awaitsTurn } = loaded;
  const waits = awaitsTurn === true && tenant !== undefined;
  const turn = waits ? await tenantTurn(session, tenant) : null;
  // The turn begins now, not when it was asked for.
  if (waits) await recorded().readClock();
  const leases = turn?.leases ?? [];
  return {
    material,
    warnings,
    ...defined({
      spec,
      refusal,
      leases: leases.length === 0 ? undefined : leases,
      hasTurn: turn === null ? undefined : (true as const),
    }),
  };
}

/** The scratchpad before an event of this run, from a replay of its own history. */
async function rewind(
  { head, tenant, runId }: RunState,
  seq: number,
): ReturnType<ConversationPort['rewind']> {
  const { workflowId, runId: executionId } = workflowInfo();
  const fork: ForkInput = {
    source: { workflowId, executionId },
    at: { event: seq },
    effects: 'run',
  };
  const input = { v: 1, agent: head.spec.name, task: { text: '' }, fork } as const;
  const { loadFork } = proxyActivities<EverloopActivities>(onAnyWorker(FORK_OPTIONS));
  try {
    const order = { ...input, ...defined({ tenant }) };
    const { state } = await loadFork({ input: order, identity: { runId, startedAt: 0 } });
    return state.scratchpad;
  } catch {
    return null;
  }
}
