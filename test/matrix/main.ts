/**
 * `npm run matrix -- [SCENARIO …] [worker | server | trouble | random] [--lanes N]`: plays the matrix,
 * or a part of it, keeps what it saw in `results.json` and writes `docs/kill-matrix.md`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILDS_FOLDER } from '../support/builds.ts';
import { buildPrograms } from '../support/program-builds.ts';
import { MATRIX_ROWS, playRows, type MatrixRow } from './matrix.ts';
import { matrixPage, PAGE_FILE } from './page.ts';
import { playRandom, RANDOM_ORDERS, type RandomOrder } from './random.ts';
import { isRight, keepResults, readResults, rowOf } from './results.ts';
import { MATRIX_SCENARIOS } from './scenarios.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['worker', 'server', 'trouble', 'random'];
const DEFAULT_LANES = 12;
const SERVER_LANES = 3;

function partOf({ victim, trouble }: MatrixRow): string {
  return trouble === undefined ? victim : 'trouble';
}

const args = process.argv.slice(2);
const lanesAt = args.indexOf('--lanes');
const lanes = lanesAt < 0 ? DEFAULT_LANES : Number(args[lanesAt + 1]);
const words = lanesAt < 0 ? args : args.toSpliced(lanesAt, 2);
const names = [
  ...MATRIX_SCENARIOS.map(({ name }) => name),
  ...RANDOM_ORDERS.map(({ scenario }) => scenario),
];
const wrong = words.filter((word) => !names.includes(word) && !PARTS.includes(word));
if (wrong.length > 0) {
  const known = [...names, ...PARTS].join(', ');
  process.stderr.write(`Expected some of ${known}, got ${wrong.join(' ')}. Change it.\n`);
  process.exit(2);
}
const parts = PARTS.filter((part) => words.includes(part));
const scenarios = names.filter((name) => words.includes(name));
const isChosen = (row: MatrixRow): boolean =>
  (parts.length === 0 || parts.includes(partOf(row))) &&
  (scenarios.length === 0 || scenarios.includes(row.scenario.name));
const isPlayed = ({ scenario }: RandomOrder): boolean =>
  scenarios.length === 0 || scenarios.includes(scenario);
const playsRandom = parts.length === 0 || parts.includes('random');

const buildsFolder = join(ROOT, '.everloop', 'test-builds');
mkdirSync(buildsFolder, { recursive: true });
const builds = mkdtempSync(join(buildsFolder, 'matrix-'));
process.env[BUILDS_FOLDER] = builds;
await buildPrograms(builds);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
let isGood = true;
try {
  await playRows(
    MATRIX_ROWS.filter(isChosen),
    { worker: lanes, server: SERVER_LANES },
    {
      onJob: ({ scenario, victim, point, kills, lost, unequal, unmet }) => {
        say(`${scenario}, ${victim} ${point}: ${kills} kills`);
        for (const line of [...lost, ...unequal]) say(`  ${line}`);
        if (unmet.length > 0) say(`  not met: ${unmet.join(', ')}`);
      },
      onRow: (outcomes) => {
        const row = rowOf(outcomes);
        isGood &&= isRight(row);
        keepResults({ rows: [row] });
      },
    },
  );
  if (playsRandom) {
    for (const order of RANDOM_ORDERS.filter(isPlayed)) {
      const random = await playRandom(order);
      say(JSON.stringify(random));
      isGood &&= isRight(random);
      keepResults({ random: [random] });
    }
  }
} finally {
  rmSync(builds, { recursive: true, force: true });
}
const page = await matrixPage(readResults());
writeFileSync(join(ROOT, PAGE_FILE), page);
say(page.split('\n')[0] ?? '');
process.exit(isGood ? 0 : 1);
