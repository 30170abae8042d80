/** Attempts of model calls: their spans and metrics, and what of their content these hold. */
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import { spanIdOf } from '../../src/telemetry/ids.ts';
import type { Recording } from '../../src/telemetry/metrics.ts';
import type { SpanData } from '../../src/telemetry/span-data.ts';
import { watchCalls, type WatchParts } from '../../src/telemetry/watch-calls.ts';

const ORDER = {
  agent: 'clerk',
  runId: 'run',
  agentPath: 'clerk',
  model: 'm',
  purpose: 'reply',
  iteration: 2,
  seq: 7,
} as ModelOrder;
const SECRET = 'sk-proj-0123456789abcdef';

/** What an attempt of a watched call leaves. */
async function watched(
  run: () => Promise<unknown>,
  parts: Partial<WatchParts> = {},
): Promise<{ readonly spans: readonly SpanData[]; readonly recorded: readonly Recording[] }> {
  const spans: SpanData[] = [];
  const recorded: Recording[] = [];
  let now = 1_000;
  const observer = watchCalls({
    content: 'off',
    sample: 1,
    tracer: {
      emit: (span) => void spans.push(span),
      within: (_span, work) => work(),
      close: () => Promise.resolve(),
    },
    meter: { record: (recording) => void recorded.push(recording) },
    cacheBytes: () => 42,
    now: () => (now += 10),
    ...parts,
  });
  await observer
    .model({ order: ORDER, attempt: 2, queueMs: 5 }, (notes) => {
      notes.transcript('query');
      notes.asked([{ role: 'user', text: `Pay with ${SECRET}.` }]);
      notes.firstChunk();
      notes.replied([{ type: 'text', text: 'Paid.' }]);
      return run();
    })
    .catch(() => undefined);
  return { spans, recorded };
}

it('an attempt is a span below its call, and counts', async () => {
  const { spans, recorded } = await watched(() => Promise.resolve({ kind: 'reply' }));
  expect(spans).toMatchObject([
    {
      name: 'attempt 2',
      kind: 'client',
      spanId: spanIdOf('run', 'attempt 7 2'),
      parentId: spanIdOf('run', 'model 7'),
      attributes: {
        'everloop.outcome': 'ok',
        'everloop.transcript': 'query',
        'everloop.first_chunk_ms': 10,
        'everloop.queue_ms': 5,
      },
    },
  ]);
  expect(JSON.stringify(spans)).not.toMatch(/Pay|Paid/);
  expect(recorded.map(({ metric, labels }) => [metric, labels])).toEqual([
    ['everloop_transcript_reads_total', { source: 'query' }],
    ['everloop_cache_bytes', {}],
    ['everloop_model_attempts_total', { model: 'm', outcome: 'ok' }],
    [
      'everloop_time_to_first_chunk_seconds',
      { agent: 'clerk', model: 'm', purpose: 'reply', outcome: 'ok' },
    ],
  ]);
});

it.each([
  { type: 'model_error', status: 429, outcome: 'rate_limited' },
  { type: 'model_error', status: 503, outcome: 'server_error' },
  { type: 'model_error', status: undefined, outcome: 'network' },
  { type: 'model_auth', status: 401, outcome: 'refused' },
  { type: 'worker_shutdown', status: undefined, outcome: 'aborted' },
])('a failure of type $type and status $status is $outcome', async ({ type, status, outcome }) => {
  const failure = ApplicationFailure.create({ type, message: 'no', details: [{ status }] });
  const { spans, recorded } = await watched(() => Promise.reject(failure));
  expect(spans).toMatchObject([{ error: type, attributes: { 'everloop.outcome': outcome } }]);
  expect(recorded).toContainEqual({
    metric: 'everloop_model_attempts_total',
    value: 1,
    labels: { model: 'm', outcome },
  });
});

it('holds messages only if that is asked for, and no secret then', async () => {
  const reply = (): Promise<unknown> => Promise.resolve({ kind: 'reply' });
  const { spans } = await watched(reply, { content: 'full' });
  expect(spans[0]?.attributes['gen_ai.input.messages']).toContain('Pay with [redacted]');
  expect(spans[0]?.attributes['gen_ai.output.messages']).toContain('Paid.');
  expect(JSON.stringify(await watched(reply, { content: 'events' }))).not.toMatch(/Pay|Paid/);
});

it('a tree that is not recorded has no span, but counts', async () => {
  const { spans, recorded } = await watched(() => Promise.resolve({ kind: 'reply' }), {
    sample: 0,
  });
  expect(spans).toEqual([]);
  expect(recorded).not.toEqual([]);
});
