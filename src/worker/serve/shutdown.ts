/**
 * Stopping in order on a signal, and at once on the second. The Temporal runtime listens to signals
 * too unless it is installed with `shutdownSignals: []`; one of the two must do it, not both.
 */

/** The part of `process` that this file uses; tests give another one. */
export interface SignalSource {
  readonly on: (signal: NodeJS.Signals, listener: () => void) => unknown;
  readonly off: (signal: NodeJS.Signals, listener: () => void) => unknown;
  readonly exit: (code: number) => void;
}

/** What {@link stopOnSignal} does when a signal arrives. */
export interface ShutdownOptions {
  /** Called once, at the first signal: begins an ordered stop and does not throw. */
  readonly stop: (signal: NodeJS.Signals) => void;
  /** Called at the second signal, just before the process ends at once. */
  readonly beforeForce?: (signal: NodeJS.Signals) => void;
  /** Default: those of a container, of Ctrl-C and of a closed terminal. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Default: `process`. */
  readonly source?: SignalSource;
}

/** SIGTERM from an orchestrator, SIGINT from Ctrl-C, SIGHUP from a terminal that was closed. */
const SHUTDOWN_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];

/** What a shell reports for a process that ended by Ctrl-C: 128 and the signal's number. */
const EXIT_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

/**
 * Calls `stop` at the first signal; a second one ends the process at once with the code that a
 * shell expects. Returns a function that takes the listeners away; calling it twice is harmless.
 *
 * @example
 * const release = stopOnSignal({ stop: () => worker.shutdown() });
 * try { await worker.run(); } finally { release(); }
 */
export function stopOnSignal(options: ShutdownOptions): () => void {
  const signals = options.signals ?? SHUTDOWN_SIGNALS;
  const source = options.source ?? process;
  let isStopping = false;
  const listeners = signals.map((signal) => ({
    signal,
    listener: (): void => {
      if (!isStopping) {
        isStopping = true;
        options.stop(signal);
        return;
      }
      options.beforeForce?.(signal);
      source.exit(EXIT_CODES[signal] ?? 1);
    },
  }));
  for (const { signal, listener } of listeners) source.on(signal, listener);
  return () => {
    for (const { signal, listener } of listeners) source.off(signal, listener);
  };
}
