/**
 * What one workflow task sends. A worker ends a task with one message, in which all that was issued in
 * it goes to the service, and the service takes messages of 4 MB. A run that needs more than that at
 * once must not stand still: what there is no room for waits for the next task.
 *
 * B1  Only what replay repeats decides: the sizes of what is issued, in the order in which it is
 *     issued, the firing of a timer of the run's own, and the reply that a loop waits for before it
 *     issues more. How large the result of a local activity is, and when it comes, decides nothing: the
 *     most that it may be counts when the activity begins.
 * B2  A timer that was started in a task fires in a later one, so all that was issued before it is sent
 *     then. A local activity leaves its result with the task in which it ends, so the timer starts
 *     once none is open.
 * B3  What waits goes out in its order. While anything waits, all that asks for room waits behind it.
 * B4  The timer fires only if something waits for it: a task that it begins issues something. Where
 *     everything fits there is no timer, and the history is as it would be without all this.
 */

/**
 * The bytes of one task: of commands, and of results of local activities. What does not ask for room
 * (signals, timers, memos, a page of a query) has the rest of the 4 MB.
 */
export const TASK_BYTES = 3_300_000;

/** A timer of the run. */
export interface TaskTimer {
  readonly fired: Promise<void>;
  readonly cancel: () => void;
}

/** What asks for room. */
export interface RoomOrder {
  readonly bytes: number;
  /** True: a local activity, which may return so many. Call `endLocal` when it has ended. */
  readonly isLocal?: boolean;
  /** Rejects when it is not to be issued any more. Default: never. */
  readonly canceled?: Promise<unknown> | undefined;
}

/** What the tasks of a run send. */
export interface TaskBytes {
  /**
   * Null: there is room, and the bytes count from now on. Otherwise it settles once a later task has
   * room for them, or when the order is canceled; then they do not count.
   */
  readonly take: (order: RoomOrder) => Promise<void> | null;
  /** A local activity has ended, whether or not it began. */
  readonly endLocal: () => void;
  /** Counts what was issued without asking. */
  readonly count: (bytes: number) => void;
  /** The returned function says that all that was issued before the mark has been sent. */
  readonly mark: () => () => void;
}

interface Waiting extends RoomOrder {
  readonly resolve: () => void;
}

/** The bytes that were issued, and how many of them are known to be sent. */
function createCount(most: number) {
  let total = 0;
  let sent = 0;
  return {
    add: (bytes: number): void => void (total += bytes),
    fits: (bytes: number): boolean => total === sent || total - sent + bytes <= most,
    mark: (): (() => void) => {
      const marked = total;
      return () => void (sent = Math.max(sent, marked));
    },
  };
}

/** Nothing was issued yet, and one task has `most`. `startTaskTimer` starts the shortest timer. */
export function createTaskBytes(most: number, startTaskTimer: () => TaskTimer): TaskBytes {
  const count = createCount(most);
  let openLocals = 0;
  let waiting: readonly Waiting[] = [];
  let timer: TaskTimer | null = null;

  const grant = ({ bytes, isLocal = false }: RoomOrder): void => {
    count.add(bytes);
    if (isLocal) openLocals += 1;
  };
  const startIfDue = (): void => {
    if (waiting.length === 0 || openLocals > 0 || timer !== null) return;
    const started = startTaskTimer();
    timer = started;
    const onFired = (): void => {
      if (timer === started) release();
    };
    void started.fired.then(onFired, () => undefined);
  };
  const release = (): void => {
    timer = null;
    count.mark()();
    for (const one of waiting) {
      if (!count.fits(one.bytes)) break;
      grant(one);
      waiting = waiting.slice(1);
      one.resolve();
    }
    startIfDue();
  };
  const leave = (one: Waiting): void => {
    if (!waiting.includes(one)) return;
    waiting = waiting.filter((other) => other !== one);
    grant({ ...one, bytes: 0 });
    one.resolve();
    if (waiting.length > 0) return;
    timer?.cancel();
    timer = null;
  };
  const wait = (order: RoomOrder): Promise<void> =>
    new Promise((resolve) => {
      const one: Waiting = { ...order, resolve };
      waiting = [...waiting, one];
      order.canceled?.catch(() => leave(one));
      startIfDue();
    });
  return {
    take: (order) => {
      if (waiting.length > 0 || !count.fits(order.bytes)) return wait(order);
      grant(order);
      return null;
    },
    endLocal: () => {
      openLocals -= 1;
      startIfDue();
    },
    count: count.add,
    mark: count.mark,
  };
}
