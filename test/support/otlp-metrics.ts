/** Reads metrics of OTLP in binary form, as far as tests look at them. */
import protobuf from 'protobufjs';

/** A point of a metric. */
export interface ReceivedPoint {
  readonly labels: Readonly<Record<string, string>>;
  /** The value of a counter or a gauge; of a histogram, the sum of what was recorded. */
  readonly sum: number;
  /** How often a histogram was recorded; 0 for others. */
  readonly count: number;
}

/** The parts of `opentelemetry/proto/metrics/v1/metrics.proto` that are read; others are skipped. */
const SCHEMA = `
syntax = "proto3";
message Request { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { repeated ScopeMetrics scope_metrics = 2; }
message ScopeMetrics { repeated Metric metrics = 2; }
message Metric { string name = 1; Numbers gauge = 5; Numbers sum = 7; Histogram histogram = 9; }
message Numbers { repeated NumberPoint data_points = 1; }
message Histogram { repeated HistogramPoint data_points = 1; }
message NumberPoint { double as_double = 4; sfixed64 as_int = 6; repeated KeyValue attributes = 7; }
message HistogramPoint { fixed64 count = 4; double sum = 5; repeated KeyValue attributes = 9; }
message KeyValue { string key = 1; Value value = 2; }
message Value { string string_value = 1; }`;

interface Point {
  readonly count?: string;
  readonly sum?: number;
  readonly asDouble?: number;
  readonly asInt?: string;
  readonly attributes?: readonly {
    readonly key: string;
    readonly value?: { readonly stringValue?: string };
  }[];
}

type Kind = 'gauge' | 'sum' | 'histogram';

interface Request {
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics?: readonly {
      readonly metrics?: readonly ({ readonly name: string } & {
        readonly [kind in Kind]?: { readonly dataPoints?: readonly Point[] };
      })[];
    }[];
  }[];
}

const REQUEST = protobuf.parse(SCHEMA).root.lookupType('Request');

/** The points of each metric of an export, by its name. */
export function metricsIn(body: Uint8Array): ReadonlyMap<string, readonly ReceivedPoint[]> {
  const { resourceMetrics = [] } = REQUEST.toObject(REQUEST.decode(body), {
    longs: String,
  }) as Request;
  const metrics = resourceMetrics
    .flatMap(({ scopeMetrics = [] }) => scopeMetrics)
    .flatMap(({ metrics: of = [] }) => of);
  return new Map(
    metrics.map(({ name, gauge, sum, histogram }) => [
      name,
      ((gauge ?? sum ?? histogram)?.dataPoints ?? []).map(pointOf),
    ]),
  );
}

function pointOf({
  count = '0',
  sum,
  asDouble,
  asInt = '0',
  attributes = [],
}: Point): ReceivedPoint {
  return {
    labels: Object.fromEntries(attributes.map(({ key, value }) => [key, value?.stringValue ?? ''])),
    sum: sum ?? asDouble ?? Number(asInt),
    count: Number(count),
  };
}
