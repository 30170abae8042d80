/**
 * Stops in order on the first signal, within a time, and at once on the second. Install the Temporal runtime with
 * `shutdownSignals: []`, so that only one of the two handles signals.
 */

/** The part of `process` that this file uses; tests replace it. */
export interface SignalSource {
  readonly on: (signal: NodeJS.Signals, listener: () => void) => unknown;
  readonly off: (signal: NodeJS.Signals, listener: () => void) => unknown;
  readonly exit: (code: number) => void;
}

/** Options of {@link stopOnSignal}. */
export interface ShutdownOptions {
  /** Called at the first signal; begins an ordered stop. Must not throw. */
  readonly stop: (signal: NodeJS.Signals) => void;
  /** Called at the second signal, just before the process ends at once. */
  readonly beforeForce?: (signal: NodeJS.Signals) => void;
  /**
   * How long the ordered stop may take, in ms: the process ends when the returned function was not
   * called until then. Default: as long as it takes.
   */
  readonly deadlineMs?: number;
  /** Called when that time is over, just before the process ends. */
  readonly onDeadline?: () => void;
  /** Default: SIGTERM, SIGINT and SIGHUP. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Default: `process`. */
  readonly source?: SignalSource;
}

/** SIGTERM from an orchestrator, SIGINT from Ctrl-C, SIGHUP from a closed terminal. */
const SHUTDOWN_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];

/** 128 plus the number of the signal, as a shell reports it. */
const EXIT_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

/**
 * Calls `stop` at the first signal. A second signal, or the deadline, ends the process at once
 * with the exit code that a shell expects. Returns a function that removes the listeners; it may be called twice.
 *
 * @example
 * const release = stopOnSignal({ stop: () => worker.shutdown() });
 * try { await worker.run(); } finally { release(); }
 */
export function stopOnSignal(options: ShutdownOptions): () => void {
  const signals = options.signals ?? SHUTDOWN_SIGNALS;
  const source = options.source ?? process;
  const { deadlineMs, onDeadline } = options;
  let isStopping = false;
  let late: ReturnType<typeof setTimeout> | undefined;
  const end = (signal: NodeJS.Signals, say: (() => void) | undefined): void => {
    say?.();
    source.exit(EXIT_CODES[signal] ?? 1);
  };
  const listeners = signals.map((signal) => ({
    signal,
    listener: (): void => {
      if (!isStopping) {
        isStopping = true;
        if (deadlineMs !== undefined) late = setTimeout(end, deadlineMs, signal, onDeadline);
        options.stop(signal);
        return;
      }
      end(signal, () => options.beforeForce?.(signal));
    },
  }));
  for (const { signal, listener } of listeners) source.on(signal, listener);
  return () => {
    clearTimeout(late);
    for (const { signal, listener } of listeners) source.off(signal, listener);
  };
}
