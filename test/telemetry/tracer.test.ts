/** The tracer: collectors that are dead, slow or refuse, ids, what spans hold, and its end. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { attributeText } from '../../src/telemetry/content.ts';
import { isSampled, treeTraceId } from '../../src/telemetry/ids.ts';
import { createLostSpans } from '../../src/telemetry/lost-spans.ts';
import type { SpanData } from '../../src/telemetry/span-data.ts';
import { openTracer } from '../../src/telemetry/tracer.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { passing } from '../support/passing.ts';
import { traceInMemory } from '../support/spans.ts';
import { startReceiver } from '../support/trace-receiver.ts';

const SPAN: SpanData = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentId: 'c'.repeat(16),
  name: 'turn 1',
  kind: 'internal',
  startMs: 1_800_000_001_000,
  endMs: 1_800_000_003_000,
  attributes: { 'everloop.iteration': 1 },
};

const { OTEL_EXPORTER_OTLP_ENDPOINT: before } = process.env;
afterEach(() => {
  if (before === undefined) delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  else process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = before;
});

describe('a tracer', () => {
  it('sends spans under their own ids, and other spans under random ones', async () => {
    const exporter = new InMemorySpanExporter();
    const lost = createLostSpans(() => undefined);
    const options = { spanProcessors: [new SimpleSpanProcessor(exporter)] };
    const tracer = await openTracer(options, lost);
    const { trace } = await import('@opentelemetry/api');
    tracer.within(SPAN, () => trace.getTracer('app').startSpan('inner').end());
    tracer.emit({ ...SPAN, error: 'model_error' });
    const [inner, sent] = exporter.getFinishedSpans();
    expect(inner?.parentSpanContext?.spanId).toBe(SPAN.spanId);
    expect(inner?.spanContext().spanId).not.toBe(SPAN.spanId);
    expect(sent?.spanContext()).toMatchObject({ traceId: SPAN.traceId, spanId: SPAN.spanId });
    expect(sent?.parentSpanContext?.spanId).toBe(SPAN.parentId);
    expect([sent?.startTime, sent?.endTime]).toEqual([
      [1_800_000_001, 0],
      [1_800_000_003, 0],
    ]);
    expect(sent?.attributes).toEqual({ 'everloop.iteration': 1, 'error.type': 'model_error' });
    await tracer.close();
  });

  it('has the requests of instrumented code below the active span, though that was set up first', async () => {
    const instrumentation = new UndiciInstrumentation();
    const receiver = await startReceiver();
    const exporter = new InMemorySpanExporter();
    const options = { spanProcessors: [new SimpleSpanProcessor(exporter)] };
    const tracer = await openTracer(
      options,
      createLostSpans(() => undefined),
    );
    await tracer.within(SPAN, async () => (await fetch(`${receiver.url}/pages`)).text());
    await passing(() => expect(exporter.getFinishedSpans()).toHaveLength(1));
    const [request] = exporter.getFinishedSpans();
    expect(request?.parentSpanContext).toMatchObject({
      traceId: SPAN.traceId,
      spanId: SPAN.spanId,
    });
    // The server that is asked continues the trace.
    expect(receiver.asked).toEqual([`00-${SPAN.traceId}-${request?.spanContext().spanId}-01`]);
    instrumentation.disable();
    await tracer.close();
    await receiver.close();
  });

  it.each([
    { name: 'refuses', status: 400 },
    { name: 'fails', status: 404 },
  ])('loses spans to a collector that $name, and says so once', async ({ status }) => {
    const receiver = await startReceiver(status);
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = receiver.url;
    const said: string[] = [];
    const tracer = await openTracer(
      {},
      createLostSpans((text) => said.push(text)),
    );
    for (let n = 0; n < 1_200; n += 1) tracer.emit(SPAN);
    await tracer.close();
    expect(receiver.bodies.length).toBeGreaterThan(1);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^\d+ spans were not sent: .+\. Runs are not affected\.$/);
    await receiver.close();
  });

  it.runIf(RUNS_ALL)(
    'is held by no collector, and 10,000 turns take at most 20 MB',
    async () => {
      const silent = await startReceiver(0);
      const refusing = await startReceiver(429);
      // Nothing listens on this port of the loopback interface.
      const collectors = ['http://127.0.0.1:9', silent.url, refusing.url];
      const opened = [];
      for (const url of collectors) {
        process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = url;
        const said: string[] = [];
        const tracer = await openTracer(
          {},
          createLostSpans((text) => said.push(text)),
        );
        opened.push({ tracer, said });
      }
      const before = heapBytes();
      for (let turn = 0; turn < 10_000; turn += 1) {
        // Four spans a turn, each with ids and attributes of its own.
        for (let part = 0; part < 4; part += 1) {
          const spanId = (4 * turn + part).toString(16).padStart(16, '1');
          const span = { ...SPAN, spanId, attributes: { ...SPAN.attributes, turn } };
          for (const { tracer } of opened) tracer.emit(span);
        }
        // Lets the processor begin to send, as a worker does between activations.
        if (turn % 500 === 0) await nextTick();
      }
      const grownMb = (heapBytes() - before) / opened.length / 2 ** 20;
      expect(grownMb).toBeLessThan(20);
      for (const { said } of opened) {
        expect(said).toHaveLength(1);
        expect(said[0]).toMatch(/^\d+ spans were not sent: .+\. Runs are not affected\.$/);
      }
      // What does not go within five seconds stays here: `within` of the tracer bounds it.
      await Promise.all(opened.map(({ tracer }) => tracer.close()));
      await silent.close();
      await refusing.close();
    },
    30_000,
  );
});

/** Bytes of the heap that something refers to. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('lost spans', () => {
  it('are counted and told once a minute', () => {
    let now = 0;
    const said: string[] = [];
    const lost = createLostSpans(
      (text) => said.push(text),
      () => now,
    );
    lost.sending(5)(false, 'ECONNREFUSED');
    lost.sending(5)(false, 'ECONNREFUSED');
    lost.sending(5)(true);
    now = 60_000;
    lost.sending(2)(false, '429');
    expect(said).toEqual([
      '5 spans were not sent: ECONNREFUSED. Runs are not affected.',
      '7 spans were not sent: 429. Runs are not affected.',
    ]);
  });
});

describe('ids', () => {
  it('are hashes of the ids of runs', () => {
    const hash = createHash('sha256').update('everloop trace root').digest('hex');
    expect(treeTraceId({ rootRunId: 'root' })).toBe(hash.slice(0, 32));
    const traceparent = `00-${'4'.repeat(32)}-${'5'.repeat(16)}-01`;
    expect(treeTraceId({ rootRunId: 'root', traceparent })).toBe('4'.repeat(32));
  });

  it('decide which trees are recorded: the same on all workers, and as the caller did', () => {
    const trees = Array.from({ length: 2_000 }, (_, index) => ({ rootRunId: `run ${index}` }));
    const share = trees.filter((tree) => isSampled(tree, 0.25)).length / trees.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
    expect(trees.filter((tree) => isSampled(tree, 0))).toEqual([]);
    expect(trees.every((tree) => isSampled(tree, 1))).toBe(true);
    const unsampled = `00-${'4'.repeat(32)}-${'5'.repeat(16)}-00`;
    expect(isSampled({ rootRunId: 'r', traceparent: unsampled }, 1)).toBe(false);
  });
});

describe('content', () => {
  const SENTINEL = 'sentinel-of-a-customer';
  const SECRET = 'sk-proj-0123456789abcdef';
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ to: z.string() }),
    execute: () => ({ note: SENTINEL, key: SECRET, _hidden: 'never-shown' }),
  }) as ToolDefinition;
  const agent = defineAgent({
    name: 'clerk',
    mode: 'chat',
    tools: [pay],
    model: {
      id: 'm',
      model: async ({ iteration }) =>
        iteration === 1
          ? { content: SENTINEL, toolCalls: [{ name: 'pay', args: { to: SENTINEL } }] }
          : { content: SENTINEL },
    },
  });

  it('is in no span, unless that is asked for', async () => {
    const { spans } = await traceInMemory({ agent, context: { customer: SENTINEL } });
    expect(spans.some(({ name }) => name === 'execute_tool pay')).toBe(true);
    expect(JSON.stringify(spans)).not.toContain(SENTINEL);
  });

  it('has arguments and results, without secrets and hidden values', async () => {
    const { spans } = await traceInMemory({ agent }, { content: 'events' });
    const call = spans.find(({ name }) => name === 'execute_tool pay');
    expect(call?.attributes['gen_ai.tool.call.arguments']).toBe(`{"to":"${SENTINEL}"}`);
    expect(call?.attributes['gen_ai.tool.call.result']).toContain(SENTINEL);
    expect(JSON.stringify(spans)).not.toContain(SECRET);
    expect(JSON.stringify(spans)).not.toContain('never-shown');
  });

  it('has no part of a secret at the place where it is cut', () => {
    const text = `${'x'.repeat(32_768 - 12)} ${SECRET}`;
    const shown = attributeText({ text });
    expect(shown).not.toContain(SECRET.slice(0, 8));
    expect(shown).toMatch(/\n\[cut: \d+ bytes in all\]$/);
    expect(attributeText('short')).toBe('short');
  });
});
