/** What has been started and must be stopped, the newest first, also when a later start fails. */
export interface Cleanup {
  /** Remembers how to stop what has just been started. */
  readonly add: (stop: () => Promise<void> | void) => void;
  /**
   * Stops everything, newest first, each even when another one fails; rejects with the first
   * failure. A second call waits for the first.
   */
  readonly run: () => Promise<void>;
}

/** An empty list of what to stop. */
export function createCleanup(): Cleanup {
  const stops: (() => Promise<void> | void)[] = [];
  let running: Promise<void> | undefined;

  const stopAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
      try {
        await stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  return {
    add: (stop) => void stops.push(stop),
    run: () => (running ??= stopAll()),
  };
}

/** Runs `start` with a list of its own; when it fails, whatever it had started is stopped first. */
export async function withCleanup<Result>(
  start: (cleanup: Cleanup) => Promise<Result>,
): Promise<Result> {
  const cleanup = createCleanup();
  try {
    return await start(cleanup);
  } catch (error) {
    // The first failure is what the caller has to hear of; a failing stop follows from it.
    await cleanup.run().catch(() => undefined);
    throw error;
  }
}
