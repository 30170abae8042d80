/** `docs/kill-matrix.md`, from what was seen. */
import { format } from 'prettier';
import { MATRIX_ROWS } from './matrix.ts';
import { OTHER_ENGINES } from './other-engines.ts';
import type { RandomOutcome } from './random.ts';
import type { MatrixResults, RowResult } from './results.ts';

/** The path of the page in the repository. */
export const PAGE_FILE = 'docs/kill-matrix.md';

const WAYS: Readonly<Record<string, string>> = {
  worker: 'A worker is killed',
  server: 'The server is killed',
  'full disk': 'A worker is killed, and its disk is full',
  'jumping clock': 'A worker is killed, and its clock jumps',
};

function wayOf({
  victim,
  trouble,
}: {
  readonly victim: string;
  readonly trouble?: string | undefined;
}): string {
  return trouble ?? victim;
}

/** The page. */
export async function matrixPage({ rows, random = [] }: MatrixResults): Promise<string> {
  const kills = [...rows, ...random].reduce((sum, row) => sum + row.kills, 0);
  const lost = [...rows, ...random].flatMap((row) => row.lost);
  const tables = Object.entries(WAYS).flatMap(([way, title]) => {
    const own = rows.filter((row) => wayOf(row) === way);
    return own.length === 0 ? [] : [`## ${title}`, '', ...tableOf(own), ''];
  });
  const text = [
    `# ${shown(kills)} kills, ${lost.length} ${lost.length === 1 ? 'run' : 'runs'} lost`,
    '',
    INTRODUCTION,
    '',
    ...missingLines(rows),
    ...tables,
    ...randomLines(random),
    HOW_TO_READ,
    '',
    OTHER_ENGINES,
  ].join('\n');
  return format(text, { parser: 'markdown', printWidth: 100, proseWrap: 'always' });
}

/** The rows that nobody has played, so that no gap passes for a proof. */
function missingLines(rows: readonly RowResult[]): readonly string[] {
  const missing = MATRIX_ROWS.filter(
    ({ scenario, victim, trouble }) =>
      !rows.some(
        (row) => row.scenario === scenario.name && wayOf(row) === wayOf({ victim, trouble }),
      ),
  ).map((row) => `${row.scenario.name} (${wayOf(row)})`);
  return missing.length === 0 ? [] : [`Not played yet: ${missing.join(', ')}.`, ''];
}

function tableOf(rows: readonly RowResult[]): readonly string[] {
  const head = [
    'Scenario',
    'Kills',
    'Moments',
    'Runs lost',
    'Run again: read, idempotent, once',
    'Effects twice: idempotent, once',
    'Sums',
    'p50',
    'p99',
    'Load',
  ];
  const cells = rows.map((row) => [
    row.scenario,
    shown(row.kills),
    shown(row.moments),
    String(row.lost.length),
    `${row.again.read}, ${row.again.idempotent}, ${row.again.once}`,
    `${row.twice.idempotent}, ${row.twice.once}`,
    row.unequal.length === 0 ? 'equal' : `${row.unequal.length} differ`,
    secondsOf(row.progressMs, 0.5),
    secondsOf(row.progressMs, 0.99),
    row.load?.toFixed(1) ?? '',
  ]);
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`);
}

const PLAYED: Readonly<Record<string, string>> = {
  long: 'runs of 200 turns',
  talks:
    'conversations of ten turns each, with pictures, approvals, a denial, a word in between, a repeated message and two edits',
};

function randomLines(outcomes: NonNullable<MatrixResults['random']>): readonly string[] {
  if (outcomes.length === 0) return [];
  return ['## Random kills', '', ...outcomes.flatMap((outcome) => [sentenceOf(outcome), ''])];
}

function sentenceOf(outcome: RandomOutcome): string {
  const { scenario, runs, kills, crashedMs, polls, lost, twice, unequal } = outcome;
  const sums = unequal.length === 0 ? 'All statistics are equal.' : `${unequal.length} differ.`;
  return `${runs} ${PLAYED[scenario] ?? scenario}, on three workers that crash in a loop: ${shown(kills)} kills within ${Math.round(crashedMs / 1_000)} s, at moments that nobody chose, while each was asked for its status every 50 ms, ${shown(polls)} times in all. Each execution was replayed in the end. Runs lost: ${lost.length}. Writes twice: ${twice.idempotent + twice.once}. ${sums}`;
}

function secondsOf(times: readonly number[], part: number): string {
  const found = times[Math.min(times.length - 1, Math.floor(part * times.length))];
  return found === undefined ? '' : `${(found / 1_000).toFixed(1)} s`;
}

function shown(count: number): string {
  return count.toLocaleString('en-US');
}

const INTRODUCTION = `This page is generated: \`npm run matrix\` kills a worker, and apart from that the
server, at every event of nine scenarios, with the signal that no process can catch, and writes here what it
saw. Nothing is chosen: a row has every kill that was made for it, and every run.`;

const HOW_TO_READ = `## How to read the tables

- **Kills**: how often a process was ended with SIGKILL, and started again at once. A run is killed up to
  twelve times on its way.
- **Moments**: the events of the scenario, times the points at which it was killed. There are three points:
  before the effect, after it, and in the write of its result. For an event that tells the end of a model
  call, a tool call or a judgement, the effect is the code of the model or tool. For any other event it is
  that the service records the event. A worker is killed at all three points; the server is killed at one of
  them in each scenario.
- **Runs lost**: runs that did not end with success, or that did nothing for three minutes.
- **Run again**: how often the code of a tool began again for a call that it had begun before. A tool of the
  class \`read\` or \`idempotent\` may; a \`once\` tool never does.
- **Effects twice**: what a receiver got twice. A receiver of idempotent writes drops an idempotency key that
  it has seen, so this counts writes that came under a second key.
- **Sums**: all counters of each run, and of all runs below it, compared with those of a run that nothing
  happened to. Not compared are attempts, estimates and fuel. A \`once\` call that was cut off counts as an
  error of the kind \`unknown\`, which is what happened.
- **p50** and **p99**: the time from the kill to the next thing that the run did. It includes the start of a
  process, and what the service needs to notice: a heartbeat of 3 s for activities, and 10 s for a workflow
  task that was taken and not completed. Many runs shared two
  processor cores, so an operator sees less.
- **Load**: how many processes wanted a core, for each core, in the five minutes before the row was complete;
  above 1, they wait for each other, and so the times grow with it. Empty: it was more than 10, and not
  recorded.

A full disk: everything that the worker writes for its archive meets \`ENOSPC\`, from the device
\`/dev/full\`. A clock that jumps: the \`Date\` of the worker's process is up to two days off, by another
amount every 40 ms. All of it ran on one machine with the embedded server, on Linux.
`;
