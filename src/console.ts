/**
 * `everloop/console`: the web UI for agents, to be mounted in a server of your own. `everloop console`
 * serves the same one.
 */
export { createConsole, type Console, type ConsoleOptions } from './console/serve/console.ts';
export type { ConsoleAccess } from './console/access.ts';
export type { ActionLine } from './console/actions.ts';
export type { ConsoleAgents } from './console/agent-book.ts';
