/**
 * A conversation with an agent: one run that outlives all its turns.
 *
 * I1  All state is in the service. Any process goes on with a conversation by its id.
 * I2  A message travels in one signal, which needs no worker and counts once by its id.
 * I3  A conversation has an id of its own kind, so no message reaches another run.
 */
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
} from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { conversationWorkflow } from '../core/base/ids.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import { defined } from '../core/base/defined.ts';
import { mergeSettings } from '../core/model/call-settings.ts';
import type { Message, Task } from '../core/base/message.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import type { SaidPlace, SaidMessage, TurnSettings } from '../core/contract/conversation.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import type { StatedActor } from '../core/contract/pending.ts';
import { readMessage } from '../core/start/read-message.ts';
import { inputProblems } from '../core/limits/limits-input.ts';
import { startInput } from '../core/start/start-input.ts';
import { memoOf } from '../core/start/start-parts.ts';
import { requireKnown } from '../core/text/option-names.ts';
import { shown } from '../core/text/shown.ts';
import { cancelSignal, closeSignal, placeQuery, saySignal } from '../workflows/messages.ts';
import { unreadableError } from '../protection/key-errors.ts';
import type { WithRunAttributes } from './connection/search-attributes.ts';
import { describeRun } from './connection/own-run.ts';
import { asking, querying } from './connection/service-calls.ts';
import { toService } from './sending/send-update.ts';
import type { CancelOptions, RunHandle } from './run-handle.ts';
import { bringAlong } from './conversations/bring-along.ts';
import { createTurn, type TurnHandle } from './turn.ts';
import { readTurns, type ConversationTurn, type TurnsOptions } from './turns.ts';

/** Options of a conversation. Those of {@link TurnSettings} apply to each turn that it begins. */
export interface ConversationOptions extends TurnSettings {
  /** Goes on with the conversation of this id, or begins it. Default: a new `{agent}-{8 digits}`. */
  readonly id?: string;
  /** Whose conversation it is. */
  readonly tenant?: string;
  /** How long it waits for a message before it ends, in milliseconds. Default 30 days. */
  readonly idleMs?: number;
  /**
   * An old chat to begin with: `UIMessage` or `ModelMessage` of the AI SDK, oldest first, with calls and
   * files. Taken once, when the conversation begins.
   */
  readonly messages?: readonly object[];
}

/** Of a message. */
export interface SayOptions
  extends
    StatedActor,
    Pick<TurnSettings, 'context' | 'settings' | 'toolChoice' | 'limits' | 'model'> {
  /** A repetition with the same id has no effect. Default: a new one. */
  readonly id?: string;
  /**
   * The id of the message that this one replaces: the transcript goes back to before the turn which
   * that began. Effects of what is replaced stay.
   */
  readonly instead?: string;
}

/** A conversation with an agent. `Value` is the type of its answers. */
export interface Conversation<Value = Json> {
  readonly id: string;
  readonly agent: string;
  /** The run of the conversation: its status, totals, events, what waits in it. */
  readonly run: RunHandle<Value>;
  /**
   * Says something: it begins the conversation, or its next turn, or steers the turn that goes on.
   * Settles when the service has it, which needs no worker.
   *
   * @throws UsageError `invalid_input` for a message that no conversation would take;
   * `service_unavailable` after ten seconds without the service. Repeat it under the same `id`.
   */
  say(message: string | Task, options?: SayOptions): Promise<TurnHandle<Value>>;
  /** The turn that a message began or reached. Does not call the service. */
  turn(messageId: string): TurnHandle<Value>;
  /** The newest turn; null before the first. */
  newest(): Promise<TurnHandle<Value> | null>;
  /** The turns, oldest first. Needs no worker. */
  turns(options?: TurnsOptions): Promise<readonly ConversationTurn<Value>[]>;
  /** Ends the conversation after the turn that goes on; the next message begins it anew. */
  close(options?: StatedActor): Promise<void>;
  /** Ends the conversation and the turn that goes on. */
  cancel(message?: string, options?: CancelOptions): Promise<void>;
}

/** What a conversation is made of. */
export interface ConversationParts {
  readonly client: Client;
  readonly taskQueue: string;
  readonly attributesOf: WithRunAttributes;
  readonly attach: (id: string) => RunHandle;
  readonly hasBlobs: () => boolean;
  /** The traceparent of the span that is active when something is said. */
  readonly traceparent?: (() => string | undefined) | undefined;
}

const TURN_OPTIONS = {
  context: true,
  limits: true,
  model: true,
  settings: true,
  toolChoice: true,
} as const;

