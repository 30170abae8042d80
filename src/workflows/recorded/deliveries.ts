/**
 * The order in which what comes to a workflow takes effect: messages, timers, results of activities
 * and ends of children.
 *
 * A local activity ends in the workflow task that began it, or in a later one: a query, a heartbeat
 * or a lost worker moves its end. The service records only its result, so a replay sees the end as
 * early as it can. What came between, a replay sees later than the first execution did, and the SDK
 * then finds commands in another order, or gives the result of one activity to another.
 *
 * D1  While a local activity is open, nothing else takes effect. So its end has one place: before all
 *     that came after its start.
 * D2  Local activities that are open together end in the order in which they began.
 * D3  One thing takes effect at a time: the next one waits until the workflow has nothing left to do
 *     but wait. So it makes no difference which of them came in one workflow task.
 * D4  A workflow that has got no result of an activity for long reads the clock before it goes on.
 * D5  An update is accepted once all that came with it has had its effect and no local activity is
 *     open. Its acceptance is a command, and a replay may join its task with the one before, or see the
 *     end of a local activity in that one: what follows from either comes before it, always.
 */

/** Gives each thing that comes its turn. */
export interface Deliveries {
  /** Settles when what has just come may take effect. */
  readonly turn: () => Promise<void>;
  /** Holds everything else until `call`, a local activity, has ended and what follows it has run. */
  readonly local: <Result>(call: Promise<Result>) => Promise<Result>;
  /** Settles when all that has come has taken effect, and no local activity is open. */
  readonly settled: () => Promise<void>;
}

/** What deliveries need of their workflow. */
export interface DeliveryParts {
  /** Settles when the workflow has nothing left to do but wait. */
  readonly quiet: () => Promise<void>;
  /** Whether the clock must be read before the next delivery. */
  readonly isClockDue: () => boolean;
  /** Reads the clock by a local activity, which it begins at once. */
  readonly readClock: () => void;
}

interface OpenLocal {
  readonly release: () => void;
  hasEnded: boolean;
}

/** Nothing has come yet. */
export function createDeliveries({ quiet, isClockDue, readClock }: DeliveryParts): Deliveries {
  const open: OpenLocal[] = [];
  const waiting: (() => void)[] = [];
  let settling: (() => void)[] = [];
  let isDelivering = false;

  /** What takes effect next; undefined: nothing can. */
  const next = (): (() => void) | undefined => {
    const [first] = open;
    if (first !== undefined) return first.hasEnded ? open.shift()?.release : undefined;
    return waiting.length > 0 && isClockDue() ? readClock : waiting.shift();
  };
  const deliver = async (): Promise<void> => {
    if (isDelivering) return;
    isDelivering = true;
    for (let due = next(); due !== undefined; due = next()) {
      due();
      await quiet();
    }
    isDelivering = false;
    if (open.length > 0) return;
    const settled = settling;
    settling = [];
    for (const resolve of settled) resolve();
  };
  return {
    settled: async () => {
      // What came in the same activation asks for its turn first.
      await quiet();
      while (isDelivering || open.length > 0)
        await new Promise<void>((resolve) => {
          settling.push(resolve);
        });
    },
    turn: () => {
      const turn = new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
      void deliver();
      return turn;
    },
    local: (call) => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const one: OpenLocal = { release, hasEnded: false };
      open.push(one);
      const end = (): void => {
        one.hasEnded = true;
        void deliver();
      };
      call.then(end, end);
      return released.then(() => call);
    },
  };
}
