/** Every metric: its name for Prometheus, its labels, and its name for a collector of OTLP. */
import { ATTRIBUTES as A } from './genai.ts';

/** A metric. */
export interface Metric {
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly labels: readonly string[];
  readonly unit?: string;
  readonly description: string;
  /** In place of its name and its labels, where metrics go to a collector. */
  readonly genai?: {
    readonly name: string;
    readonly kind?: 'histogram';
    readonly operation?: string;
  };
}

/** The name of a metric. */
export type MetricName =
  | 'everloop_tokens_total'
  | 'everloop_cost_micro_usd_total'
  | 'everloop_model_call_duration_seconds'
  | 'everloop_time_to_first_chunk_seconds'
  | 'everloop_model_attempts_total'
  | 'everloop_tool_call_duration_seconds'
  | 'everloop_turn_duration_seconds'
  | 'everloop_run_duration_seconds'
  | 'everloop_runs_ended_total'
  | 'everloop_limits_hit_total'
  | 'everloop_waits_seconds'
  | 'everloop_transcript_reads_total'
  | 'everloop_cache_bytes'
  | 'everloop_handovers_total'
  | 'everloop_handover_bytes'
  | 'everloop_payloads_encrypted_total'
  | 'everloop_mcp_calls_total'
  | 'everloop_mcp_connections';

/** The metrics by name. */
export const METRICS: Readonly<Record<MetricName, Metric>> = {
  everloop_tokens_total: {
    kind: 'counter',
    labels: ['agent', 'model', 'type'],
    unit: '{token}',
    description: 'Tokens of model calls; cached is a part of input, reasoning one of output.',
    genai: { name: 'gen_ai.client.token.usage', kind: 'histogram', operation: 'chat' },
  },
  everloop_cost_micro_usd_total: {
    kind: 'counter',
    labels: ['agent', 'model'],
    description: 'Cost of model calls in millionths of a US dollar.',
  },
  everloop_model_call_duration_seconds: {
    kind: 'histogram',
    labels: ['agent', 'model', 'purpose', 'outcome'],
    unit: 's',
    description: 'Model calls with all their attempts and waits.',
    genai: { name: 'gen_ai.client.operation.duration', operation: 'chat' },
  },
  everloop_time_to_first_chunk_seconds: {
    kind: 'histogram',
    labels: ['agent', 'model', 'purpose', 'outcome'],
    unit: 's',
    description: 'From the beginning of an attempt to the first text of the model.',
  },
  everloop_model_attempts_total: {
    kind: 'counter',
    labels: ['model', 'outcome'],
    description: 'Attempts of model calls.',
  },
  everloop_tool_call_duration_seconds: {
    kind: 'histogram',
    labels: ['agent', 'tool', 'outcome'],
    unit: 's',
    description: 'Tool calls with all their attempts and waits.',
    genai: { name: 'gen_ai.execute_tool.duration', operation: 'execute_tool' },
  },
  everloop_turn_duration_seconds: {
    kind: 'histogram',
    labels: ['agent'],
    unit: 's',
    description: 'Iterations of runs.',
  },
  everloop_run_duration_seconds: {
    kind: 'histogram',
    labels: ['agent', 'outcome'],
    unit: 's',
    description: 'Runs from start to Step, waits included.',
    genai: { name: 'gen_ai.invoke_agent.duration', operation: 'invoke_agent' },
  },
  everloop_runs_ended_total: {
    kind: 'counter',
    labels: ['agent', 'status', 'reason'],
    description: 'Runs that ended.',
  },
  everloop_limits_hit_total: {
    kind: 'counter',
    labels: ['agent', 'key'],
    description: 'Limits that were crossed.',
  },
  everloop_waits_seconds: {
    kind: 'histogram',
    labels: ['agent', 'kind'],
    unit: 's',
    description: 'Ended waits for people and outside work.',
  },
  everloop_transcript_reads_total: {
    kind: 'counter',
    labels: ['source'],
    description: 'Where model calls got their conversation from.',
  },
  everloop_cache_bytes: {
    kind: 'gauge',
    labels: [],
    unit: 'By',
    description: 'Bytes of conversations in the cache of this worker.',
  },
  everloop_handovers_total: {
    kind: 'counter',
    labels: ['agent'],
    description: 'Links that handed over.',
  },
  everloop_handover_bytes: {
    kind: 'histogram',
    labels: ['agent'],
    unit: 'By',
    description: 'Bytes of the history of links that handed over.',
  },
  everloop_payloads_encrypted_total: {
    kind: 'counter',
    labels: ['key'],
    description: 'Payloads that a key has encrypted.',
  },
  everloop_mcp_calls_total: {
    kind: 'counter',
    labels: ['server', 'outcome'],
    description: 'Calls of tools of MCP servers, each attempt by itself.',
  },
  everloop_mcp_connections: {
    kind: 'gauge',
    labels: ['server'],
    description: 'Open connections of this worker to an MCP server.',
  },
};

/** One value of a metric. */
export interface Recording {
  readonly metric: MetricName;
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Labels in the words of the conventions. */
export const GENAI_LABELS: Readonly<Record<string, string>> = {
  agent: A.agentName,
  model: A.requestModel,
  tool: A.toolName,
  type: 'gen_ai.token.type',
  operation: A.operation,
};

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const BYTES = [65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 50_331_648];
const TOKENS = [16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

/** The upper bounds of the buckets of each histogram, by either name. */
export function histogramBounds(): Record<string, number[]> {
  const bounds: Record<string, number[]> = {};
  for (const [name, metric] of Object.entries(METRICS)) {
    const of = metric.unit === 'By' ? BYTES : SECONDS;
    if (metric.kind === 'histogram') bounds[name] = of;
    if (metric.genai !== undefined) bounds[metric.genai.name] = metric.unit === 's' ? of : TOKENS;
  }
  return bounds;
}
