/**
 * Traces and metrics of a tree on a real server, served by processes: one trace, whole, with and
 * without kills; metrics with exact numbers; spans of users below those of their calls.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { defined } from '../../src/core/base/defined.ts';
import { connect } from '../../src/client/connect.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { SpanData } from '../../src/telemetry/span-data.ts';
import { spanOf } from '../../src/telemetry/span-of.ts';
import { openTracer } from '../../src/telemetry/tracer.ts';
import { createLostSpans } from '../../src/telemetry/lost-spans.ts';
import { GENAI_LABELS } from '../../src/telemetry/metrics.ts';
import { checkTelemetry } from '../../src/telemetry/options.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { TracedWorker } from '../support/fixtures/serve-traced.ts';
import { historiesOf } from '../support/replay.ts';
import type { ReceivedPoint } from '../support/otlp-metrics.ts';
import { passing } from '../support/passing.ts';
import { SDK_METRICS } from '../support/sdk-metrics.ts';
import { orphansOf, outsideParents } from '../support/spans.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { steadyHistory } from '../support/steady-history.ts';
import { startReceiver, type ReceivedSpan, type TraceReceiver } from '../support/trace-receiver.ts';
import { ASKED_PATH } from '../support/traced-agents.ts';
import { worker } from '../support/tree-agents.ts';

let stage: Stage;
let receiver: TraceReceiver;
const workers = fixtureProcesses<TracedWorker>('serve-traced');

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  receiver = await startReceiver();
});
afterAll(async () => {
  await workers.stop();
  await receiver?.close();
  await stage?.close();
});

/** No claim on how long an export takes: a machine with other work to do is slow. */
const PATIENCE = 60_000;

function place(parts: Partial<TracedWorker> = {}): TracedWorker {
  return {
    address: stage.address,
    namespace: stage.namespace,
    archiveDir: join(stage.folder, 'archive'),
    taskQueue: `traced-${randomUUID()}`,
    collector: receiver.url,
    toolMs: 20,
    ...parts,
  };
}

/** The ids of the spans that the events of a tree make. */
async function spansOfEvents(run: RunHandle): Promise<ReadonlySet<string>> {
  const events: readonly AgentEvent[] = await run.events({ tree: true });
  const place = {
    workflowId: '',
    link: 1,
    rootRunId: 'root',
    rootWorkflowId: '',
    kind: 'agent',
    startedAt: 0,
    linkStartedAt: 0,
    historyEvents: 0,
    historyBytes: 0,
  } as const;
  return new Set(events.flatMap((event) => spanOf(event, { place, content: 'off' })?.spanId ?? []));
}

/** What came for a trace once it is whole, each span once. */
async function wholeTrace(traceId: string, ids: ReadonlySet<string>): Promise<ReceivedSpan[]> {
  const found = (): ReceivedSpan[] => {
    const spans = receiver.spans.filter((span) => span.traceId === traceId);
    return [...new Map(spans.map((span) => [span.spanId, span])).values()];
  };
  await passing(() => {
    const got = new Set(found().map(({ spanId }) => spanId));
    expect([...ids].filter((id) => !got.has(id))).toEqual([]);
  }, PATIENCE);
  return found();
}

/** The span of a request that a tool makes, by OpenTelemetry's own instrumentation of `fetch`. */
const isRequest = ({ attributes }: ReceivedSpan): boolean => attributes['url.path'] === ASKED_PATH;

/** Spans that activities make. */
const OF_ACTIVITIES = (span: ReceivedSpan): boolean =>
  span.name.startsWith('attempt ') || isRequest(span);

const asSpans = (
  spans: readonly ReceivedSpan[],
): readonly (ReceivedSpan & Pick<SpanData, 'parentId' | 'startMs' | 'endMs'>)[] =>
  spans.map((span) => ({
    ...span,
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    ...defined({ parentId: span.parentSpanId }),
  }));

