/**
 * The server side of `useChat`: a function from Request to Response. It keeps nothing in memory, so
 * each request may reach another process, and a request that is sent twice counts once.
 */
import { defined } from '../core/base/defined.ts';
import type { JsonObject } from '../core/base/json.ts';
import type { StatedActor } from '../core/contract/pending.ts';
import { requireKnown } from '../core/text/option-names.ts';
import type { UsageCode } from '../core/base/usage-codes.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import type { Conversation, ConversationOptions } from '../client/conversation.ts';
import type { TurnHandle } from '../client/turn.ts';
import type { Everloop } from '../client/everloop-client.ts';
import { pause } from '../client/streaming/follow-chunks.ts';
import { answerPage, askAgain, lastSaid, sayOrAnswer, type ChatReply } from './chat-actions.ts';
import { readChatRequest } from './chat-request.ts';
import { streamPart, type UIStreamOptions } from './to-ui-stream.ts';
import { uiResponse } from './ui-chunk.ts';

/** Options of {@link createChatHandler}. */
export interface ChatHandlerOptions
  extends Omit<ConversationOptions, 'id' | 'messages'>, Pick<UIStreamOptions, 'text'> {
  readonly everloop: Pick<Everloop, 'conversation'>;
  /** The agent that answers. */
  readonly agent: string;
  /**
   * The conversation that a request may use, or null to refuse it with 403. `chatId` is what the page
   * sends, so it proves nothing about the person. Default: the conversation with the id `chatId`,
   * for everyone who knows it.
   */
  readonly conversation?: (
    request: Request,
    chatId: string,
  ) => string | null | Promise<string | null>;
  /**
   * What this turn gets in place of the options of the same names: the context, limits and model of
   * the person who asks, and who that is. `body` is what the page sent, so it proves nothing about the
   * person. Null refuses the request with 403. Called for each POST.
   */
  readonly turn?: (
    request: Request,
    body: JsonObject,
  ) => ChatTurn | null | Promise<ChatTurn | null>;
  /** Maximum size of a request; default 4 MB. The page sends all messages of the chat each time. */
  readonly maxBodyBytes?: number;
}

/** What the server decides for the turn of one request, such as by who is signed in. */
export interface ChatTurn
  extends
    StatedActor,
    Pick<
      ConversationOptions,
      'context' | 'limits' | 'model' | 'settings' | 'toolChoice' | 'onEvent'
    > {
  /** The agent that answers; of a conversation with another one, the turn fails. */
  readonly agent?: string;
}

const TURN_OPTIONS = {
  agent: true,
  context: true,
  limits: true,
  model: true,
  settings: true,
  toolChoice: true,
  onEvent: true,
} as const;

const CHAT_TURN: { readonly [Name in keyof ChatTurn]-?: true } = { ...TURN_OPTIONS, by: true };

const OPTIONS: { readonly [Name in keyof ChatHandlerOptions]-?: true } = {
  ...TURN_OPTIONS,
  everloop: true,
  conversation: true,
  tenant: true,
  idleMs: true,
  totalLimits: true,
  turn: true,
  maxBodyBytes: true,
  text: true,
};

const MAX_BODY_BYTES = 4_194_304;

/** The statuses of refusals; others are 500. */
const STATUSES: Partial<Readonly<Record<UsageCode, number>>> = {
  invalid_input: 400,
  id_in_use: 409,
  run_not_found: 404,
  run_busy: 429,
  no_worker: 503,
  service_unavailable: 503,
};

/**
 * Answers the three requests of a chat. `POST …` says something, edits, asks for another reply,
 * approves, or gives output of a call. `GET …/{id}/stream` goes on with the reply of the open turn, or
 * answers 204. `DELETE …/{id}/stream` ends the open turn. Where the routes are mounted does not matter.
 *
 * @example
 * const handler = createChatHandler({ everloop, agent: 'host' });
 * app.all('/api/chat/*', (c) => handler(c.req.raw)); // Hono
 * export { handler as DELETE, handler as GET, handler as POST }; // Next
 */
