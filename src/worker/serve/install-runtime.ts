import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { LogLevel } from '../config/config.ts';

/**
 * Sets up the Temporal runtime of this process; later calls have no effect. All of its log goes to
 * stderr, so that stdout belongs to the program. It ignores signals, which `stopOnSignal` handles.
 */
export function installRuntime(logLevel: LogLevel): void {
  // The user's own runtime takes precedence.
  if (Runtime._instance !== undefined) return;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(logLevel),
    telemetryOptions: {
      logging: {
        forward: {},
        filter: makeTelemetryFilterString({ core: nativeLevel(logLevel), other: 'ERROR' }),
      },
    },
  });
}

/** The native part logs a lot, so at level INFO only its warnings are shown. */
function nativeLevel(logLevel: LogLevel): LogLevel {
  return logLevel === 'INFO' ? 'WARN' : logLevel;
}
