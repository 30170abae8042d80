/**
 * What waits for a person as a request of a task to its client, and the client's response as an
 * answer or a decision. Pure. Outside work is ended by what does it, and a pause by `adjust_run`, so
 * neither is a request.
 */
import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { maskHidden } from '../../core/children/run-child.ts';
import { cut } from '../../core/text/cut.ts';
import { numberedOptions, type Decision } from '../../core/contract/pending.ts';
import type { PendingItem } from '../../core/contract/messages.ts';

/** A request to a client: a form that a person fills in, or a page that a person opens. */
export interface InputRequest {
  readonly method: 'elicitation/create';
  readonly params: JsonObject;
}

/** What a response does. */
export type InputReply =
  | { readonly kind: 'answer'; readonly value: Json }
  | { readonly kind: 'decision'; readonly decision: Decision }
  /** The person closed the form: the item goes on waiting. */
  | { readonly kind: 'nothing' };

/** Bytes of a message: arguments of a call may be large. */
const MAX_MESSAGE_BYTES = 8_192;

type Question = Extract<PendingItem, { readonly kind: 'question' }>;
type Approval = Extract<PendingItem, { readonly kind: 'approval' }>;

/** The request for an item; undefined: the item is not for a person. */
export function inputRequestOf(item: PendingItem, opensPages: boolean): InputRequest | undefined {
  if (item.kind === 'approval') return approvalForm(item);
  if (item.kind !== 'question') return undefined;
  const url = detailOf(item, 'url');
  if (typeof url === 'string') return pageRequest(item, url, opensPages);
  const own = detailOf(item, 'form');
  if (isJsonObject(own)) {
    return formRequest(item.question, isOfObject(own) ? own : object({ [ANSWER]: own }, [ANSWER]));
  }
  return formRequest(item.question, object({ [ANSWER]: answerField(item) }, [ANSWER]));
}

/**
 * What a client's response to the request for an item means.
 *
 * @throws UsageError `invalid_input` for a response that is none.
 */
export function replyOf(item: PendingItem, response: unknown): InputReply {
  const { action, content } = readResponse(item.id, response);
  if (action === 'cancel') return { kind: 'nothing' };
  if (item.kind === 'approval') return decisionOf(item, action, content);
  if (item.kind !== 'question') return { kind: 'nothing' };
  const form = detailOf(item, 'form');
  const url = detailOf(item, 'url');
  if (action === 'decline') {
    if (form !== undefined || url !== undefined)
      return { kind: 'answer', value: { decline: true } };
    if (takesAnyText(item)) return { kind: 'answer', value: DECLINED };
    throw refused(
      item.id,
      'a choice of one of its options',
      'a refusal. Choose one, or cancel the task',
    );
  }
  if (url !== undefined) return { kind: 'answer', value: true };
  if (isJsonObject(form) && isOfObject(form)) return { kind: 'answer', value: content };
  return { kind: 'answer', value: content[ANSWER] ?? null };
}

/** The fields of our own forms. */
const ANSWER = 'answer';
const DECISION = 'decision';
const REASON = 'reason';

/** What the agent reads when a person declines to answer or to allow. */
const DECLINED = 'The person declined to answer.';
const DENIED = 'The person said no.';

function approvalForm({ tool, args, reasoning }: Approval): InputRequest {
  const why = reasoning === undefined ? '' : `\n${reasoning}`;
  return formRequest(
    `Allow ${tool} ${JSON.stringify(maskHidden(args))}?${why}`,
    object(
      {
        [DECISION]: { type: 'string', title: 'Decision', enum: ['approve', 'deny'] },
        [REASON]: { type: 'string', title: 'Reason', description: 'Why not; the agent reads it.' },
      },
      [DECISION],
    ),
  );
}

function decisionOf(
  { id }: Approval,
  action: 'accept' | 'decline',
  content: JsonObject,
): InputReply {
  const { [DECISION]: decision, [REASON]: reason } = content;
  const deny = typeof reason === 'string' && reason.trim() !== '' ? reason : DENIED;
  if (action === 'decline' || decision === 'deny') return { kind: 'decision', decision: { deny } };
  if (decision === 'approve') return { kind: 'decision', decision: { approve: true } };
  throw refused(id, '`decision` to be approve or deny', JSON.stringify(decision ?? null));
}

function answerField(item: Question): JsonObject {
  const { options = [], free } = item;
  if (options.length === 0) return { type: 'string', title: 'Answer' };
  if (!free) return { type: 'string', title: 'Answer', enum: options };
  const description = `One of ${numberedOptions(options)}, or any other text.`;
  return { type: 'string', title: 'Answer', description };
}

function takesAnyText({ options = [], free }: Question): boolean {
  return free || options.length === 0;
}

/** A page, or for a client that opens none a form that names it. */
function pageRequest({ question }: Question, url: string, opensPages: boolean): InputRequest {
  if (opensPages) return elicitation({ mode: 'url', message: shownMessage(question), url });
  const done = { type: 'boolean', title: 'Done', default: true };
  return formRequest(`${question}\nOpen ${url} and confirm when it is done.`, object({ done }));
}

function formRequest(message: string, requestedSchema: JsonObject): InputRequest {
  return elicitation({ mode: 'form', message: shownMessage(message), requestedSchema });
}

function elicitation(params: JsonObject): InputRequest {
  return { method: 'elicitation/create', params };
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required };
}

function shownMessage(text: string): string {
  return cut(text, MAX_MESSAGE_BYTES);
}

/** A detail of a question that a tool or its server asks. */
function detailOf({ details }: Question, name: 'form' | 'url'): Json | undefined {
  return isJsonObject(details) && 'tool' in details ? details[name] : undefined;
}

/** Whether a form is of an object, and not of one value. */
function isOfObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || properties !== undefined;
}

interface Response {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content: JsonObject;
}

function readResponse(id: string, response: unknown): Response {
  const { action, content } = (response ?? {}) as { action?: unknown; content?: unknown };
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw refused(id, '`action` to be accept, decline or cancel', JSON.stringify(action ?? null));
  }
  return { action, content: isJsonObject(content as Json) ? (content as JsonObject) : {} };
}

function refused(id: string, expected: string, got: string): UsageError {
  const key = id.slice(0, 80);
  return new UsageError(
    'invalid_input',
    `Expected ${expected} in the response to \`${key}\`, got ${got.slice(0, 200)}. Correct it.`,
  );
}