const OPTIONS: { readonly [Name in keyof ConversationOptions]-?: true } = {
  ...TURN_OPTIONS,
  totalLimits: true,
  onEvent: true,
  id: true,
  tenant: true,
  idleMs: true,
  messages: true,
};

const SAY_OPTIONS: { readonly [Name in keyof SayOptions]-?: true } = {
  ...TURN_OPTIONS,
  id: true,
  by: true,
  instead: true,
};

/** How long the service has to take a message. */
const SERVICE_MS = 10_000;

/** Bytes of a message that may travel in a signal without a blob store. */
const MAX_MESSAGE_BYTES = 262_144;

/** The conversation of `agent`. Does not call the service. */
export function createConversation(
  parts: ConversationParts,
  agent: string,
  options: ConversationOptions = {},
): Conversation {
  requireKnown(options, OPTIONS, 'a conversation');
  const { client, attach } = parts;
  const { id = `${agent}-${randomUUID().slice(0, 8)}`, tenant, idleMs } = options;
  const workflowId = conversationWorkflow(checkedId(id), tenant);
  checkedIdle(idleMs);
  const earlier = options.messages === undefined ? undefined : bringAlong(options.messages);
  const start = startOf(agent, { id, tenant, idleMs });
  const place = (messageId: string): Promise<SaidPlace> =>
    asking(workflowId, () =>
      querying(workflowId, client, () =>
        client.workflow.getHandle(workflowId).query(placeQuery, messageId),
      ),
    );
  const run = attach(workflowId);
  const signal = (send: () => Promise<void>): Promise<void> =>
    toService(workflowId, client, send, Date.now() + SERVICE_MS);
  const turn = (messageId: string): TurnHandle =>
    createTurn(
      {
        run,
        place,
        cancelTurn: (number, message, { by } = {}) =>
          signal(() =>
            client.workflow
              .getHandle(workflowId)
              .signal(cancelSignal, { turn: number, ...defined({ message, by }) }),
          ),
      },
      messageId,
    );
  let isNew = options.id === undefined;
  return {
    id,
    agent,
    run,
    turn,
    say: async (said, sent = {}) => {
      requireKnown(sent, SAY_OPTIONS, '`say`');
      const message = messageOf(agent, said, { options, sent, hasBlobs: parts.hasBlobs() });
      const opening = { parts, workflowId, earlier, start: traced(start, parts.traceparent?.()) };
      await deliver(opening, message, isNew);
      isNew = false;
      return turn(message.id);
    },
    newest: () =>
      ifBegun(null, async () => {
        const { conversation } = await run.status();
        const newest = conversation?.recent.at(-1);
        if (newest !== undefined) return turn(newest.messageId);
        const [last] = await readTurns(run, { last: 1 });
        return last === undefined ? null : turn(last.messageId);
      }),
    turns: (range) => ifBegun([], () => readTurns(run, range)),
    close: ({ by } = {}) =>
      signal(() => client.workflow.getHandle(workflowId).signal(closeSignal, defined({ by }))),
    cancel: (message, how) => run.cancel(message, how),
  };
}

/** What `read` gives; `none` for a conversation of which the service knows nothing. */
async function ifBegun<Result>(none: Result, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (isUsageError(error) && error.code === 'run_not_found') return none;
    throw error;
  }
}

/** The start of a conversation; what is said comes apart. */
function startOf(
  agent: string,
  {
    id,
    tenant,
    idleMs,
  }: {
    readonly id: string;
    readonly tenant: string | undefined;
    readonly idleMs: number | undefined;
  },
): AgentInput {
  if (agent === '') throw invalid('Expected the name of an agent, got none. Name one.');
  return {
    v: 1,
    agent,
    task: { text: '' },
    conversation: id,
    converses: defined({ idleMs }),
    ...defined({ tenant }),
  };
}

function traced(start: AgentInput, parent: string | undefined): AgentInput {
  return parent === undefined ? start : { ...start, trace: { parent } };
}

interface Saying {
  readonly options: ConversationOptions;
  readonly sent: SayOptions;
  readonly hasBlobs: boolean;
}

