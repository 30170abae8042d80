/**
 * `fleet`: how many turns a second two processes carry, a worker as `runWorker` ships it and its
 * embedded server, and what a turn costs them.
 *
 * A turn is a model call and a tool call. The model is a process of its own that streams over
 * HTTP: the first token after 300 ms, 60 pieces in 1.5 s, then a tool call. The tool waits for 50
 * ms. 10, 50, 100, 200 and 300 agents in mode `chat` make turns without a pause, and each is read
 * by a client. `turns_per_s` is the rate with 300, counted where the requests arrive.
 * `turns_vs_bare` compares it with a bare workflow that keeps its messages, calls the same
 * provider by `streamText`, and beats as our activities do; nobody reads it. `overhead_ms_50` is
 * the median time from the provider's last byte to the next request of that run, less the tool,
 * with 50 agents. Processor times are those of whole processes, per turn, with 300;
 * `cpu_ms_provider` is that of the provider. `repeated_calls` counts the requests that the
 * provider had answered before, of all agents.
 *
 * `--starved` runs a busy loop on each core beside it. `--unread` gives agents `stream: 'auto'` and
 * no reader; 400 of them then take the place of 300. `--against DIR` plays another checkout, too,
 * which has its `node_modules`, with 300 agents and a reader for each; `against_ratio` is ours over
 * its. Its goal is for the last commit before decision 243. `against_unread_ratio` compares agents
 * that nobody reads on both sides. `--only N` plays one number of agents; the rate and the ratios
 * need 300, or 400 unread. 200 agents make at most 100 turns a second: the model takes 1.8 s for
 * each. Goals of times and rates are for idle cores, so they are left out of `--starved`.
 *
 * Not measured: several workers, long conversations, a server elsewhere. Needs Linux for
 * `cpu_ms_server`.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startAsked, starveCores, type Asked } from './fleet/processes.ts';
import {
  loadWith,
  openAgents,
  openBare,
  type FleetSetup,
  type Load,
  type LoadTimes,
  type Side,
} from './fleet/sides.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';

const SIZES = [10, 50, 100, 200] as const;

/** The number of agents with which nothing is left of the processor, read and unread. */
const SATURATING = 300;
const SATURATING_UNREAD = 400;

const OWN_ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The benchmark `fleet`. */
export const fleetBench: Bench = {
  name: 'fleet',
  about: 'turns a second of agents whose provider streams, and what a turn costs',
  run: async (words = []) => {
    const provider = await startAsked('provider.ts');
    const stopStarving = words.includes('--starved') ? starveCores() : null;
    try {
      return await measure(provider, words);
    } finally {
      await stopStarving?.();
      await provider.stop();
    }
  },
};

async function measure(provider: Asked, words: readonly string[]): Promise<readonly Figure[]> {
  const setup = { provider, root: OWN_ROOT, isUnread: words.includes('--unread') };
  const enough = setup.isUnread ? SATURATING_UNREAD : SATURATING;
  const only = Number(optionOf(words, '--only') ?? Number.NaN);
  const most = only > enough ? only : enough;
  const sizes = Number.isNaN(only) ? [...SIZES, most] : [only];
  const loads = await loadsOf(openAgents, setup, sizes);
  const full = loads.get(most);
  const isStarved = words.includes('--starved');
  const shown = (figures: readonly Figure[]): readonly Figure[] =>
    isStarved ? figures.map(withoutIdleGoal) : figures;
  if (full === undefined) return shown(figuresOf(loads));
  const bare = only === most ? undefined : await loadOf(openBare, setup, most);
  const against = optionOf(words, '--against');
  const others = against === undefined ? [] : await againstFigures(full, setup, resolve(against));
  return shown([...saturatedFigures(full, bare), ...figuresOf(loads), ...others]);
}

/** Busy cores change every figure but the count of calls that were made twice. */
function withoutIdleGoal(one: Figure): Figure {
  return one.name === 'repeated_calls' ? one : { ...one, goal: '' };
}

