import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { LogLevel } from '../config/config.ts';

/**
 * Sets up the Temporal runtime of this process, once; later calls change nothing. Its log goes to
 * stderr, the native part's too, so that stdout belongs to the program. It listens to no signals:
 * `stopOnSignal` does.
 */
export function installRuntime(logLevel: LogLevel): void {
  // A user who installed one of their own meant it.
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

/** The native part is talkative: below a warning only when somebody looks for details. */
function nativeLevel(logLevel: LogLevel): LogLevel {
  return logLevel === 'INFO' ? 'WARN' : logLevel;
}
