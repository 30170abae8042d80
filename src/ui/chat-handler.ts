/**
 * The server side of `useChat`: a function from Request to Response. It keeps nothing in memory, so
 * each request may reach another process.
 */
import { defined } from '../core/base/defined.ts';
import type { JsonObject } from '../core/base/json.ts';
import { requireKnown } from '../core/text/option-names.ts';
import type { UsageCode } from '../core/base/usage-codes.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import {
  openConversation,
  type Conversation,
  type ConversationClient,
  type ConversationOptions,
} from '../client/conversation.ts';
import type { RunHandle } from '../client/run-handle.ts';
import { readChatRequest, type Said } from './chat-request.ts';
import { toUIMessageStream, type UIStreamOptions } from './to-ui-stream.ts';
import { uiResponse } from './ui-chunk.ts';

/** Options of {@link createChatHandler}. */
export interface ChatHandlerOptions
  extends Omit<ConversationOptions, 'id'>, Pick<UIStreamOptions, 'text'> {
  readonly everloop: ConversationClient;
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
   * the person who asks. `body` is what the page sent, so it proves nothing about the person. Null
   * refuses the request with 403. Not called for a request that continues a stream.
   */
  readonly turn?: (
    request: Request,
    body: JsonObject,
  ) => ChatTurn | null | Promise<ChatTurn | null>;
  /** Maximum size of a request; default 4 MB. The page sends all messages of the chat each time. */
  readonly maxBodyBytes?: number;
}

/** What the server decides for the turn of one request, such as by who is signed in. */
export interface ChatTurn extends Pick<
  ConversationOptions,
  'context' | 'limits' | 'model' | 'settings' | 'toolChoice' | 'onEvent'
> {
  /** The agent that answers; of a conversation with another one, the request is refused. */
  readonly agent?: string;
}

const TURN_OPTIONS: { readonly [Name in keyof ChatTurn]-?: true } = {
  agent: true,
  context: true,
  limits: true,
  model: true,
  settings: true,
  toolChoice: true,
  onEvent: true,
};

const OPTIONS: { readonly [Name in keyof ChatHandlerOptions]-?: true } = {
  ...TURN_OPTIONS,
  everloop: true,
  conversation: true,
  turn: true,
  historyBytes: true,
  maxBodyBytes: true,
  text: true,
};

const MAX_BODY_BYTES = 4_194_304;

/** The statuses of refusals; others are 500. */
const STATUSES: Partial<Readonly<Record<UsageCode, number>>> = {
  invalid_input: 400,
  id_in_use: 409,
  run_busy: 429,
  no_worker: 503,
};

/**
 * Answers `POST /api/chat` and `GET /api/chat/{id}/stream` of `useChat`. A new message starts a turn,
 * answers the question that waits, or goes to the turn that runs; an approval decides about its
 * call. The GET continues the stream of the turn that runs, from the person's last message on, or
 * answers 204. Where the routes are mounted does not matter.
 *
 * @example
 * const handler = createChatHandler({ everloop, agent: 'host' });
 * app.all('/api/chat/*', (c) => handler(c.req.raw)); // Hono
 * export { handler as GET, handler as POST }; // Next
 */
export function createChatHandler(
  options: ChatHandlerOptions,
): (request: Request) => Promise<Response> {
  requireKnown(options, OPTIONS, 'a chat handler');
  return async (request) => {
    try {
      if (request.method === 'GET') return await resume(request, options);
      if (request.method === 'POST') return await say(request, options);
      return refusal(405, 'Expected GET or POST.');
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
  requireKnown(given, TURN_OPTIONS, '`turn`');
  const chat = given && (await open(request, chatId, { ...options, ...given }));
  if (chat === null) return refusal(403, NOT_ALLOWED);
  const stream = await take(chat, said);
  return respond(request, options, stream);
}

async function resume(request: Request, options: ChatHandlerOptions): Promise<Response> {
  const chatId = /\/([^/]+)\/stream\/?$/.exec(new URL(request.url).pathname)?.[1];
  if (chatId === undefined) return refusal(404, 'Expected the path to end with /{id}/stream.');
  const chat = await open(request, decodeURIComponent(chatId), options);
  if (chat === null) return refusal(403, NOT_ALLOWED);
  const run = chat.newest();
  if (run === null || (await run.step()) !== null) return new Response(null, { status: 204 });
  return respond(request, options, { run, from: 'resume' });
}

const NOT_ALLOWED = 'Expected a conversation that you may use.';

async function open(
  request: Request,
  chatId: string,
  {
    everloop,
    agent,
    conversation,
    context,
    limits,
    model,
    settings,
    toolChoice,
    onEvent,
    historyBytes,
  }: ChatHandlerOptions,
): Promise<Conversation | null> {
  const id = conversation === undefined ? chatId : await conversation(request, chatId);
  if (id === null) return null;
  const given = { context, limits, model, settings, toolChoice, onEvent, historyBytes };
  return openConversation(everloop, agent, { id, ...defined(given) });
}

/** The run that a request is about, and the part of it that belongs to the next message. */
interface Answering extends Pick<UIStreamOptions, 'from' | 'messageId' | 'continues'> {
  readonly run: RunHandle;
}

async function take(chat: Conversation, said: Said): Promise<Answering> {
  const newest = chat.newest();
  if (said.kind === 'decisions') {
    if (newest === null) throw nothingWaits(chat.id);
    const from = (await newest.events()).length;
    await decide(newest, said);
    return { run: newest, from, messageId: said.messageId, continues: true };
  }
  if (newest === null || (await newest.step()) !== null) {
    const { run } = await chat.say(said.task);
    return { run, from: 'start' };
  }
  const from = (await newest.events()).length;
  const question = await openQuestion(newest);
  if (question !== undefined) {
    await newest.answer(question, said.task.text, { updateId: said.messageId });
    return { run: newest, from, messageId: `${newest.id}/${said.messageId}` };
  }
  const { run, how } = await chat.say(said.task);
  return how === 'started'
    ? { run, from: 'start' }
    : { run, from, messageId: `${run.id}/${said.messageId}` };
}

function nothingWaits(id: string): UsageError {
  return new UsageError(
    'invalid_input',
    `Expected a call of conversation \`${id}\` that waits for approval, got a conversation without messages. Send a message first.`,
  );
}

/** Decides about the calls that still wait; a request that is sent twice counts once. */
async function decide(
  run: RunHandle,
  { decisions }: Extract<Said, { readonly kind: 'decisions' }>,
): Promise<void> {
  const waiting = new Set((await run.pending()).map(({ id }) => id));
  for (const { id, approved, reason = 'The person said no.' } of decisions) {
    if (!waiting.has(id)) continue;
    const decision = approved ? { approve: true as const } : { deny: reason };
    await run.decide(id, decision, { updateId: `${id}/decision` });
  }
}

async function openQuestion(run: RunHandle): Promise<string | undefined> {
  return (await run.pending()).find(({ kind }) => kind === 'question')?.id;
}

function respond(
  { signal }: Request,
  { text }: ChatHandlerOptions,
  { run, ...place }: Answering,
): Response {
  return uiResponse(toUIMessageStream(run, { ...place, ...defined({ text }), signal }));
}

function refusal(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain' } });
}