export function createChatHandler(
  options: ChatHandlerOptions,
): (request: Request) => Promise<Response> {
  requireKnown(options, OPTIONS, 'a chat handler');
  return async (request) => {
    try {
      switch (request.method) {
        case 'POST':
          return await say(request, options);
        case 'GET':
          return await resume(request, options);
        case 'DELETE':
          return await stop(request, options);
        default:
          return refusal(405, 'Expected GET, POST or DELETE.');
      }
    } catch (error) {
      if (!isUsageError(error)) throw error;
      return refusal(STATUSES[error.code] ?? 500, error.message);
    }
  };
}

async function say(request: Request, options: ChatHandlerOptions): Promise<Response> {
  const { maxBodyBytes = MAX_BODY_BYTES, turn } = options;
  const { body, chatId, said } = await readChatRequest(request, maxBodyBytes);
  const given = turn === undefined ? {} : await turn(request, body);
  requireKnown(given, CHAT_TURN, '`turn`');
  if (given === null) return refusal(403, NOT_ALLOWED);
  const { by, ...settings } = given;
  const chat = await open(request, chatId, { ...options, ...settings });
  if (chat === null) return refusal(403, NOT_ALLOWED);
  const actor = defined({ by });
  switch (said.kind) {
    case 'message':
      return respond(request, options, await sayOrAnswer(chat, said, actor));
    case 'again':
      return respond(request, options, await askAgain(chat, said, actor));
    case 'answers':
      return respond(request, options, await answerPage(chat, said, actor));
  }
}

async function resume(request: Request, options: ChatHandlerOptions): Promise<Response> {
  const chat = await open(request, chatOf(request), options);
  if (chat === null) return refusal(403, NOT_ALLOWED);
  const turn = await openTurn(chat, request);
  if (turn === null) return new Response(null, { status: 204 });
  return respond(request, options, await lastSaid(chat, turn));
}

async function stop(request: Request, options: ChatHandlerOptions): Promise<Response> {
  const chat = await open(request, chatOf(request), options);
  if (chat === null) return refusal(403, NOT_ALLOWED);
  const turn = await openTurn(chat, request);
  await turn?.cancel('stopped by the person');
  return new Response(null, { status: 204 });
}

/** How often, and how long, a message is looked for that no turn has read. */
const LOOK_MS = 250;
const LOOKS = 20;

/** The turn that goes on, or is about to begin; null: there is none. */
async function openTurn(chat: Conversation, { signal }: Request): Promise<TurnHandle | null> {
  for (let left = LOOKS; ; left -= 1) {
    const turn = await chat.newest();
    if (turn !== null && (await turn.step()) === null) return turn;
    if (turn === null || left === 0 || (await chat.run.status()).unreadInputs === 0) return null;
    await pause(LOOK_MS, signal);
  }
}

const NOT_ALLOWED = 'Expected a conversation that you may use.';

function chatOf(request: Request): string {
  const id = /\/([^/]+)\/stream\/?$/.exec(new URL(request.url).pathname)?.[1];
  if (id !== undefined) return decodeURIComponent(id);
  throw new UsageError('invalid_input', 'Expected the path to end with /{id}/stream.');
}

async function open(
  request: Request,
  chatId: string,
  options: ChatHandlerOptions,
): Promise<Conversation | null> {
  const { everloop, agent, conversation } = options;
  const { tenant, idleMs, totalLimits } = options;
  const { context, limits, model, settings, toolChoice, onEvent } = options;
  const id = conversation === undefined ? chatId : await conversation(request, chatId);
  if (id === null) return null;
  const given = {
    tenant,
    idleMs,
    totalLimits,
    context,
    limits,
    model,
    settings,
    toolChoice,
    onEvent,
  };
  return everloop.conversation(agent, { id, ...defined(given) });
}

function respond(
  { signal }: Request,
  { text }: ChatHandlerOptions,
  { turn, messageId, ...part }: ChatReply,
): Response {
  return uiResponse(streamPart(turn, part, { messageId, ...defined({ text }), signal }));
}

function refusal(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain' } });
}
