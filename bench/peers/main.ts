/**
 * `npm run bench -- PART [SIDE …]`: plays one part with all sides, or with those whose names begin so.
 *
 * Parts: `speed`, in which the sides alternate, `long` and `kills`; without a part, all of them. The last line
 * is the figures as JSON. A side that cannot be had is a row that says why.
 */
import { measureKills, measureLong, measureSpeed, type Figures } from './measures.ts';
import { Unavailable } from './services/service.ts';
import { SIDES } from './sides.ts';
import { openStage, type Stage } from './stage.ts';

const PARTS = ['speed', 'long', 'kills'] as const;
type Part = (typeof PARTS)[number];

/** Figures of a side, or why it has none. */
type Row = { readonly side: string; readonly part: Part } & (
  { readonly figures: Figures } | { readonly skipped: string }
);

const words = process.argv.slice(2);
const parts = PARTS.filter((part) => words[0] === undefined || words[0] === part);
if (parts.length === 0) {
  process.stderr.write(`Expected one of the parts ${PARTS.join(', ')}, got ${words[0]}.\n`);
  process.exit(2);
}
const chosen = SIDES.filter(
  ({ name }) => words.length < 2 || words.slice(1).some((word) => name.startsWith(word)),
);
const rows: Row[] = [];
for (const part of parts) {
  const stage = openStage();
  try {
    rows.push(...(part === 'speed' ? await speedRows(stage) : await rowsOf(stage, part)));
  } finally {
    await stage.close();
  }
}
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

async function speedRows(stage: Stage): Promise<readonly Row[]> {
  const part = 'speed';
  const starts = await Promise.allSettled(chosen.map((info) => stage.start(info)));
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const skipped = starts.flatMap((start, place) =>
    start.status === 'rejected'
      ? [said({ side: chosen[place]?.name ?? '', part, skipped: reasonOf(start.reason) })]
      : [],
  );
  const figures = await measureSpeed(started);
  const measured = started.map(({ info }, place) =>
    said({ side: info.name, part, figures: figures[place] ?? {} }),
  );
  return [...measured, ...skipped];
}

async function rowsOf(stage: Stage, part: 'long' | 'kills'): Promise<readonly Row[]> {
  const measured: Row[] = [];
  for (const info of chosen) {
    const side = info.name;
    try {
      const player = await stage.start(info);
      const figures = await (part === 'long' ? measureLong(player) : measureKills(player));
      player.end();
      measured.push(said({ side, part, figures }));
    } catch (error) {
      measured.push(said({ side, part, skipped: reasonOf(error) }));
    }
  }
  return measured;
}

/** Why a side is left out; what is no such reason is shown whole. */
function reasonOf(error: unknown): string {
  if (error instanceof Unavailable) return error.message;
  return error instanceof Error ? error.message.slice(0, 600) : String(error);
}

function said(row: Row): Row {
  const text = 'figures' in row ? figuresText(row.figures) : `left out: ${row.skipped}`;
  process.stdout.write(`${row.part.padEnd(6)} ${row.side.padEnd(20)} ${text}\n`);
  return row;
}

function figuresText(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`)
    .join('  ');
}