test('a tree over two worker processes is one whole trace', async () => {
  const told = place();
  await Promise.all([workers.start(told), workers.start(told)]);
  const run = await stage.everloopOf(told.taskQueue).start('desk', { task: 'Go.' });
  const step = await run.result();

  // A client knows the trace of every run of the tree, also without its Step.
  const [child] = step.children;
  const leaf = stage.everloopOf(told.taskQueue).attach(child?.childId ?? '');
  expect([await run.traceId(), await leaf.traceId(), (await leaf.result()).trace.traceId]).toEqual(
    Array<string | undefined>(3).fill(step.trace.traceId),
  );
  const ids = await spansOfEvents(run);
  const spans = await wholeTrace(step.trace.traceId ?? '', ids);
  expect(orphansOf(asSpans(spans))).toEqual([]);
  const rest = spans.filter((span) => !OF_ACTIVITIES(span));
  expect(new Set(rest.map(({ spanId }) => spanId))).toEqual(ids);
  expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toMatchObject([
    { name: 'invoke_agent desk', kind: 1, attributes: { 'gen_ai.operation.name': 'invoke_agent' } },
  ]);
  const chats = spans.filter(({ name }) => name.startsWith('chat '));
  const sum = (key: string): number =>
    chats.reduce((all, { attributes }) => all + Number(attributes[key] ?? 0), 0);
  expect(sum('gen_ai.usage.input_tokens')).toBe(step.usage.inputTokens);
  expect(sum('gen_ai.usage.output_tokens')).toBe(step.usage.outputTokens);
  expect(chats).toHaveLength(step.usage.modelCalls);
  for (const chat of chats) {
    expect(chat).toMatchObject({
      kind: 3,
      attributes: { 'gen_ai.operation.name': 'chat', 'everloop.purpose': 'reply' },
    });
  }
  // What the client of a tool does is below the call of the tool, and the server it asks knows.
  const called = spans.filter(isRequest);
  const calls = spans.filter(({ name }) => name === 'execute_tool search');
  expect(new Set(called.map(({ parentSpanId }) => parentSpanId))).toEqual(
    new Set(calls.map(({ spanId }) => spanId)),
  );
  expect(calls).toHaveLength(3);
  expect(called.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toEqual(
    expect.arrayContaining([...receiver.asked]),
  );
  expect(receiver.asked).toHaveLength(3);
  // Every span is within its parent, by time too: an attempt within its call, a run within its tool.
  expect(outsideParents(asSpans(spans))).toEqual([]);
  const attempts = spans.filter(({ name }) => name === 'attempt 1');
  expect(new Set(attempts.map(({ parentSpanId }) => parentSpanId))).toEqual(
    new Set(chats.map(({ spanId }) => spanId)),
  );
  expect(receiver.bodies.join('')).not.toContain('hits');
});

test.runIf(RUNS_ALL)('a worker that is killed while tools run loses no span', async () => {
  const told = place({ toolMs: 600 });
  const first = await workers.start({ ...told, isKilled: true });
  const run = await stage.everloopOf(told.taskQueue).start('desk', { task: 'Go.' });
  expect(await first.ended).toBe('SIGKILL');
  await workers.start(told);
  const step = await run.result();

  const ids = await spansOfEvents(run);
  const spans = await wholeTrace(step.trace.traceId ?? '', ids);
  const rest = spans.filter((span) => !OF_ACTIVITIES(span));
  expect(new Set(rest.map(({ spanId }) => spanId))).toEqual(ids);
  // The same work as without a kill.
  const names = rest.map(({ name }) => name).toSorted();
  expect(names.filter((name) => name.startsWith('execute_tool'))).toEqual([
    ...Array<string>(3).fill('execute_tool leaf'),
    ...Array<string>(3).fill('execute_tool search'),
  ]);
  expect(names.filter((name) => name === 'invoke_agent leaf')).toHaveLength(3);
});

test('a start continues the trace of its caller, and metrics go to a collector', async () => {
  const told = place({ metrics: 'otlp' });
  await workers.start(told);
  const traceId = randomUUID().replaceAll('-', '');
  const parent = `00-${traceId}-00f067aa0ba902b7-01`;
  const run = await stage
    .everloopOf(told.taskQueue)
    .start('desk', { task: 'Go.', trace: { parent, attributes: { 'user.id': 'u7' } } });
  const step = await run.result();

  expect([step.trace.traceId, await run.traceId()]).toEqual([traceId, traceId]);
  const spans = await wholeTrace(traceId, await spansOfEvents(run));
  const runs = spans.filter(({ name }) => name.startsWith('invoke_agent'));
  expect(runs).toHaveLength(4);
  expect(runs.every(({ attributes }) => attributes['user.id'] === 'u7')).toBe(true);
  expect(spans.find(({ name }) => name === 'invoke_agent desk')?.parentSpanId).toBe(
    '00f067aa0ba902b7',
  );
  expect(orphansOf(asSpans(spans))).toEqual(['invoke_agent desk']);

  // Four metrics have the names of the GenAI conventions; the others are as a scrape has them.
  await passing(() => {
    expect(pointOf('gen_ai.client.token.usage', { agent: 'desk', type: 'input' }).sum).toBe(
      step.usage.inputTokens - leafTokens(spans),
    );
    expect(pointOf('gen_ai.client.operation.duration', { agent: 'leaf' }).count).toBe(6);
    expect(pointOf('gen_ai.execute_tool.duration', { tool: 'search' }).count).toBe(3);
    expect(pointOf('gen_ai.invoke_agent.duration', { agent: 'leaf' }).count).toBe(3);
    expect(pointOf('everloop_runs_ended_total', { status: 'success', agent: 'leaf' }).sum).toBe(3);
    expect(receiver.metrics.has('everloop_tokens_total')).toBe(false);
  }, PATIENCE);
});

/** The point of a metric with these labels, of which there is one. */
function pointOf(metric: string, labels: Readonly<Record<string, string>>): Partial<ReceivedPoint> {
  const points = receiver.metrics.get(metric) ?? [];
  const found = points.filter((point) =>
    Object.entries(labels).every(
      ([name, value]) => (point.labels[GENAI_LABELS[name] ?? ''] ?? point.labels[name]) === value,
    ),
  );
  return found.length === 1 ? (found[0] ?? {}) : {};
}

function leafTokens(spans: readonly ReceivedSpan[]): number {
  return spans
    .filter(({ name, attributes }) => {
      return name.startsWith('chat ') && attributes['gen_ai.agent.name'] === 'leaf';
    })
    .reduce((sum, { attributes }) => sum + Number(attributes['gen_ai.usage.input_tokens']), 0);
}

test('a client continues the span that is active', async () => {
  const tracer = await openTracer(
    { spanProcessors: [] },
    createLostSpans(() => undefined),
  );
  const { address, namespace } = stage;
  const taskQueue = `traced-${randomUUID()}`;
  const everloop = await connect({ address, namespace, taskQueue, telemetry: true });
  const deaf = await connect({ address, namespace, taskQueue });
  const caller = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) };
  const start = (by: Everloop): Promise<RunHandle> => by.start('desk', { task: 'Go.' });
  const runs = [
    await tracer.within(caller, () => start(everloop)),
    await start(everloop),
    await tracer.within(caller, () => start(deaf)),
  ];
  const [inside, outside, unheard] = await Promise.all(runs.map((run) => run.traceId()));
  expect(inside).toBe(caller.traceId);
  expect([outside, unheard]).not.toContain(caller.traceId);
  for (const { id } of runs) await stage.client.workflow.getHandle(id).terminate();
  await tracer.close();
  await everloop.close();
  await deaf.close();
});

