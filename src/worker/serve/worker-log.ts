/** The log of a worker process. */
import { DefaultLogger, Runtime, type LogEntry, type Logger } from '@temporalio/worker';
import { defined } from '../../core/base/defined.ts';
import type { LogLevel } from '../config/config.ts';
import { redact } from '../../core/text/redact.ts';

/** Writes a line to the log of the SDK, without secrets; to stderr when the SDK is not running. */
export function workerLog(level: 'INFO' | 'WARN' | 'ERROR', text: string): void {
  const runtime = Runtime._instance;
  if (runtime === undefined) console.error(redact(text));
  else runtime.logger.log(level, redact(text));
}

/** Options of {@link workerLogger}. */
export interface WorkerLoggerOptions {
  readonly level: LogLevel;
  /** Whether errors are cut to their type: their texts hold what runs hold. */
  readonly hidesFailures: boolean;
  /** Default: to stderr, as the SDK writes. */
  readonly write?: (entry: LogEntry) => void;
}

/** The logger of a worker's process. */
export function workerLogger({ level, hidesFailures, write }: WorkerLoggerOptions): Logger {
  const plain = new DefaultLogger(level, write);
  if (!hidesFailures) return plain;
  return new DefaultLogger(level, ({ level: at, message, meta }) => {
    plain.log(at, message, meta === undefined ? undefined : withoutFailures(meta));
  });
}

/** What of the SDK's log lines holds a whole task. */
const TASK_FIELDS = ['task', 'taskEncoded'];

function withoutFailures(meta: NonNullable<LogEntry['meta']>): NonNullable<LogEntry['meta']> {
  const kept = Object.entries(meta).filter(([name]) => !TASK_FIELDS.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, value instanceof Error ? typeOf(value) : value]),
  );
}

function typeOf(error: Error): object {
  const { type, cause } = error as { readonly type?: unknown; readonly cause?: unknown };
  return {
    ...defined({ type: typeof type === 'string' ? type : error.name }),
    ...(cause instanceof Error ? { cause: typeOf(cause) } : undefined),
  };
}
