/** The log of a worker process. */
import { DefaultLogger, Runtime, type LogEntry, type Logger } from '@temporalio/worker';
import { defined } from '../../core/base/defined.ts';
import type { LogLevel } from '../config/config.ts';
import { HIDE_NOTHING, type HideText } from '../../core/text/hide.ts';
import { redact } from '../../core/text/redact.ts';

/** Writes a line to the log of the SDK, without secrets; to stderr when the SDK is not running. */
export function workerLog(level: 'INFO' | 'WARN' | 'ERROR', text: string): void {
  const runtime = Runtime._instance;
  if (runtime === undefined) console.error(redact(text));
  else runtime.logger.log(level, redact(text));
}

/** What a log leaves out. */
export interface LogHiding {
  /** Whether errors are cut to their type: their texts hold what runs hold. */
  readonly hidesFailures: boolean;
  /** Takes values out of every line; default: nothing does. */
  readonly hide?: HideText;
}

/** Options of {@link workerLogger}. */
export interface WorkerLoggerOptions {
  readonly level: LogLevel;
  /** Asked for each line, since a process has one log and may get further workers. */
  readonly hiding: () => LogHiding;
  /** Default: to stderr, as the SDK writes. */
  readonly write?: (entry: LogEntry) => void;
}

/** The logger of a worker's process. */
export function workerLogger({ level, hiding, write }: WorkerLoggerOptions): Logger {
  const plain = new DefaultLogger(level, write);
  return new DefaultLogger(level, ({ level: at, message, meta = {} }) => {
    const { hidesFailures, hide = HIDE_NOTHING } = hiding();
    const shown = hidesFailures ? withoutFailures(meta) : meta;
    plain.log(at, hide(message), withoutValues(shown, hide));
  });
}

/** Deeper values of a line are left out. */
const MAX_DEPTH = 8;

function withoutValues<Meta extends object>(meta: Meta, hide: HideText): Meta {
  return (hide === HIDE_NOTHING ? meta : withoutValue(meta, hide, 0)) as Meta;
}

function withoutValue(value: unknown, hide: HideText, depth: number): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return undefined;
  const inside = (item: unknown): unknown => withoutValue(item, hide, depth + 1);
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    const shown = new Error(
      hide(message),
      cause === undefined ? undefined : { cause: inside(cause) },
    );
    return Object.assign(shown, { name, stack: hide(stack ?? `${name}: ${message}`) });
  }
  if (Array.isArray(value)) return value.map(inside);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inside(item)]));
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
