/** What a call needs to know before it can end, and how people have answered. */
import type { Json, JsonObject } from '../base/json.ts';

/** One thing that the tool of a call wants to know. */
export type CallQuestion =
  /** `form` is the JSON Schema of the answer: of a flat object, or of one value. */
  | { readonly kind: 'form'; readonly message: string; readonly form: JsonObject }
  /** The person opens `url`, and says that it is done. */
  | { readonly kind: 'url'; readonly message: string; readonly url: string };

/** What a call can end only with answers to. */
export interface CallInput {
  /** By the keys under which the tool expects the answers; answered in the order of the keys. */
  readonly requests: { readonly [key: string]: CallQuestion };
  /** The tool's own note, which goes back to it unchanged; absent: it gave none. */
  readonly state?: Json;
  /** The time for an answer; absent: as long as the tool has for approvals. */
  readonly timeoutMs?: number;
}

/** How one request ended. */
export type QuestionResponse =
  | { readonly action: 'accept'; readonly content?: Json }
  /** A person did not want to answer. */
  | { readonly action: 'decline' }
  /** No answer came: the time was up, or the call was stopped. */
  | { readonly action: 'cancel' };

/** What the call of a tool goes on with. */
export interface CallResume {
  readonly state?: Json;
  readonly responses: { readonly [key: string]: QuestionResponse };
}
