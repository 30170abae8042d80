/** Pages of docs/ whose code is that of examples which run here. */
import { describe, expect, test } from 'vitest';
import { carefulLoop } from '../../examples/docs/own-loops.ts';
import { relay, watch } from '../../examples/docs/streaming.ts';
import { followChunks } from '../../src/client/follow-chunks.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { textOf, type Message } from '../../src/core/message.ts';
import { createChunkBus } from '../../src/worker/chunk-bus.ts';
import { openChunkEndpoint } from '../../src/worker/chunk-endpoint.ts';
import { fakeRun, STEP } from '../cli/cli-fixture.ts';
import { chunk, marker } from '../support/chunks.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';
import { act, answer, GARBAGE, startRun } from '../support/runs.ts';

const PAGES = ['own-loops', 'streaming'];

test.each(PAGES)('docs/%s.md quotes its example', (page) => {
  expect(blocksOf(page).size).toBeGreaterThan(0);
  expect(blocksOf(page)).toEqual(regionsOf(page));
});

describe('own loops', () => {
  test('one call in a turn, whatever the model wants', async () => {
    const { run, script } = startRun([act('a', 'b'), GARBAGE, answer('done')], {
      next: carefulLoop(),
    });

    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({ status: 'success', value: answer('done'), iterations: 3 });
    expect(step.usage.toolCalls).toBe(1);
    const observations = script.requests.slice(1).map(({ messages }) => lastTextOf(messages));
    expect(observations[0]).toBe(
      '<observation>\n<note>\n1 more calls were left out: one step at a time.\n</note>\n<search>\nhits for a\n</search>\n</observation>',
    );
    expect(observations[1]).toContain('Your reply could not be read');
  });
});

/** The message before the marker. */
function lastTextOf(messages: readonly Message[]): string {
  const message = messages.at(-2);
  return message === undefined ? '' : textOf(message);
}

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
