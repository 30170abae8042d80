/**
 * `lisp`: the language compared with SCI on twelve programs in one process, its machine tier
 * compared with its compiled tier, and the size and time of a snapshot.
 *
 * Times are processor times. Runs of the language and of SCI alternate, and each program counts
 * with its best round: on a shared machine, the minimum is the steadiest estimate.
 */
import {
  advance,
  checkProgram,
  EMPTY_MEMORY,
  readProgram,
  restore,
  snapshot,
  startMachine,
  type MachineSnapshot,
} from '../src/lisp.ts';
import { PROGRAMS } from './lisp/programs.ts';
import { runOurs } from './lisp/run-ours.ts';
import { sandboxed } from './lisp/sandbox.ts';
import { figure, type Bench, type Figure } from './support/figure.ts';

const ROUNDS = 8;
/** Runs in one measurement, so that SCI takes at least 5 ms for it. */
const REPEAT = 5;
const WIDE = { fuel: 2_000_000, loopIterations: 1_000_000, collection: 1_000_000 };

/** Milliseconds of processor time of this process, without other work on the machine. */
function now(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function geomean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

async function compare(): Promise<Figure[]> {
  const { runInSci } = await import('./lisp/sci.mjs');
  const ratios: number[] = [];
  const tiers: number[] = [];
  process.stdout.write('program             ours ms   SCI ms   ratio   machine ms   tiers\n');
  for (const { name, source } of PROGRAMS) {
    const best = { ours: Infinity, sci: Infinity, machine: Infinity };
    for (let round = 0; round < ROUNDS; round++) {
      let start = now();
      for (let run = 0; run < REPEAT; run++) runOurs(source, false);
      best.ours = Math.min(best.ours, now() - start);
      start = now();
      for (let run = 0; run < REPEAT; run++) await runInSci(source);
      best.sci = Math.min(best.sci, now() - start);
      start = now();
      for (let run = 0; run < REPEAT; run++) runOurs(source, true);
      best.machine = Math.min(best.machine, now() - start);
    }
    ratios.push(best.ours / best.sci);
    tiers.push(best.machine / best.ours);
    const cells = [
      name.padEnd(18),
      best.ours.toFixed(2).padStart(8),
      best.sci.toFixed(2).padStart(8),
      (best.ours / best.sci).toFixed(2).padStart(7),
      best.machine.toFixed(2).padStart(12),
      (best.machine / best.ours).toFixed(2).padStart(7),
    ];
    process.stdout.write(`${cells.join(' ')}\n`);
  }
  return [
    figure('geomean_vs_sci', geomean(ratios), 'ratio', '<= 1'),
    figure('worst_vs_sci', Math.max(...ratios), 'ratio', '<= 2'),
    figure('machine_vs_compiled', geomean(tiers), 'ratio', '<= 6'),
  ];
}

/** The same suite inside the sandbox's kind of context, alternating with this process. */
async function measureSandbox(): Promise<Figure[]> {
  const { run, bytes } = await sandboxed();
  const ratios = PROGRAMS.map(({ source }) => {
    const best = { inside: Infinity, outside: Infinity };
    for (let round = 0; round < ROUNDS; round++) {
      let start = now();
      run(source, false);
      best.inside = Math.min(best.inside, now() - start);
      start = now();
      runOurs(source, false);
      best.outside = Math.min(best.outside, now() - start);
    }
    return best.inside / best.outside;
  });
  return [
    figure('sandbox_vs_node', geomean(ratios), 'ratio', '<= 1.5'),
    figure('bundle_bytes', bytes, 'B', '<= 300000'),
  ];
}

function measureSnapshot(): Figure[] {
  const rows = Array.from({ length: 1_000 }, (_, id) => ({
    id,
    name: `person number ${id}`,
    email: `person${id}@example.org`,
    tags: ['a', 'b'],
    score: id * 7,
  }));
  const source = '(map (fn [r] (if (< (:id r) 500) (:id r) (tool/get {:id (:id r)}))) data/rows)';
  const tools = [{ name: 'get', description: '', schema: { type: 'object' } }];
  const read = readProgram(source);
  if (!read.ok) throw new Error(read.problem.message);
  let best = Infinity;
  let size = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const machine = startMachine(read.program, {
      data: { rows },
      memory: EMPTY_MEMORY,
      limits: WIDE,
      tools,
    });
    const step = advance(machine, { now: 0, budget: {}, results: [] });
    const start = now();
    const text = JSON.stringify(snapshot(step.machine));
    restore(JSON.parse(text) as MachineSnapshot);
    best = Math.min(best, now() - start);
    size = text.length;
  }
  return [
    figure('snapshot_ratio', size / JSON.stringify(rows).length, 'ratio', '<= 3'),
    figure('snapshot_ms', best, 'ms', '<= 20'),
  ];
}

/** Reads, checks and compiles a program of a hundred lines, after warming up. */
function measureStartup(): Figure[] {
  const line = (index: number): string =>
    `(defn f${index} [x] (let [{:keys [a b]} x] (if (< a ${index}) (map inc [a b]) (str "v" b))))`;
  const source = Array.from({ length: 100 }, (_, index) => line(index)).join('\n');
  const start = (): void => {
    const read = readProgram(source);
    if (!read.ok) throw new Error(read.problem.message);
    checkProgram(read.program, { tools: [], memory: [], asking: false });
    const machine = startMachine(read.program, {
      data: {},
      memory: EMPTY_MEMORY,
      limits: WIDE,
      tools: [],
    });
    advance(machine, { now: 0, budget: {}, results: [] });
  };
  let best = Infinity;
  for (let round = 0; round < 40; round++) {
    const since = now();
    start();
    best = Math.min(best, now() - since);
  }
  return [figure('startup_ms', best, 'ms', '<= 5')];
}

/** The benchmark `lisp`. */
export const lispBench: Bench = {
  name: 'lisp',
  about: 'the language against SCI on twelve programs, its two tiers, snapshots, start',
  async run() {
    return [
      ...(await compare()),
      ...(await measureSandbox()),
      ...measureSnapshot(),
      ...measureStartup(),
    ];
  },
};
