/**
 * Updates of one run, a few at a time. The service takes ten updates in flight for each run and
 * refuses the next (`history.maxInFlightUpdates`), so a burst waits here, first come, first served.
 *
 * I1  At most {@link MAX_IN_FLIGHT} updates of a run are in flight from one client.
 * I2  An update waits as long as other updates of its run succeed. It is late when none has
 *     succeeded for as long as its caller would wait.
 */
import type { Client } from '@temporalio/client';

/** The service's own default. */
const MAX_IN_FLIGHT = 10;

interface Lane {
  inFlight: number;
  /** When an update of the run last succeeded, in milliseconds since 1970. */
  progressAt: number;
  readonly waiting: (() => void)[];
}

const lanes = new WeakMap<Client, Map<string, Lane>>();

/**
 * Runs `update` of run `id` when its turn comes. It is late at `deadline()`, which is `withinMs` after
 * it was asked for, or after the last success of its lane (I2).
 */
export async function inLane<Result>(
  client: Client,
  { id, withinMs }: { readonly id: string; readonly withinMs: number },
  update: (deadline: () => number) => Promise<Result>,
): Promise<Result> {
  const lane = laneOf(client, id);
  const askedAt = Date.now();
  if (lane.inFlight < MAX_IN_FLIGHT) lane.inFlight += 1;
  // An update that ends gives its place to the next.
  else await new Promise<void>((resolve) => lane.waiting.push(resolve));
  try {
    const result = await update(() => Math.max(askedAt, lane.progressAt) + withinMs);
    lane.progressAt = Date.now();
    return result;
  } finally {
    const next = lane.waiting.shift();
    if (next !== undefined) next();
    else lane.inFlight -= 1;
    if (lane.inFlight === 0) lanes.get(client)?.delete(id);
  }
}

function laneOf(client: Client, id: string): Lane {
  const ofClient = lanes.get(client) ?? new Map<string, Lane>();
  lanes.set(client, ofClient);
  const lane = ofClient.get(id) ?? { inFlight: 0, progressAt: 0, waiting: [] };
  ofClient.set(id, lane);
  return lane;
}
