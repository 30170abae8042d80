/**
 * Provisional text on a server with its own settings, as others set it up: it refuses a second query
 * that waits for the same workflow task, and each workflow task waits a little.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { inTurns } from '../../src/client/connection/in-turns.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { collect, type Chunk, type ChunkMarker } from '../../src/core/streaming/chunk.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import {
  openChunkEndpoint,
  type ChunkEndpoint,
} from '../../src/worker/streaming/chunk-endpoint.ts';
import { extent } from '../support/extent.ts';
import { withHiddenValue } from '../support/hidden-values.ts';
import { gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startTestServer, STOCK_SETTINGS, type TestServer } from '../support/test-server.ts';

const RUNS = extent(50, 8);
const WORDS = Array.from({ length: 12 }, (_, index) => `word-${index} `);
const WHOLE = WORDS.join('');

/** Where the model of each run waits in the middle of its reply, by the task of the run. */
const middles = new Map<string, { readonly reached: Gate; readonly mayGoOn: Gate }>();
type Gate = ReturnType<typeof gate<void>>;

/** Says {@link WORDS}: one by one, all at once, or with a stop in the middle. */
const talker = defineAgent({
  name: 'talker',
  mode: 'chat',
  model: {
    id: 'm',
    model: async (request, { onChunk }) => {
      const task = taskOf(request);
      for (const [index, delta] of WORDS.entries()) {
        const middle = index === WORDS.length / 2 ? middles.get(task) : undefined;
        middle?.reached.open();
        await middle?.mayGoOn.opened;
        if (task.startsWith('paced')) await new Promise((resolve) => setTimeout(resolve, 5));
        onChunk({ kind: 'text', delta });
      }
      return { content: WHOLE, usage: { inputTokens: 10, outputTokens: 12 } };
    },
  },
});

function taskOf({ messages }: ModelRequest): string {
  return /(?:paced|instant|late) \d+/.exec(JSON.stringify(messages))?.[0] ?? '';
}

let server: TestServer;
let stage: Stage;
let endpoint: ChunkEndpoint;
let everloop: ConnectedEverloop;
beforeAll(async () => {
  server = await startTestServer({ dynamicConfig: STOCK_SETTINGS });
  stage = await openStage(server);
  const { taskQueue, chunks } = await stage.serve([talker]);
  const token = 'a-token-of-sixteen';
  endpoint = await openChunkEndpoint({ source: chunks, token });
  everloop = await connect({
    address: server.address,
    namespace: server.namespace,
    taskQueue,
    streamUrls: [endpoint.url],
    streamToken: token,
    dataDir: stage.folder,
  });
});
afterAll(async () => {
  await everloop.close();
  await endpoint.close();
  await stage.close();
  await server.stop();
});

const context = withHiddenValue({});
const numbers = Array.from({ length: RUNS }, (_, index) => index);
const paceOf = (index: number): string => (index % 2 === 0 ? 'paced' : 'instant');

async function streamed(run: RunHandle): Promise<ReturnType<typeof collect>> {
  const items: (Chunk | ChunkMarker)[] = [];
  for await (const item of run.stream()) items.push(item);
  return collect(items);
}

async function followed(run: RunHandle): Promise<string> {
  let text = '';
  for await (const update of run.follow()) {
    if (update.kind === 'text') text += update.delta;
    if (update.kind === 'restart') text = '';
  }
  return text;
}

describe('on a server with its own settings [row 54]', () => {
  it(`a stream that opens right after the start is whole in ${RUNS} of ${RUNS} runs`, async () => {
    const whole = { text: WHOLE, reasoning: '', complete: true };

    const got = await inTurns(numbers, async (index) => {
      const run = await everloop.start('talker', { task: `${paceOf(index)} ${index}`, context });
      return streamed(run);
    });

    expect(got).toEqual(numbers.map(() => whole));
  });

  it(`so is what follow() gives, also when the start opens it: ${RUNS} of ${RUNS}`, async () => {
    const got = await inTurns(numbers, async (index) => {
      const stream = index % 3 === 0;
      const task = `${paceOf(index)} ${index}`;
      return followed(await everloop.start('talker', { task, context, stream }));
    });

    expect(got).toEqual(numbers.map(() => WHOLE));
  });

  it(`a reader that comes in the middle has all text: ${RUNS} of ${RUNS}`, async () => {
    const got = await inTurns(numbers, async (index) => {
      const task = `late ${index}`;
      const middle = { reached: gate(), mayGoOn: gate() };
      middles.set(task, middle);
      const { id } = await everloop.start('talker', { task, context });
      await middle.reached.opened;
      const late = everloop.attach(id);
      const reading = index % 2 === 0 ? followed(late) : streamed(late).then(({ text }) => text);
      // In half of the runs the reader is there before the model goes on.
      if (index % 4 < 2) await late.status();
      middle.mayGoOn.open();
      return reading;
    });

    expect(got).toEqual(numbers.map(() => WHOLE));
  });

  it('says so for a run that is not there', async () => {
    const run = everloop.attach('no-such-run');

    await expect(run.stream()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'run_not_found',
    });
  });
});
