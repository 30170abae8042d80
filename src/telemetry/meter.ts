/** Writes recordings to the meter of the Temporal runtime, with labels from closed sets. */
import type { MetricMeter } from '@temporalio/common';
import { defined } from '../core/base/defined.ts';
import { GENAI_LABELS, METRICS, type MetricName, type Recording } from './metrics.ts';

/** The names that a worker knows. Any other becomes `other`: a label must not grow with data. */
export interface KnownNames {
  readonly agents: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
  /** The tools of an agent; empty if they are too many to be labels. */
  readonly toolsOf: (agent: string) => ReadonlySet<string>;
  /** The tenants that are labels. Default: there is no such label. */
  readonly tenants?: ReadonlySet<string>;
}

/** Takes recordings. */
export interface MetricsWriter {
  record(recording: Recording): void;
}

/** The label of a name that this worker does not know. */
const OTHER = 'other';

/** `dialect`: the names are those of the page on metrics, or those of the GenAI conventions. */
export function createMeter(
  meter: MetricMeter,
  known: KnownNames,
  dialect: 'everloop' | 'genai',
): MetricsWriter {
  const write = new Map<MetricName, (value: number, labels: Recording['labels']) => void>();
  for (const name of Object.keys(METRICS) as MetricName[]) {
    write.set(name, instrumentOf(meter, name, dialect));
  }
  return {
    record: ({ metric, value, labels }) => write.get(metric)?.(value, closed(labels, known)),
  };
}

function instrumentOf(
  meter: MetricMeter,
  metricName: MetricName,
  dialect: 'everloop' | 'genai',
): (value: number, labels: Recording['labels']) => void {
  const metric = METRICS[metricName];
  const { genai, unit, description } = metric;
  const isGenai = dialect === 'genai' && genai !== undefined;
  const name = isGenai ? genai.name : metricName;
  const kind = isGenai ? (genai.kind ?? metric.kind) : metric.kind;
  const named = isGenai ? genaiLabels(genai.operation) : (labels: Recording['labels']) => labels;
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, unit, description);
      return (value, labels) => counter.add(value, named(labels));
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, 'int', unit, description);
      return (value, labels) => gauge.set(value, named(labels));
    }
    case 'histogram': {
      const histogram = meter.createHistogram(name, 'float', unit, description);
      return (value, labels) => histogram.record(value, named(labels));
    }
  }
}

function genaiLabels(
  operation: string | undefined,
): (labels: Recording['labels']) => Recording['labels'] {
  return (labels) => {
    const all = { ...labels, ...defined({ operation }) };
    return Object.fromEntries(
      Object.entries(all).map(([name, value]) => [GENAI_LABELS[name] ?? `everloop.${name}`, value]),
    );
  };
}

function closed(labels: Recording['labels'], known: KnownNames): Recording['labels'] {
  const { agent, model, tool, tenant } = labels;
  return {
    ...labels,
    ...defined({
      agent: agent === undefined ? undefined : among(known.agents, agent),
      model: model === undefined ? undefined : among(known.models, model),
      tool: tool === undefined ? undefined : among(known.toolsOf(agent ?? ''), tool),
      tenant: tenant === undefined ? undefined : tenantLabel(tenant, known),
    }),
  };
}

function among(names: ReadonlySet<string>, name: string): string {
  return names.has(name) ? name : OTHER;
}

/** The label of a run without a tenant. */
export const NO_TENANT = 'none';

function tenantLabel(tenant: string, { tenants = new Set() }: KnownNames): string {
  return tenant === NO_TENANT ? NO_TENANT : among(tenants, tenant);
}
