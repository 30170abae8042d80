/** Runs whose text is read over HTTP, on a server with its own settings, and what readers lack. */
import { connect } from '../../src/client/connect.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { inTurns } from '../../src/client/connection/in-turns.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { collect, type Chunk, type ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { openChunkEndpoint } from '../../src/worker/streaming/chunk-endpoint.ts';
import { DEVELOPMENT_SETTINGS } from '../../src/worker/server/server-process.ts';
import { withStage, type Stage } from './bench-stage.ts';

const WORDS = Array.from({ length: 40 }, (_, index) => `word-${index} `);
const WHOLE = WORDS.join('');
const TOKEN = 'a-token-of-a-benchmark';

/** The middle of the reply of a run, by its task: where the model is, and what it waits for. */
interface Middle {
  readonly onReached: () => void;
  readonly mayGoOn: Promise<void>;
}

/** How many runs a first reader, and how many a late one, did not have whole. */
export interface Losses {
  readonly first: number;
  readonly late: number;
}

/** How many of `runs` runs a first reader, and how many a late one, did not have whole. */
export async function countLosses(runs: number): Promise<Losses> {
  const stock = Object.fromEntries(Object.keys(DEVELOPMENT_SETTINGS).map((key) => [key, null]));
  return withStage((stage) => countOn(stage, runs), stock);
}

async function countOn(stage: Stage, runs: number): Promise<Losses> {
  const chunks = createChunkBus();
  const endpoint = await openChunkEndpoint({ source: chunks, token: TOKEN });
  const middles = new Map<string, Middle>();
  await stage.serve([talkerWith(middles)], { chunks, taskQueue: 'streams' });
  const everloop = await connect({
    address: stage.address,
    namespace: 'default',
    taskQueue: 'streams',
    streamUrls: [endpoint.url],
    streamToken: TOKEN,
    env: {},
  });
  const numbers = Array.from({ length: runs }, (_, index) => index);
  const lost = async (isWhole: (index: number) => Promise<boolean>): Promise<number> =>
    (await inTurns(numbers, isWhole)).filter((whole) => !whole).length;
  try {
    const first = await lost(async (index) => {
      const task = `${index % 2 === 0 ? 'paced' : 'instant'} ${index}`;
      return (await textOf(await everloop.start('talker', { task }))) === WHOLE;
    });
    const late = await lost((index) => isWholeForLate(everloop, middles, `late ${index}`));
    return { first, late };
  } finally {
    await everloop.close();
    await endpoint.close();
  }
}

async function isWholeForLate(
  everloop: Everloop,
  middles: Map<string, Middle>,
  task: string,
): Promise<boolean> {
  let goOn = (): void => undefined;
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    middles.set(task, { onReached: resolve, mayGoOn });
  });
  const { id } = await everloop.start('talker', { task });
  await reached;
  const text = textOf(everloop.attach(id));
  goOn();
  return (await text) === WHOLE;
}

async function textOf(run: RunHandle): Promise<string> {
  const items: (Chunk | ChunkMarker)[] = [];
  for await (const item of run.stream()) items.push(item);
  return collect(items).text;
}

function talkerWith(middles: ReadonlyMap<string, Middle>): AgentDefinition {
  return defineAgent({
    name: 'talker',
    mode: 'chat',
    model: {
      id: 'm',
      model: async ({ messages }, { onChunk }) => {
        const task = /(?:paced|instant|late) \d+/.exec(JSON.stringify(messages))?.[0] ?? '';
        for (const [index, delta] of WORDS.entries()) {
          const middle = index === WORDS.length / 2 ? middles.get(task) : undefined;
          middle?.onReached();
          await middle?.mayGoOn;
          if (task.startsWith('paced')) await new Promise((resolve) => setTimeout(resolve, 5));
          onChunk({ kind: 'text', delta });
        }
        return { content: WHOLE, usage: { inputTokens: 10, outputTokens: 40 } };
      },
    },
  });
}
