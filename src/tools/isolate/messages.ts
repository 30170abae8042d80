/**
 * What the worker and the thread or process of a call say to each other. Everything that comes back
 * is data from code of a user.
 *
 * I1  It comes as JSON text of bounded size, and is used only after its shape was checked.
 * I2  Reports are applied by the reporter of the worker, which checks them again.
 */
import { isPlainObject, type Json } from '../../core/base/json.ts';
import { ToolError } from '../../core/base/tool-error.ts';
import type { CallInput } from '../../core/contract/call-input.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { DefinedTool, EmitOptions, ToolContext } from '../../define/definition/definitions.ts';
import { callInput, isAsked } from '../../define/tool/call-input.ts';
import { external } from '../../define/tool/external.ts';
import { toolResult } from '../../define/tool/tool-result.ts';
import type { KnownGauges } from '../reporter.ts';

/** What the code gets: copied, so without functions and classes. */
export interface IsolatedOrder {
  readonly name: string;
  /** URL of the module that exports `run`, or of an agent file. */
  readonly module: string;
  /** Set for an agent file. */
  readonly definedAs?: DefinedTool;
  readonly args: unknown;
  /** The fields of the tool's context that are data. */
  readonly context: Readonly<Record<string, unknown>>;
  /** The gauges that it may read. */
  readonly known: KnownGauges;
}

/** What a call says while it runs. */
export type IsolatedReport =
  | {
      readonly kind: 'sums';
      readonly counts: Readonly<Record<string, number>>;
      readonly gauges: Readonly<Record<string, number>>;
      /** Applied after `gauges`. */
      readonly raised: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly data: Json;
      /** Checked by the reporter of the worker. */
      readonly options?: EmitOptions;
    }
  | { readonly kind: 'model'; readonly model: string; readonly usage: Json };

/** How a call ended, in its own words. */
export type IsolatedEnd =
  | {
      readonly kind: 'returned';
      /** What made the value: `toolResult`, `external`, `ask`, or none of them. */
      readonly by: 'result' | 'external' | 'ask' | 'tool';
      readonly value?: Json;
    }
  | {
      readonly kind: 'threw';
      readonly by: 'ToolError' | 'UsageError' | 'other';
      readonly message: string;
    };

/** Bytes of one message. A result of a tool may have 256 KB and media of 1 MB. */
export const MAX_MESSAGE_BYTES = 8_388_608;

/** Bytes of all messages of a call; its events may have 256 KB. */
export const MAX_CALL_BYTES = 16_777_216;

/** Reads a message; null if it is none. */
export function readMessage(text: string): IsolatedReport | IsolatedEnd | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  return isPlainObject(message) && isMessage(message)
    ? (message as unknown as IsolatedReport | IsolatedEnd)
    : null;
}

function isMessage(message: Readonly<Record<string, unknown>>): boolean {
  const { kind, by } = message;
  switch (kind) {
    case 'sums':
      return ['counts', 'gauges', 'raised'].every((sums) => isNumbers(message[sums]));
    case 'event':
      return typeof message['name'] === 'string' && 'data' in message;
    case 'model':
      return typeof message['model'] === 'string' && 'usage' in message;
    case 'returned':
      if (by === 'tool') return true;
      if (by === 'ask') return isAsked(message['value']);
      return (by === 'result' || by === 'external') && isPlainObject(message['value']);
    case 'threw':
      return typeof by === 'string' && typeof message['message'] === 'string';
    default:
      return false;
  }
}

function isNumbers(value: unknown): boolean {
  return isPlainObject(value) && Object.values(value).every((item) => typeof item === 'number');
}

/** Applies a report to the context of the call. Throws a UsageError if it is not allowed. */
export function applyReport(report: IsolatedReport, context: ToolContext): void {
  switch (report.kind) {
    case 'sums':
      for (const [key, by] of Object.entries(report.counts)) context.count(key, by);
      for (const [key, value] of Object.entries(report.gauges)) context.gauge(key, value);
      for (const [key, by] of Object.entries(report.raised)) context.raise(key, by);
      return;
    case 'event':
      context.emit(report.name, report.data, report.options);
      return;
    case 'model':
      context.reportModelCall(report.model, report.usage);
  }
}

/** What the call returned, as if it had returned here; throws what it threw. */
export function valueOf(end: IsolatedEnd): unknown {
  if (end.kind === 'threw') throw errorOf(end);
  // The factories check the parts again.
  if (end.by === 'result') return toolResult(end.value as Parameters<typeof toolResult>[0]);
  if (end.by === 'external') return external(end.value as Parameters<typeof external>[0]);
  if (end.by === 'ask') return callInput(end.value as unknown as CallInput);
  return end.value;
}

function errorOf({ by, message }: Extract<IsolatedEnd, { readonly kind: 'threw' }>): Error {
  if (by === 'ToolError') return new ToolError(message);
  return by === 'UsageError' ? new UsageError('tool_isolate', message) : new Error(message);
}
