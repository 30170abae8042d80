/** What a console asks of a client, and the rows that it makes of its lists. */
import type { Everloop } from '../client/everloop-client.ts';
import type { RunSummary } from '../client/run-list.ts';
import type { RunRow } from './api.ts';

/** The part of a client that a console uses: that of `connect()`, or one with the same methods. */
export type ConsoleClient = Pick<
  Everloop,
  | 'attach'
  | 'conversation'
  | 'start'
  | 'fork'
  | 'list'
  | 'listPage'
  | 'counts'
  | 'inbox'
  | 'workers'
  | 'agents'
  | 'pushedEvents'
  | 'setup'
  | 'schedules'
  | 'tenants'
>;

/** The most items of an inbox; the rest is counted. */
export const MAX_WAITING = 500;

/** A line of a list. */
export function rowOf({ startedAt, closedAt, status: _status, ...row }: RunSummary): RunRow {
  return { ...row, startedAt: startedAt.getTime(), closedAt: closedAt?.getTime() ?? null };
}
