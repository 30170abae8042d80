/** Pages of docs/ whose code is that of examples which run here. */
import { describe, expect, test } from 'vitest';
import { relay, watch } from '../../examples/docs/streaming.ts';
import { followChunks } from '../../src/client/follow-chunks.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { createChunkBus } from '../../src/worker/chunk-bus.ts';
import { openChunkEndpoint } from '../../src/worker/chunk-endpoint.ts';
import { fakeRun, STEP } from '../cli/cli-fixture.ts';
import { chunk, marker } from '../support/chunks.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';

const PAGES = ['streaming'];

test.each(PAGES)('docs/%s.md quotes its example', (page) => {
  expect(blocksOf(page).size).toBeGreaterThan(0);
  expect(blocksOf(page)).toEqual(regionsOf(page));
});

describe('streaming', () => {
  test('text that grows, starts again, and is replaced by the answer', async () => {
    const stream: RunHandle['stream'] = async function* () {
      yield chunk(1, 'I look', { kind: 'text' });
      yield chunk(1, 'think', { iteration: 2, kind: 'reasoning' });
      yield chunk(2, 'Zag', { iteration: 2 });
      yield marker(1, 'restart', { iteration: 2, attempt: 2 });
      yield chunk(2, 'Vien', { iteration: 2, attempt: 2 });
      yield chunk(3, 'na', { iteration: 2, attempt: 2 });
    };
    const shown: unknown[] = [];

    await watch(fakeRun('r', { stream, result: async () => STEP }), (value) => shown.push(value));

    expect(shown).toEqual(['I look', '', 'Zag', '', 'Vien', 'Vienna', 'Vienna.']);
  });

  test('one address in front of a fleet', async () => {
    const token = 'a-token-of-a-fleet';
    const bus = createChunkBus();
    const worker = await openChunkEndpoint({ source: bus, token });
    const front = await relay([worker.url], token);
    const { url } = front;
    const stream = followChunks({ find: [async () => [{ url, token }]] }).subscribe({ runId: 'r' });
    const items: unknown[] = [];
    const reading = (async () => {
      for await (const item of stream) items.push(item);
    })();

    await eventually('a piece', () => {
      bus.publish(chunk(1, 'one'));
      return items.length > 0;
    });
    stream.unsubscribe();
    await reading;
    await front.close();
    await worker.close();

    expect(items[0]).toEqual(chunk(1, 'one'));
  });
});
