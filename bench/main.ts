/** `npm run bench -- NAME [--json]`: runs one benchmark, or all, and prints its figures. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectTaken, refuseLive } from '../test/support/refusing/refuse-live.ts';
import { figure, meetsGoal, tableOf, type Bench } from './support/figure.ts';
import { compactionBench } from './compaction.ts';
import { consoleBench } from './console.ts';
import { conversationBench } from './conversation.ts';
import { costBench } from './cost.ts';
import { fleetBench } from './fleet.ts';
import { forkBench } from './fork.ts';
import { fuelBench } from './fuel.ts';
import { historyBench } from './history.ts';
import { idleBench } from './idle.ts';
import { lispBench } from './lisp.ts';
import { mcpBench } from './mcp.ts';
import { parseBench } from './parse.ts';
import { programsBench } from './programs.ts';
import { protectionBench } from './protection.ts';
import { readingBench } from './reading.ts';
import { realModelBench } from './real-model.ts';
import { recoveryBench } from './recovery.ts';
import { searchBench } from './search.ts';
import { startBench } from './start.ts';
import { streamingBench } from './streaming.ts';
import { telemetryBench } from './telemetry.ts';
import { treeCancelBench } from './tree-cancel.ts';
import { treeBench } from './tree.ts';
import { turnBench } from './turn.ts';

const benches: readonly Bench[] = [
  historyBench,
  turnBench,
  fleetBench,
  treeBench,
  recoveryBench,
  idleBench,
  parseBench,
  searchBench,
  streamingBench,
  compactionBench,
  treeCancelBench,
  lispBench,
  fuelBench,
  programsBench,
  telemetryBench,
  mcpBench,
  protectionBench,
  consoleBench,
  startBench,
  readingBench,
  costBench,
  conversationBench,
  forkBench,
];

const known = [...benches, realModelBench];

// No figure of requests that a real provider refuses.
const refused = mkdtempSync(join(tmpdir(), 'everloop-refused-'));
refuseLive(refused);
const words = process.argv.slice(2);
const asJson = words.includes('--json');
const [name] = words.filter((word) => !word.startsWith('--'));
// One of them needs what few machines have.
const chosen = name === undefined ? benches : known.filter((bench) => bench.name === name);
if (chosen.length === 0) {
  const names = known.map((bench) => bench.name).join(', ');
  process.stderr.write(`Expected one of the benchmarks ${names}, got ${name}.\n`);
  process.exit(2);
}
const all = [];
for (const bench of chosen) {
  process.stdout.write(`\n${bench.name}: ${bench.about}\n`);
  const startedAt = performance.now();
  const figures = await bench.run(words);
  all.push(...figures);
  process.stdout.write(`${tableOf(figures)}\n`);
  const took = figure('took', (performance.now() - startedAt) / 1_000, 's');
  process.stdout.write(`(${took.value} s)\n`);
}
expectTaken(refused);
rmSync(refused, { recursive: true });
if (asJson) process.stdout.write(`${JSON.stringify(all)}\n`);
process.exitCode = all.every(meetsGoal) ? 0 : 1;
