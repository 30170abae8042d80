/** Whose tool a call of the Model Context Protocol is. */

/** The tool of a server as a run began with it; at most 200 bytes. */
export interface McpBinding {
  /** The name of the server's definition. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** 16 hex digits over name, description, schema and annotations of the tool. */
  readonly hash: string;
}
