/** What events add to metrics, and that no event makes the labels grow. */
import fc from 'fast-check';
import type { MetricMeter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { createMeter, type KnownNames } from '../../src/telemetry/meter.ts';
import { metricsOf } from '../../src/telemetry/metrics-of.ts';
import { METRICS, type Recording } from '../../src/telemetry/metrics.ts';
import { traceInMemory } from '../support/spans.ts';

/** A meter that keeps what is recorded. */
function keepingMeter(): { readonly meter: MetricMeter; readonly kept: Recording[] } {
  const kept: Recording[] = [];
  const instrument = (metric: string): object => {
    const keep = (value: number, labels: Recording['labels']): void => {
      kept.push({ metric: metric as Recording['metric'], value, labels });
    };
    return { add: keep, record: keep, set: keep };
  };
  const meter = {
    createCounter: instrument,
    createGauge: instrument,
    createHistogram: instrument,
  } as unknown as MetricMeter;
  return { meter, kept };
}

const KNOWN: KnownNames = {
  agents: new Set(['clerk']),
  models: new Set(['m']),
  toolsOf: (agent) => new Set(agent === 'clerk' ? ['look'] : []),
};

test('a run adds what its Step says', async () => {
  const agent = defineAgent({
    name: 'clerk',
    mode: 'chat',
    model: {
      id: 'm',
      price: { input: 1, output: 2 },
      model: async () => ({
        content: 'done',
        usage: { inputTokens: 100, outputTokens: 10, reasoningTokens: 4 },
      }),
    },
  });
  const { step, events } = await traceInMemory({ agent });
  const { meter, kept } = keepingMeter();
  const writer = createMeter(meter, KNOWN, 'everloop');
  for (const [event, place] of events) {
    for (const recording of metricsOf(event, place)) writer.record(recording);
  }
  const { usage } = step;
  const of = (agentLabel: string, type: string): Recording['labels'] => ({
    agent: agentLabel,
    model: 'm',
    type,
  });
  expect(kept).toEqual([
    { metric: 'everloop_tokens_total', value: usage.inputTokens, labels: of('clerk', 'input') },
    { metric: 'everloop_tokens_total', value: usage.outputTokens, labels: of('clerk', 'output') },
    {
      metric: 'everloop_tokens_total',
      value: usage.reasoningTokens,
      labels: of('clerk', 'reasoning'),
    },
    {
      metric: 'everloop_cost_micro_usd_total',
      value: usage.costMicroUsd,
      labels: { agent: 'clerk', model: 'm' },
    },
    {
      metric: 'everloop_model_call_duration_seconds',
      value: 0,
      labels: { agent: 'clerk', model: 'm', purpose: 'reply', outcome: 'ok' },
    },
    { metric: 'everloop_turn_duration_seconds', value: 0, labels: { agent: 'clerk' } },
    {
      metric: 'everloop_runs_ended_total',
      value: 1,
      labels: { agent: 'clerk', status: 'success', reason: 'answered' },
    },
    {
      metric: 'everloop_run_duration_seconds',
      value: 0,
      labels: { agent: 'clerk', outcome: 'success' },
    },
  ]);
});

test('labels come from closed sets, whatever the names are', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('clerk', 'm', 'look', '__proto__'));
  const key = fc.oneof(
    fc.string(),
    name.map((part) => `agent:tool_calls:${part}`),
  );
  fc.assert(
    fc.property(name, name, name, key, (agent, model, tool, limit) => {
      const { meter, kept } = keepingMeter();
      const writer = createMeter(meter, KNOWN, 'everloop');
      writer.record({
        metric: 'everloop_tool_call_duration_seconds',
        value: 1,
        labels: { agent, model, tool },
      });
      const [event, place] = limitEvent(agent, limit);
      for (const recording of metricsOf(event, place)) writer.record(recording);
      const [call, hit] = kept;
      expect(['clerk', 'other']).toContain(call?.labels['agent']);
      expect(['m', 'other']).toContain(call?.labels['model']);
      expect(['look', 'other']).toContain(call?.labels['tool']);
      expect(hit?.labels['key']).toMatch(/^(?:agent:[a-z_]+|[a-z_]{1,60}|other)$/);
    }),
  );
});

function limitEvent(agent: string, key: string): Parameters<typeof metricsOf> {
  return [
    {
      type: 'agent:limit_exceeded',
      seq: 1,
      runId: 'r',
      agent,
      agentPath: agent,
      at: 0,
      iteration: 1,
      depth: 0,
      key,
      value: 2,
      limit: { key, max: 1 },
      origin: 'self',
    } as Parameters<typeof metricsOf>[0],
    {} as Parameters<typeof metricsOf>[1],
  ];
}

test('a collector gets the names of the GenAI conventions', () => {
  const { meter, kept } = keepingMeter();
  createMeter(meter, KNOWN, 'genai').record({
    metric: 'everloop_tokens_total',
    value: 7,
    labels: { agent: 'clerk', model: 'm', type: 'input' },
  });
  expect(kept).toEqual([
    {
      metric: METRICS.everloop_tokens_total.genai?.name,
      value: 7,
      labels: {
        'gen_ai.agent.name': 'clerk',
        'gen_ai.request.model': 'm',
        'gen_ai.token.type': 'input',
        'gen_ai.operation.name': 'chat',
      },
    },
  ]);
});

test('tenants are labels only if they are named, and are few', () => {
  const { meter, kept } = keepingMeter();
  const writer = createMeter(meter, { ...KNOWN, tenants: new Set(['acme']) }, 'everloop');
  for (const tenant of ['acme', 'globex', 'none']) {
    const labels = { agent: 'clerk', tenant };
    writer.record({ metric: 'everloop_handovers_total', value: 1, labels });
  }

  expect(kept.map(({ labels }) => labels['tenant'])).toEqual(['acme', 'other', 'none']);
});
