/**
 * `protection`: what keys and a blob store cost.
 *
 * - `turn_ratio_keys`: the time of 40 runs at once whose payloads are encrypted, over that without
 *   keys. The sides alternate; the figure is the median of nine pairs.
 * - `ratio_keys_low`: the lower end of the interval that holds the median of the pairs with 95 %: the
 *   goal of `turn_ratio_keys` is met when this meets it.
 * - `turn_ratio_blobs`: the same with a folder of blobs and results of 5 KB, which lie there, over
 *   results of 5 KB in the history.
 * - `blob_total_bytes`: the bytes of history of the run of `history`, with a folder of blobs. Its
 *   baseline is the same run without.
 * - `codec_ms_448k`: the time to encrypt and decrypt a payload of 448 KB, the largest page of a query.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Everloop } from '../src/client/everloop-client.ts';
import { directoryBlobs } from '../src/protection/blobs/directory-blobs.ts';
import { keyRing } from '../src/protection/key-ring.ts';
import { protectionOf, type Protection } from '../src/protection/protection.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, lowerEnd, median, type Bench, type Figure } from './support/figure.ts';
import type { Link } from './support/history-reader.ts';
import { instantAgent } from './support/instant-agent.ts';
import { fleetMs } from './support/instant-runs.ts';
import { RESULT_BYTES, runLongChat } from './support/long-chat.ts';

const PAIRS = 9;
const FLEET = 40;
const TURNS = 3;
const PAGE_BYTES = 458_752;
const CODINGS = 100;

/** The benchmark `protection`. */
export const protectionBench: Bench = {
  name: 'protection',
  about: 'turns with keys and with blobs over turns without, bytes of history, time of the codec',
  run: () => withStage(measure),
};

async function measure(stage: Stage): Promise<readonly Figure[]> {
  const keyed = protectionOf({ keys: keyRing({ current: 'k', keys: { k: randomBytes(32) } }) });
  const stored = protectionOf({ blobs: directoryBlobs(join(stage.folder, 'blobs')) });
  const keyRatios = await ratiosOf(stage, keyed, 1_024);
  const blobRatios = await ratiosOf(stage, stored, RESULT_BYTES);
  const inHistory = await runLongChat(stage);
  const inStore = await runLongChat(stage, { protection: stored });
  return [
    figure('turn_ratio_keys', median(keyRatios), 'x', '', 1),
    figure('ratio_keys_low', lowerEnd(keyRatios), 'x', '<= 1.05', 1),
    figure('turn_ratio_blobs', median(blobRatios), 'x', '', 1),
    figure('blob_total_bytes', bytesOf(inStore), 'B', '<= 400000', bytesOf(inHistory)),
    figure('codec_ms_448k', await codecMs(keyed), 'ms', '<= 4'),
  ];
}

/** The times of a fleet with `protection` over those without, pair by pair. */
async function ratiosOf(
  stage: Stage,
  protection: Protection,
  resultBytes: number,
): Promise<readonly number[]> {
  const agents = [instantAgent('instant', { resultBytes })];
  const without = await stage.serve(agents);
  const within = await stage.serve(agents, { protection });
  for (const { everloop } of [without, within]) await fleet(everloop);
  const ratios: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // Each side goes first in turn: the second finds the service busy with the first.
    const early = pair % 2 === 0 ? await fleet(within.everloop) : null;
    const base = await fleet(without.everloop);
    ratios.push((early ?? (await fleet(within.everloop))) / base);
  }
  for (const { stop } of [without, within]) await stop();
  return ratios;
}

function fleet(everloop: Everloop): Promise<number> {
  return fleetMs(everloop, FLEET, TURNS);
}

function bytesOf(links: readonly Link[]): number {
  return links.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function codecMs({ codec }: Protection): Promise<number> {
  const payload = { metadata: {}, data: randomBytes(PAGE_BYTES) };
  const times: number[] = [];
  for (let coding = 0; coding < CODINGS; coding++) {
    const startedAt = performance.now();
    await codec.decode(await codec.encode([payload]));
    times.push(performance.now() - startedAt);
  }
  return median(times);
}
