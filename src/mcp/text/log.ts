/** Where `src/mcp` says what people who run a worker should know. */
export type McpLog = (level: 'info' | 'warn', message: string) => void;