/** The word after `option`. */
function optionOf(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  return at === -1 ? undefined : words[at + 1];
}

async function loadsOf(
  open: (setup: FleetSetup) => Promise<Side>,
  setup: FleetSetup,
  sizes: readonly number[],
): Promise<ReadonlyMap<number, Load>> {
  const loads = new Map<number, Load>();
  const side = await open(setup);
  try {
    for (const size of sizes) {
      loads.set(size, await loadWith(side, setup.provider, size, timesOf(size)));
    }
  } finally {
    await side.close();
  }
  return loads;
}

async function loadOf(
  open: (setup: FleetSetup) => Promise<Side>,
  setup: FleetSetup,
  size: number,
): Promise<Load> {
  const load = (await loadsOf(open, setup, [size])).get(size);
  if (load === undefined) throw new Error(`Expected a load of ${size} agents, got none.`);
  return load;
}

/** Many agents need longer to start, and to fall out of step. */
function timesOf(size: number): LoadTimes {
  return { settleMs: 4_000 + size * 40, measureMs: 10_000 + size * 20 };
}

function figuresOf(loads: ReadonlyMap<number, Load>): readonly Figure[] {
  const all = [...loads.values()];
  const overhead = (size: number, goal: string): readonly Figure[] => {
    const load = loads.get(size);
    return load === undefined
      ? []
      : [figure(`overhead_ms_${size}`, median(load.overheadsMs), 'ms', goal)];
  };
  const sum = (of: (load: Load) => number): number =>
    all.reduce((total, load) => total + of(load), 0);
  return [
    ...overhead(10, ''),
    ...overhead(50, '<= 100'),
    ...overhead(100, '<= 200'),
    figure(
      'repeated_calls',
      sum(({ repeated }) => repeated),
      `of ${sum(({ requests }) => requests)}`,
      '<= 0',
    ),
  ];
}

function saturatedFigures(load: Load, bare: Load | undefined): readonly Figure[] {
  const beside = (of: (load: Load) => number): number | null =>
    bare === undefined ? null : of(bare);
  const cost = (name: string, of: (load: Load) => number): Figure =>
    figure(name, of(load), 'ms', '', beside(of));
  return [
    figure(
      'turns_per_s',
      load.turnsPerS,
      '1/s',
      '',
      beside(({ turnsPerS }) => turnsPerS),
    ),
    ...(bare === undefined
      ? []
      : [figure('turns_vs_bare', load.turnsPerS / bare.turnsPerS, 'x', '>= 1.5', 1)]),
    cost('cpu_ms_worker', ({ cpuMsWorker }) => cpuMsWorker),
    cost('cpu_ms_server', ({ cpuMsServer }) => cpuMsServer),
    cost('cpu_ms_provider', ({ cpuMsProvider }) => cpuMsProvider),
    figure(
      'rss_mb_worker',
      load.rssMb,
      'MB',
      '',
      beside(({ rssMb }) => rssMb),
    ),
  ];
}

async function againstFigures(
  own: Load,
  { isUnread, provider }: FleetSetup,
  root: string,
): Promise<readonly Figure[]> {
  const read = await loadOf(openAgents, { provider, root, isUnread: false }, SATURATING);
  const goal = isUnread ? '>= 2.3' : '>= 1.6';
  const figures = [
    figure('against_ratio', own.turnsPerS / read.turnsPerS, 'x', goal, 1),
    figure('cpu_ms_worker_against', own.cpuMsWorker, 'ms', '', read.cpuMsWorker),
    figure('cpu_ms_server_against', own.cpuMsServer, 'ms', '', read.cpuMsServer),
    figure('repeated_calls_against', own.repeated, `of ${own.requests}`, '', read.repeated),
  ];
  if (!isUnread) return figures;
  const unread = await loadOf(openAgents, { provider, root, isUnread }, SATURATING_UNREAD);
  const ratio = own.turnsPerS / unread.turnsPerS;
  return [...figures, figure('against_unread_ratio', ratio, 'x', '', 1)];
}
