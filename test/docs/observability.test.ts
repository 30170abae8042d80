/** The page on telemetry and its dashboard name metrics that exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runOf } from '../../examples/docs/observability.ts';
import { ROOT } from '../../scripts/generated-docs.ts';
import type { CallOutcome } from '../../src/core/contract/outcome.ts';
import type { StepStatus } from '../../src/core/contract/step.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { createLostSpans } from '../../src/telemetry/lost-spans.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';
import { openTracer } from '../../src/telemetry/tracer.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { SDK_METRICS } from '../support/sdk-metrics.ts';
import { spansWhile } from '../support/spans.ts';
import { startReceiver } from '../support/trace-receiver.ts';

function metricsIn(text: string): readonly string[] {
  const names = text.match(/\b(?:everloop|temporal)_[a-z_]+\b/g) ?? [];
  return [...new Set(names)].map((name) => {
    const base = name.replace(/_(?:bucket|count|sum)$/, '');
    return base in METRICS || SDK_METRICS.includes(base) ? base : name;
  });
}

const CLERK = defineAgent({
  name: 'clerk',
  mode: 'chat',
  model: {
    id: 'gpt',
    model: async () => ({ content: 'Sent.', usage: { inputTokens: 100, outputTokens: 10 } }),
  },
});

const KNOWN = new Set([...Object.keys(METRICS), ...SDK_METRICS]);

test('docs/observability.md quotes its example', () => {
  expect(blocksOf('observability')).toEqual(regionsOf('observability'));
});

/** What the page sets for a service, with the variables of it. */
function variablesFor(host: string): Readonly<Record<string, string>> {
  const page = readFileSync(join(ROOT, 'docs/observability.md'), 'utf8');
  const block = [...page.matchAll(/```sh\n([^]*?)```/g)].find(([text]) => text.includes(host));
  const lines = [...(block?.[1] ?? '').matchAll(/^(OTEL_\w+)="(.*)"$/gm)];
  return Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value]));
}

const KEY = Buffer.from('pk-lf-1:sk-lf-2').toString('base64');

test.each([
  {
    service: 'Langfuse',
    host: 'https://cloud.langfuse.com',
    path: '/api/public/otel/v1/traces',
    headers: { authorization: `Basic ${KEY}`, 'x-langfuse-ingestion-version': '4' },
  },
  {
    service: 'LangSmith',
    host: 'https://api.smith.langchain.com',
    path: '/otel/v1/traces',
    headers: { 'x-api-key': 'YOUR_KEY', 'langsmith-project': 'agents' },
  },
])('$service gets what it reads, by the variables of the page', async (row) => {
  const receiver = await startReceiver();
  for (const [name, value] of Object.entries(variablesFor(row.host))) {
    const put = value.replace(row.host, receiver.url);
    vi.stubEnv(name, put.replace('BASE64_OF_PUBLIC_AND_SECRET_KEY', KEY));
  }
  const tracer = await openTracer(
    {},
    createLostSpans(() => undefined),
  );
  const { spans } = await spansWhile((onEvent) => runOf({ agent: CLERK, onEvent }));
  for (const span of spans) tracer.emit(span);
  await tracer.close();
  vi.unstubAllEnvs();
  expect(receiver.exports).toMatchObject([{ path: row.path, headers: row.headers }]);

  const byName = new Map(receiver.spans.map((span) => [span.name, span.attributes]));
  expect(byName.get('invoke_agent clerk')).toMatchObject({
    'user.id': 'u7',
    'langsmith.metadata.user_id': 'u7',
    'langsmith.metadata.thread_id': 'chat-7',
    'session.id': 'run-1',
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'clerk',
    'gen_ai.conversation.id': 'run-1',
  });
  expect(byName.get('chat gpt')).toMatchObject({
    'session.id': 'run-1',
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 10,
  });
  await receiver.close();
});

test('the dashboard uses metrics that exist, and has a panel for each of ours', () => {
  const text = readFileSync(join(ROOT, 'examples/observability/dashboard.json'), 'utf8');
  const { panels } = JSON.parse(text) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const used = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
  expect(used.filter((name) => !KNOWN.has(name))).toEqual([]);
  expect(Object.keys(METRICS).filter((name) => !used.includes(name))).toEqual([]);
});

test('the rules name outcomes that there are', () => {
  const page = readFileSync(join(ROOT, 'docs/observability.md'), 'utf8');
  const values = (label: string): readonly string[] =>
    [...page.matchAll(new RegExp(`${label}=~?"([^"]+)"`, 'g'))].flatMap(([, text = '']) =>
      text.split(/\\?\|/),
    );
  const ofCalls: readonly CallOutcome[] = ['ok', 'error', 'rejected', 'unknown', 'canceled'];
  const ofAttempts: readonly string[] = ['rate_limited', 'server_error', 'network', 'refused'];
  const statuses: readonly StepStatus[] = ['success', 'limit_exceeded', 'canceled', 'error'];
  expect([...ofCalls, ...ofAttempts]).toEqual(expect.arrayContaining([...values('outcome')]));
  expect(statuses).toEqual(expect.arrayContaining([...values('status')]));
  expect(values('outcome').length).toBeGreaterThan(4);
});

test('the page has thirteen alert rules over metrics that exist', () => {
  const page = readFileSync(join(ROOT, 'docs/observability.md'), 'utf8');
  const [, rules = ''] = page.split('### What to alert on');
  const rows = (rules.split('## Logs')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  // The first line is the head of the table.
  expect(rows.slice(1).filter((line) => !line.startsWith('| --'))).toHaveLength(13);
  const strange = metricsIn(page).filter(
    (name) => !KNOWN.has(name) && !name.startsWith('temporal_cloud_'),
  );
  expect(strange).toEqual([]);
});
