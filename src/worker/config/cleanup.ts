/** Collects functions that stop what was started, and calls them newest first. */
export interface Cleanup {
  /** Adds a function that stops what was just started. */
  readonly add: (stop: () => Promise<void> | void) => void;
  /**
   * Stops everything, newest first. A failure does not keep the rest from stopping; it rejects at
   * the end, with the first failure. A second call waits for the first.
   */
  readonly run: () => Promise<void>;
}

/** An empty {@link Cleanup}. */
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

/**
 * Runs `start` with a new {@link Cleanup}; when it fails, everything that it started is stopped.
 */
export async function withCleanup<Result>(
  start: (cleanup: Cleanup) => Promise<Result>,
): Promise<Result> {
  const cleanup = createCleanup();
  try {
    return await start(cleanup);
  } catch (error) {
    // The caller needs the first error; a failing stop only follows from it.
    await cleanup.run().catch(() => undefined);
    throw error;
  }
}
