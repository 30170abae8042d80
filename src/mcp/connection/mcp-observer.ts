/** What the servers of a worker tell those who watch them. */
import type { McpFailure } from './failures.ts';

/**
 * How a call ended: the server answered, answered with an error, or asked; it refused the credentials
 * or had too many requests; the request did not leave, its answer did not come or could not be used;
 * the caller stopped it.
 */
export type McpCallOutcome = 'ok' | 'error' | 'input_required' | McpFailure['kind'] | 'stopped';

/** Watches servers. It changes nothing about them, and must neither wait nor throw. */
export interface McpObserver {
  called(server: string, outcome: McpCallOutcome): void;
  /** `open`: the connections that the server has now. */
  connections(server: string, open: number): void;
  /** A connection was made. `version`: the revision of the protocol that both sides speak. */
  connected(server: string, version: string): void;
}

/** Watches nothing. */
export const NO_OBSERVER: McpObserver = {
  called: () => undefined,
  connections: () => undefined,
  connected: () => undefined,
};
