/**
 * The heartbeat of an activity: what tells the service that the worker lives, what brings the news of
 * a cancellation (only the answer to a heartbeat does), and what one attempt leaves to the next.
 */
import { Context } from '@temporalio/activity';
import type { Json } from '../core/json.ts';

/**
 * Before the first heartbeat: one at entry makes an activity of 16 ms one of 20 ms, and 97 activities
 * a second of forty runs 82 (measured on a real server).
 */
const firstBeatMs = 500;

/** Between heartbeats: a cancellation arrives within about this time. */
const beatMs = 1_000;

/** Options of {@link withHeartbeat}. */
export interface HeartbeatOptions {
  /**
   * What the next attempt of this activity finds under {@link detailsOfEarlierAttempt}. Asked at each
   * heartbeat, and once more when the run failed.
   */
  readonly details?: () => Json;
}

/**
 * Runs `run` inside the current activity, with heartbeats from half a second on until it is done. If
 * it throws, one last heartbeat carries the details on to the next attempt. Timers are always cleared.
 *
 * @example
 * await withHeartbeat(() => callEntry(entry, request, io), { details: () => ({ usage }) });
 */
export async function withHeartbeat<T>(
  run: () => Promise<T>,
  options: HeartbeatOptions = {},
): Promise<T> {
  const context = Context.current();
  // Local activities have no heartbeat: they run inside the workflow task.
  if (context.info.isLocal) return run();
  const beat = (): void => context.heartbeat(options.details?.());
  let timer = setTimeout(function again() {
    beat();
    timer = setTimeout(again, beatMs);
  }, firstBeatMs);
  try {
    return await run();
  } catch (error) {
    if (options.details !== undefined) beat();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** What the last heartbeat of the attempt before carried; undefined at the first attempt. */
export function detailsOfEarlierAttempt(): Json | undefined {
  const details: unknown = Context.current().info.heartbeatDetails;
  // Written by `details` above and carried as JSON by the service.
  return details === null ? undefined : (details as Json | undefined);
}
