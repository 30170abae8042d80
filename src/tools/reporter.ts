/**
 * Collects the reports of a tool or a validator while it runs; they are applied with its result.
 */
import { defined } from '../core/base/defined.ts';
import { exactSum } from '../core/base/exact-sum.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import { isModelId } from '../core/base/ids.ts';
import {
  checkedPart,
  checkOwnCount,
  checkOwnEvent,
  checkOwnGauge,
  checkOwnKey,
} from '../core/stats/user-keys.ts';
import { priceUsage } from '../core/model/cost.ts';
import type { Price } from '../core/contract/model.ts';
import type {
  EventPart,
  ReportedEvent,
  ReportedModelCall,
  Reports,
  ToolOrder,
} from '../core/contract/outcome.ts';
import { toJsonResult } from '../core/base/json-result.ts';
import { hideIn, HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import { shown } from '../core/text/shown.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { ReportContext, ToolContext } from '../define/definition/definitions.ts';

/** Maximum size of all events of one call, in bytes: one payload of history holds them. */
const MAX_EVENT_BYTES_PER_CALL = 262_144;

/** The reporting functions of a context, and the reports so far. */
export interface Reporter extends Pick<
  ReportContext,
  'count' | 'gauge' | 'raise' | 'reset' | 'emit' | 'reportModelCall'
> {
  /** See `ToolContext`. */
  readonly read: ToolContext['read'];
  /** The reports so far; kinds without a report are left out. */
  readonly reports: () => Reports;
}

/** What the reporter of a call knows. */
export interface ReporterOptions {
  /** Prices by model id. Default: none. */
  readonly prices?: ReadonlyMap<string, Price>;
  /** Gets each event at once. */
  readonly onEvent?: ((topic: string, data: Json, part: EventPart) => void) | undefined;
  /** The gauges when the call began, as its order has them. */
  readonly known?: KnownGauges;
  /** Takes values out of events; default: nothing does. */
  readonly hide?: HideText | undefined;
}

/** The user's gauges when a call began. */
export type KnownGauges = Pick<ToolOrder, 'gauges' | 'isWithoutGauges'>;

/**
 * A reporter for one attempt of one call. Its functions throw a UsageError for keys, steps and events
 * that are not allowed.
 */
export function reporter({
  prices = new Map(),
  onEvent = () => undefined,
  known = {},
  hide = HIDE_NOTHING,
}: ReporterOptions = {}): Reporter {
  const raised = new Map<string, number>();
  const counts = new Map<string, number>();
  const gauges = new Map<string, number>();
  const events: ReportedEvent[] = [];
  const modelCalls: ReportedModelCall[] = [];
  let eventBytes = 0;
  const setGauge = (key: string, value: number): void => {
    checkOwnGauge(key, value);
    gauges.set(key, value);
    raised.delete(key);
  };
  return {
    count(key, by = 1) {
      checkOwnCount(key, by);
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
    gauge: setGauge,
    raise(key, by = 1) {
      checkOwnGauge(key, by);
      const changed = gauges.has(key) ? gauges : raised;
      changed.set(key, exactSum(changed.get(key) ?? 0, by));
    },
    reset: (key) => setGauge(key, 0),
    read(key) {
      checkOwnKey(key);
      return exactSum(gauges.get(key) ?? knownValue(known, key), raised.get(key) ?? 0);
    },
    emit(name, data, options) {
      const part = checkedPart(name, options);
      const read = toJsonResult(data);
      if (read.kind === 'not_json') {
        throw new UsageError(
          'event_data',
          `Expected the data of event \`${name}\` to be JSON, got ${read.type} at ${read.path}. Change it.`,
        );
      }
      const json = hideIn(read.value ?? null, hide);
      checkOwnEvent(name, json);
      const place = part.keep === true ? placeOf(events, name, part) : -1;
      eventBytes += byteSize(json) - (place < 0 ? 0 : byteSize(events[place]?.data ?? null));
      if (eventBytes > MAX_EVENT_BYTES_PER_CALL) {
        throw new UsageError(
          'event_size',
          `Expected the events of one call to be at most ${MAX_EVENT_BYTES_PER_CALL} bytes, got ${eventBytes}. Send fewer.`,
        );
      }
      events.splice(place < 0 ? events.length : place, 1, { type: name, data: json, ...part });
      onEvent(name, json, part);
    },
    reportModelCall(model, usage) {
      checkReport(model, modelCalls.length);
      const { usage: priced, known, problem } = priceUsage(usage, prices.get(model));
      modelCalls.push({
        model,
        usage: priced,
        usageKnown: known,
        ...defined({ usageProblem: problem }),
      });
    },
    reports: () =>
      defined({
        counts: counts.size === 0 ? undefined : Object.fromEntries(counts),
        gauges: gauges.size === 0 ? undefined : Object.fromEntries(gauges),
        raised: raised.size === 0 ? undefined : Object.fromEntries(raised),
        events: events.length === 0 ? undefined : [...events],
        modelCalls: modelCalls.length === 0 ? undefined : [...modelCalls],
      }),
  };
}

/** Kept parts of one call: a page shows them all. */
const MAX_KEPT_PARTS = 100;

/** Where the part that `part` replaces stands; -1: it is a new one. */
function placeOf(events: readonly ReportedEvent[], name: string, { id }: EventPart): number {
  const kept = events.filter(({ keep }) => keep === true);
  const place = events.findIndex((one) => one.keep === true && one.type === name && one.id === id);
  if (place >= 0 || kept.length < MAX_KEPT_PARTS) return place;
  throw new UsageError(
    'event_part',
    `Expected at most ${MAX_KEPT_PARTS} parts that one call keeps, got more. Use fewer ids.`,
  );
}

function knownValue({ gauges = {}, isWithoutGauges }: KnownGauges, key: string): number {
  if (Object.hasOwn(gauges, key)) return gauges[key] ?? 0;
  if (isWithoutGauges === undefined) return 0;
  throw new UsageError(
    'stat_key',
    `Expected at most 8 KB of gauges, so that \`${key}\` can be read, got more. Use fewer keys, or shorter ones.`,
  );
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