/** The message, checked. */
function messageOf(
  agent: string,
  said: string | Task,
  { options, sent, hasBlobs }: Saying,
): SaidMessage {
  const { text, media }: Task = typeof said === 'string' ? { text: said } : said;
  const { id = randomUUID(), by, instead } = sent;
  const turn: TurnSettings = defined({
    context: sent.context ?? options.context,
    limits: sent.limits ?? options.limits,
    model: sent.model ?? options.model,
    settings: mergeSettings(options.settings, sent.settings),
    toolChoice: sent.toolChoice ?? options.toolChoice,
    onEvent: options.onEvent,
    totalLimits: options.totalLimits,
  });
  const [problem] = inputProblems(turn.totalLimits);
  if (problem !== undefined) throw new UsageError(problem.code, problem.message);
  const { totalLimits: _total, ...asStart } = turn;
  startInput(agent, { ...asStart, task: { text: text || '-', ...defined({ media }) } });
  const message: SaidMessage = {
    id,
    text,
    agent,
    ...defined({ media, by, instead }),
    ...(Object.keys(turn).length === 0 ? undefined : { turn }),
  };
  const read = readMessage(message);
  if (read.kind === 'invalid') throw invalid(read.message);
  const bytes = byteSize(message as unknown as Json);
  if (bytes > MAX_MESSAGE_BYTES && !hasBlobs) {
    throw invalid(
      `Expected a message of at most ${MAX_MESSAGE_BYTES} bytes without a blob store, got ${bytes}. Set EVERLOOP_BLOBS, or send media by URL.`,
    );
  }
  return message;
}

interface Opening {
  readonly parts: ConversationParts;
  readonly workflowId: string;
  readonly start: AgentInput;
  readonly earlier: readonly Message[] | undefined;
}

/** Sends the message; begins the conversation, also anew after its end, where it does not go on. */
async function deliver(opening: Opening, message: SaidMessage, isNew: boolean): Promise<void> {
  const { workflowId, parts } = opening;
  const { client } = parts;
  const until = Date.now() + SERVICE_MS;
  if (!isNew) {
    const handle = client.workflow.getHandle(workflowId);
    try {
      await toService(workflowId, client, () => handle.signal(saySignal, message), until);
      return;
    } catch (error) {
      if (!isEnded(error)) throw error;
    }
  }
  const after = isNew ? undefined : await endedBefore(client, workflowId);
  const send = (): Promise<void> => begin(opening, message, after);
  await toService(workflowId, client, send, until);
}

function isEnded(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  return isUsageError(error) && (error.code === 'run_ended' || error.code === 'run_not_found');
}

/** The last execution of the conversation; undefined: there was none, or it is forgotten. */
async function endedBefore(client: Client, workflowId: string): Promise<string | undefined> {
  return ifBegun(undefined, async () => (await describeRun(client, workflowId)).runId);
}

async function begin(
  { parts, workflowId, start, earlier }: Opening,
  message: SaidMessage,
  after: string | undefined,
): Promise<void> {
  const { client, taskQueue, attributesOf } = parts;
  const messages = after === undefined ? earlier : undefined;
  const converses = { ...start.converses, ...defined({ after, messages }) };
  const input = { ...start, converses };
  const bytes = byteSize(input as unknown as Json);
  const { start: most } = sizesOf({ blobs: parts.hasBlobs() });
  if (bytes > most) {
    throw invalid(
      `Expected \`messages\` of at most ${most} bytes, got ${bytes}. Bring fewer along, or send media by URL.`,
    );
  }
  const { tenant } = input;
  try {
    await attributesOf(input, (typedSearchAttributes) =>
      client.workflow.signalWithStart(AGENT_WORKFLOW, {
        args: [input],
        workflowId,
        taskQueue,
        typedSearchAttributes,
        memo: memoOf({ ...input, task: { text: message.text } }),
        signal: saySignal,
        signalArgs: [message],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        ...(tenant === undefined ? undefined : { priority: { fairnessKey: tenant } }),
      }),
    );
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return;
    throw unreadableError(error, `to start conversation \`${workflowId}\``) ?? error;
  }
}

function checkedIdle(idleMs: unknown): void {
  if (idleMs === undefined) return;
  if (typeof idleMs === 'number' && Number.isFinite(idleMs) && idleMs > 0) return;
  throw new UsageError(
    'number',
    `Expected \`idleMs\` to be a number above 0, got ${shown(idleMs)}. Change it.`,
  );
}

function checkedId(id: string): string {
  if (typeof id === 'string' && /^[\w.:@+-]{1,200}$/.test(id)) return id;
  throw invalid(
    `Expected the id of a conversation to be 1 to 200 letters, digits or any of _ . : @ + -, got ${shown(id)}. Choose another.`,
  );
}

function invalid(message: string): UsageError {
  return new UsageError('invalid_input', message);
}
