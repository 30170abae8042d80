/**
 * Runs the code of one call, inside its thread or process.
 *
 * I1  Model calls and events are reported at once, so that they are not lost when the call is
 *     killed. Counters and gauges are reported together, a few times a second.
 * I2  The first error that the code of this call leaves uncaught ends the call. A later one, or
 *     one of an earlier call, is logged only.
 */
import type { Json } from '../../core/base/json.ts';
import { isToolError } from '../../core/base/tool-error.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import { notJsonText } from '../../core/toolchain/call-texts.ts';
import { toJsonResult } from '../../core/base/json-result.ts';
import type { ToolContext } from '../../define/definition/definitions.ts';
import { isCallInput } from '../../define/tool/call-input.ts';
import { isExternalReturn } from '../../define/tool/external.ts';
import { definedRun, runOf } from '../../define/tool/isolated-tool.ts';
import { isToolReturn } from '../../define/tool/tool-result.ts';
import { asCaller, callerText, currentCaller, type Caller } from '../caller.ts';
import { reporter, type KnownGauges, type Reporter } from '../reporter.ts';
import { lastOf } from '../last-of.ts';
import {
  MAX_MESSAGE_BYTES,
  type IsolatedEnd,
  type IsolatedOrder,
  type IsolatedReport,
} from './messages.ts';

/** What the code is connected to its worker by. */
export interface Connection {
  /** Sends a message at once. */
  readonly send: (text: string) => void;
  /** Calls `listener` when the call is stopped, with the name and the text of the reason. */
  readonly onStop: (listener: (name: string, message: string) => void) => void;
  /** Loads a module, TypeScript included. */
  readonly load: (url: string) => Promise<unknown>;
}

/** Counters and gauges are sent this often at most. */
const SUMS_MS = 100;

/** Characters of an error that are sent. */
const MAX_ERROR_LENGTH = 16_384;

/** The call that runs: one at a time. */
let running: { readonly caller: Caller; readonly fail: (error: unknown) => void } | undefined;

/** Runs the code and sends how it ended. Resolves then, and does not reject. */
export async function runOrder(order: IsolatedOrder, connection: Connection): Promise<void> {
  const { name, context } = order;
  const caller: Caller = {
    name: `tool ${name}`,
    run: String(context['run']),
    callId: String(context['callId']),
  };
  const { reports, flush } = reporting(connection.send, order.known);
  const stop = new AbortController();
  connection.onStop((reason, message) => stop.abort(new DOMException(message, reason)));
  const end = await new Promise<IsolatedEnd>((resolve) => {
    running = { caller, fail: (error) => resolve(thrown(error)) };
    const work = async (): Promise<unknown> => {
      const exported = await connection.load(order.module);
      const { definedAs } = order;
      const run =
        definedAs === undefined ? runOf(exported, order.module) : definedRun(exported, definedAs);
      const given = { ...context, ...reports, signal: stop.signal } as ToolContext;
      return lastOf(name, run(order.args, given), given);
    };
    asCaller(caller, work).then(
      (value) => resolve(returned(name, value)),
      (error: unknown) => resolve(thrown(error)),
    );
  });
  running = undefined;
  flush();
  connection.send(endText(name, end));
}

/** Ends the call that runs by an error that its code left uncaught; logs any other. */
export function watchUncaught(): void {
  const onError = (error: unknown): void => {
    const caller = currentCaller();
    if (running !== undefined && (caller === undefined || caller === running.caller)) {
      running.fail(error);
      return;
    }
    const whose = caller === undefined ? 'unknown code' : callerText(caller);
    console.error(`Everloop: uncaught error of ${whose}, after its call had ended:`, error);
  };
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
}

type Reports = Omit<Reporter, 'reports'>;

/** The reporting functions of the context. They check here, so that they throw where they are called. */
function reporting(
  send: (text: string) => void,
  known: KnownGauges,
): {
  readonly reports: Reports;
  readonly flush: () => void;
} {
  const checks = reporter({ known });
  let sums = reporter();
  let isChanged = false;
  let timer: NodeJS.Timeout | undefined;
  const say = (report: IsolatedReport): void => send(JSON.stringify(report));
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (!isChanged) return;
    const { counts = {}, gauges = {}, raised = {} } = sums.reports();
    say({ kind: 'sums', counts, gauges, raised });
    sums = reporter();
    isChanged = false;
  };
  const later = (): void => {
    isChanged = true;
    timer ??= setTimeout(flush, SUMS_MS).unref();
  };
  const setGauge = (key: string, value: number): void => {
    checks.gauge(key, value);
    sums.gauge(key, value);
    later();
  };
  const reports: Reports = {
    count(key, by = 1) {
      checks.count(key, by);
      sums.count(key, by);
      later();
    },
    gauge: setGauge,
    raise(key, by = 1) {
      checks.raise(key, by);
      sums.raise(key, by);
      later();
    },
    reset: (key) => setGauge(key, 0),
    read: checks.read,
    emit(name, data, options) {
      checks.emit(name, data, options);
      say({ kind: 'event', name, data: plain(data), ...(options && { options }) });
    },
    reportModelCall(model, usage) {
      checks.reportModelCall(model, usage);
      say({ kind: 'model', model, usage: plain(usage) });
    },
  };
  return { reports, flush };
}

/** `value` as JSON; null if it is none. */
function plain(value: unknown): Json {
  const read = toJsonResult(value);
  return read.kind === 'json' ? (read.value ?? null) : null;
}

function returned(tool: string, value: unknown): IsolatedEnd {
  if (isCallInput(value)) return { kind: 'returned', by: 'ask', value: plain(value) };
  if (isExternalReturn(value) || isToolReturn(value)) {
    const by = isExternalReturn(value) ? 'external' : 'result';
    // What is checked and named in errors is the user's part.
    const content = isExternalReturn(value) ? value.details : value.output;
    const read = toJsonResult(content);
    if (read.kind === 'not_json') return notJson(tool, read);
    return { kind: 'returned', by, value: plain(value) };
  }
  const read = toJsonResult(value);
  if (read.kind === 'not_json') return notJson(tool, read);
  const { value: json } = read;
  return { kind: 'returned', by: 'tool', ...(json !== undefined && { value: json }) };
}

function notJson(
  tool: string,
  { path, type }: { readonly path: string; readonly type: string },
): IsolatedEnd {
  const message = notJsonText(tool, path, type).replace(/^Error: /, '');
  return { kind: 'threw', by: 'ToolError', message };
}

function thrown(error: unknown): IsolatedEnd {
  const by = isToolError(error) ? 'ToolError' : isUsageError(error) ? 'UsageError' : 'other';
  const message =
    error instanceof Error
      ? error.message || error.name
      : typeof error === 'string' && error !== ''
        ? error
        : `something was thrown that is no error: ${typeof error}`;
  return { kind: 'threw', by, message: message.slice(0, MAX_ERROR_LENGTH) };
}

function endText(tool: string, end: IsolatedEnd): string {
  const text = JSON.stringify(end);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_MESSAGE_BYTES) return text;
  const message = `the result of ${tool} has ${bytes} bytes, at most ${MAX_MESSAGE_BYTES} can leave its place`;
  return JSON.stringify({ kind: 'threw', by: 'ToolError', message } satisfies IsolatedEnd);
}