test('a history is the same with traces and without, and a worker that keeps no run sends no span twice', async () => {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const telemetry = checkTelemetry({ traces: { spanProcessors } }, { hasEndpoint: false });
  const plain = await stage.serve([worker(3)]);
  // Without a cache, each workflow task replays the run from its beginning.
  const traced = await stage.serve([worker(3)], { telemetry, maxCachedWorkflows: 0 });
  const histories = await Promise.all(
    [plain, traced].map(async ({ everloop }) => {
      const run = await everloop.start('worker', { task: 'Go.' });
      await run.result();
      return (await historiesOf(stage.client, run.id)).flatMap(steadyHistory);
    }),
  );
  expect(histories[1]).toEqual(histories[0]);
  expect(histories[0]?.length).toBeGreaterThan(20);
  const ids = exporter.getFinishedSpans().map((span) => span.spanContext().spanId);
  expect(ids.length).toBeGreaterThan(10);
  expect(new Set(ids).size).toBe(ids.length);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** The value of a line of a scrape; labels in any order. */
function valueIn(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const line = text
    .split('\n')
    .find(
      (one) =>
        one.startsWith(`${name}{`) &&
        Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`)),
    );
  return Number(line?.split(' ').at(-1) ?? 'NaN');
}

test('a scrape has exact numbers after a known run', async () => {
  const metrics = `127.0.0.1:${await freePort()}`;
  const told = place({ metrics });
  await workers.start(told);
  const run = await stage.everloopOf(told.taskQueue).start('desk', { task: 'Go.' });
  const step = await run.result();
  // A workflow task that fails: no code of this worker fits it.
  const unfit = await stage.client.workflow.start('of another release', {
    taskQueue: told.taskQueue,
    workflowId: randomUUID(),
  });

  await passing(async () => {
    const text = await (await fetch(`http://${metrics}/metrics`)).text();
    const of = (name: string, labels: Record<string, string>): number =>
      valueIn(text, name, labels);
    expect({
      leaves: of('everloop_runs_ended_total', { agent: 'leaf', status: 'success' }),
      desks: of('everloop_runs_ended_total', { agent: 'desk', status: 'success' }),
      turns: of('everloop_turn_duration_seconds_count', { agent: 'leaf' }),
      searches: of('everloop_tool_call_duration_seconds_count', { tool: 'search', outcome: 'ok' }),
      input:
        of('everloop_tokens_total', { agent: 'desk', type: 'input' }) +
        of('everloop_tokens_total', { agent: 'leaf', type: 'input' }),
    }).toEqual({
      leaves: 3,
      desks: 1,
      turns: 6,
      searches: 3,
      input: step.usage.inputTokens,
    });
    // The SDK's own are beside ours.
    const lines = text.split('\n').map((line) => line.replace(/(?:_bucket)?\{.*/, ''));
    expect(SDK_METRICS.filter((name) => !lines.includes(name))).toEqual([]);
    expect(text).not.toContain(step.runId);
  }, PATIENCE);
  await unfit.terminate();
});
