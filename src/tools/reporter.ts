/**
 * Collects the reports of a tool or a validator while it runs; they are applied with its result.
 */
import { defined } from '../core/base/defined.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import { checkOwnCount, checkOwnGauge, checkOwnEvent } from '../core/stats/user-keys.ts';
import { priceUsage } from '../core/model/cost.ts';
import type { Price } from '../core/contract/model.ts';
import type { ReportedModelCall, Reports } from '../core/contract/outcome.ts';
import { toJsonResult } from '../core/base/json-result.ts';
import { shown } from '../core/text/shown.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { ReportContext } from '../define/definition/definitions.ts';
import { isModelId } from '../define/model/model-entry.ts';

/** Maximum size of all events of one call, in bytes: one payload of history holds them. */
const MAX_EVENT_BYTES_PER_CALL = 262_144;

/** The reporting functions of a context, and the reports so far. */
export interface Reporter extends Pick<
  ReportContext,
  'count' | 'gauge' | 'emit' | 'reportModelCall'
> {
  /** The reports so far; kinds without a report are left out. */
  readonly reports: () => Reports;
}

/**
 * A reporter for one attempt of one call; `onEvent` gets each event at once. Its functions throw a UsageError for keys, steps and
 * events that are not allowed.
 */
export function reporter(
  prices: ReadonlyMap<string, Price> = new Map(),
  onEvent: (topic: string, data: Json) => void = () => undefined,
): Reporter {
  const counts = new Map<string, number>();
  const gauges = new Map<string, number>();
  const events: { readonly type: string; readonly data: Json }[] = [];
  const modelCalls: ReportedModelCall[] = [];
  let eventBytes = 0;
  return {
    count(key, by = 1) {
      checkOwnCount(key, by);
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
    gauge(key, value) {
      checkOwnGauge(key, value);
      gauges.set(key, value);
    },
    emit(name, data) {
      const read = toJsonResult(data);
      if (read.kind === 'not_json') {
        throw new UsageError(
          'event_data',
          `Expected the data of event \`${name}\` to be JSON, got ${read.type} at ${read.path}. Change it.`,
        );
      }
      const json = read.value ?? null;
      checkOwnEvent(name, json);
      eventBytes += byteSize(json);
      if (eventBytes > MAX_EVENT_BYTES_PER_CALL) {
        throw new UsageError(
          'event_size',
          `Expected the events of one call to be at most ${MAX_EVENT_BYTES_PER_CALL} bytes, got ${eventBytes}. Send fewer.`,
        );
      }
      events.push({ type: name, data: json });
      onEvent(name, json);
    },
    reportModelCall(model, usage) {
      checkReport(model, modelCalls.length);
      const priced = priceUsage(usage, prices.get(model));
      modelCalls.push({ model, usage: priced.usage, usageKnown: priced.known });
    },
    reports: () =>
      defined({
        counts: counts.size === 0 ? undefined : Object.fromEntries(counts),
        gauges: gauges.size === 0 ? undefined : Object.fromEntries(gauges),
        events: events.length === 0 ? undefined : [...events],
        modelCalls: modelCalls.length === 0 ? undefined : [...modelCalls],
      }),
  };
}

/** Maximum number of model calls that one call may report: they are recorded with its result. */
const MAX_MODEL_CALLS = 1_000;

function checkReport(model: unknown, reported: number): void {
  if (!isModelId(model)) {
    throw new UsageError(
      'model_report',
      `Expected \`model\` of a reported call to be an id as entries have, got ${shown(model)}. Take the id of an entry.`,
    );
  }
  if (reported < MAX_MODEL_CALLS) return;
  throw new UsageError(
    'model_report',
    `Expected at most ${MAX_MODEL_CALLS} model calls to be reported by one call, got more. Do less in one call.`,
  );
}
