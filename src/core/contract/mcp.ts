/** What a run keeps of Model Context Protocol servers: whose tool a call is, and what a server asks. */
import type { Json, JsonObject } from '../base/json.ts';

/** The tool of a server as a run began with it; at most 200 bytes. */
export interface McpBinding {
  /** The name of the server's definition. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** 16 hex digits over name, description, schema and annotations of the tool. */
  readonly hash: string;
}

/** What a server wants to know before it ends a call. */
export type McpRequest =
  /** `form` is the flat JSON Schema of the answer. */
  | { readonly kind: 'form'; readonly message: string; readonly form: JsonObject }
  /** The person opens `url`, and says that it is done. */
  | { readonly kind: 'url'; readonly message: string; readonly url: string };

/** A call that its server can end only with answers. */
export interface McpInput {
  /** By the keys under which the server expects the answers; answered in the order of the keys. */
  readonly requests: { readonly [key: string]: McpRequest };
  /** The server's own note, which goes back to it unchanged; absent: it gave none. */
  readonly state?: string;
}

/** How one request ended. */
export type McpResponse =
  | { readonly action: 'accept'; readonly content?: { readonly [field: string]: Json } }
  /** A person did not want to answer. */
  | { readonly action: 'decline' }
  /** No answer came: the time was up, or the call was stopped. */
  | { readonly action: 'cancel' };

/** What the call of a tool goes on with. */
export interface McpResume {
  readonly state?: string;
  readonly responses: { readonly [key: string]: McpResponse };
}
