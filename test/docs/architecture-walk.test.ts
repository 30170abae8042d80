/**
 * docs/architecture.md against the source: the tables of rings and floors, and the walk from
 * `client.start` to the provider's HTTP request. Each file of the walk is there, and control reaches
 * it as the page says, by an import or through a named seam.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AGENT_WORKFLOW } from '../../src/core/contract/messages.ts';
import { parseSourceFile, readSourceFiles, type SourceFile } from '../support/source-file.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const SOURCES = readSourceFiles(ROOT, ['src']);

/** One row of the walk. */
interface Stop {
  readonly number: number;
  /** The text of the link, and where it leads, both as paths in the repository. */
  readonly path: string;
  readonly target: string;
  /** Empty for the first row. */
  readonly reached: string;
}

const PAGE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const WALK = stopsOf(PAGE);

function stopsOf(page: string): readonly Stop[] {
  const [, table = ''] = /<!-- walk:start -->([^]*?)<!-- walk:end -->/.exec(page) ?? [];
  return [...table.matchAll(/^\| (\d+) +\| \[([^\]]+)\]\(\.\.\/([^)]+)\) +\| ([^|]*?) *\|/gm)].map(
    ([, number, path = '', target = '', reached = '']) => ({
      number: Number(number),
      path,
      target,
      reached,
    }),
  );
}

/** The files of the layers around a model call. */
const LAYERS = layersOf(PAGE);

function layersOf(page: string): readonly string[] {
  const [, table = ''] =
    new RegExp('<!-- layers:start -->([^]*?)<!-- layers:end -->').exec(page) ?? [];
  return [...table.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, path = '']) => path);
}

function parsed(path: string): SourceFile {
  return parseSourceFile(path, readFileSync(join(ROOT, path), 'utf8'));
}

function imports(from: SourceFile, to: string, kind: 'any' | 'value' = 'any'): boolean {
  return from.imports.some(
    ({ file, isTypeOnly }) => file === to && (kind === 'any' || !isTypeOnly),
  );
}

/** The code without comments: a name in prose connects nothing. */
function codeOf({ text, comments }: SourceFile): string {
  return comments.reduceRight(
    (code, { start, end }) => code.slice(0, start) + code.slice(end),
    text,
  );
}

/** The lists of names by which the service finds workflows and activities. */
const WORKFLOWS = parsed('src/workflows/index.ts');
const ACTIVITIES = parsed('src/activities/create-activities.ts');

/** Whether `name` is the name of a seam of this kind that leads from one file to the other. */
const SEAMS: Readonly<Record<string, (name: string, from: SourceFile, to: SourceFile) => boolean>> =
  {
    'workflow type': (name, from, to) =>
      name === AGENT_WORKFLOW &&
      imports(from, 'src/core/contract/messages.ts') &&
      codeOf(from).includes('AGENT_WORKFLOW') &&
      imports(WORKFLOWS, to.path) &&
      new RegExp(`export \\{ ${name} \\}`).test(codeOf(WORKFLOWS)),
    activity: (name, from, to) => {
      const [, maker = ''] =
        new RegExp(`^ +${name}: (\\w+)\\(`, 'm').exec(codeOf(ACTIVITIES)) ?? [];
      return (
        imports(from, 'src/activities/activity-types.ts') &&
        new RegExp(`\\b${name}\\(`).test(codeOf(from)) &&
        new RegExp(`proxy(Local)?Activities<EverloopActivities>`).test(codeOf(from)) &&
        imports(ACTIVITIES, to.path, 'value') &&
        new RegExp(`export function ${maker}\\(`).test(codeOf(to))
      );
    },
    port: (name, from, to) =>
      new RegExp(`\\.${name.toLowerCase()}\\.\\w+\\(`).test(codeOf(from)) &&
      imports(to, 'src/core/run/host.ts') &&
      new RegExp(`\\b(extends|:) ${name}\\b`).test(codeOf(to)),
  };

/** What is wrong with how a row is reached; null when it is as the page says. */
function problemOf(stop: Stop, walk: readonly Stop[]): string | null {
  const [, way = '', name = '', number = ''] =
    /^([a-z ]+?)(?: `(\w+)`)? from (\d+)$/.exec(stop.reached) ?? [];
  const before = walk.find((one) => one.number === Number(number));
  if (before === undefined || before.number >= stop.number) {
    return `${stop.path}: expected to be reached from an earlier row, got "${stop.reached}"`;
  }
  const [from, to] = [parsed(before.path), parsed(stop.path)];
  if (way === 'layer') {
    const isThere = LAYERS.some(
      (path) => imports(from, path, 'value') && imports(parsed(path), stop.path, 'value'),
    );
    return isThere ? null : `no layer leads from ${before.path} to ${stop.path}`;
  }
  if (way === 'import') {
    const isThere = imports(from, stop.path, 'value');
    return isThere ? null : `${before.path} does not import ${stop.path}`;
  }
  return SEAMS[way]?.(name, from, to) === true
    ? null
    : `no ${way} ${name} leads from ${before.path} to ${stop.path}`;
}

/** The rows of the table under `heading`: names in backticks, column by column. */
function rowsUnder(heading: string): readonly (readonly (readonly string[])[])[] {
  const [, section = ''] = PAGE.split(`${heading}\n`);
  const lines = section.split('\n').slice(section.split('\n').findIndex((one) => one[0] === '|'));
  const table = lines.slice(
    0,
    lines.findIndex((one) => one[0] !== '|'),
  );
  return table.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)),
  );
}

function foldersIn(path: string): readonly string[] {
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

/** Imports between the folders of `root`, as pairs of folder names. */
function importsBetween(root: string): readonly (readonly [from: string, to: string])[] {
  const folderOf = (path: string): string => path.slice(root.length + 1).split('/')[0] ?? '';
  const below = SOURCES.filter(({ path }) => path.startsWith(`${root}/`));
  return below.flatMap((file) =>
    file.imports.flatMap(({ file: target }) => {
      if (target === undefined || !target.startsWith(`${root}/`)) return [];
      const pair = [folderOf(file.path), folderOf(target)] as const;
      return pair[0] === pair[1] || pair.some((name) => name.endsWith('.ts')) ? [] : [pair];
    }),
  );
}

describe('docs/architecture.md', () => {
  it('names every ring with all that it imports', () => {
    const rings = new Map(
      rowsUnder('## Rings').map(([[name = ''] = [], , imported = []]) => [
        name.replace('src/', ''),
        imported,
      ]),
    );

    const unnamed = importsBetween('src').filter(([from, to]) => !rings.get(from)?.includes(to));

    expect([...rings.keys()].toSorted()).toEqual(foldersIn('src'));
    expect([...new Set(unnamed.map(([from, to]) => `${from} → ${to}`))]).toEqual([]);
  });

  it('names the floor of every folder of core, and every import runs down', () => {
    const floors = rowsUnder('### Floors of `core`').flatMap(([, folders = []], place) =>
      folders.map((folder) => [folder, place] as const),
    );
    const floorOf = new Map(floors);

    const upwards = importsBetween('src/core').filter(
      ([from, to]) => Number(floorOf.get(from)) <= Number(floorOf.get(to)),
    );

    expect(floors.map(([folder]) => folder).toSorted()).toEqual(foldersIn('src/core'));
    expect([...new Set(upwards.map(([from, to]) => `${from} → ${to}`))]).toEqual([]);
  });
});

describe('the walk in docs/architecture.md', () => {
  it('has numbered rows whose files are there', () => {
    expect(WALK.length).toBeGreaterThan(20);
    expect(WALK.map(({ number }) => number)).toEqual(WALK.map((_, place) => place + 1));
    expect(WALK.map(({ target }) => target)).toEqual(WALK.map(({ path }) => path));
    expect(WALK.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('is short, and the call of a model is a page that its layers stand around', () => {
    const call = parsed('src/activities/call-model.ts');

    expect(new Set(WALK.map(({ path }) => path)).size).toBeLessThanOrEqual(34);
    expect(call.text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
    expect(LAYERS.length).toBeGreaterThan(4);
    expect(LAYERS.filter((path) => !imports(call, path, 'value'))).toEqual([]);
  });

  it('reaches each file as it says', () => {
    const [first, ...others] = WALK;

    expect(first?.reached).toBe('');
    expect(others.map((stop) => problemOf(stop, WALK)).filter((one) => one !== null)).toEqual([]);
  });

  it('begins at the start of a workflow and ends at the call of the provider', () => {
    const [first, last] = [WALK[0], WALK.at(-1)].map((stop) => parsed(stop?.path ?? ''));

    expect(codeOf(first as SourceFile)).toContain('client.workflow.start(');
    expect(codeOf(last as SourceFile)).toContain('.doStream(');
  });

  it.each<{ readonly name: string; readonly row: Stop; readonly problem: string }>([
    {
      name: 'a file that the row before does not import',
      row: row(2, 'src/workflows/agent.ts', 'import from 1'),
      problem: 'src/client/everloop-client.ts does not import src/workflows/agent.ts',
    },
    {
      name: 'a file of which the row before imports types only',
      row: row(2, 'src/core/contract/step.ts', 'import from 1'),
      problem: 'src/client/everloop-client.ts does not import src/core/contract/step.ts',
    },
    {
      name: 'an activity that the file does not call',
      row: row(2, 'src/activities/call-model.ts', 'activity `callModel` from 1'),
      problem:
        'no activity callModel leads from src/client/everloop-client.ts to src/activities/call-model.ts',
    },
    {
      name: 'a workflow type of another name',
      row: row(2, 'src/workflows/index.ts', 'workflow type `other` from 1'),
      problem:
        'no workflow type other leads from src/client/everloop-client.ts to src/workflows/index.ts',
    },
    {
      name: 'a port that the file does not implement',
      row: row(2, 'src/workflows/index.ts', 'port `Host` from 1'),
      problem: 'no port Host leads from src/client/everloop-client.ts to src/workflows/index.ts',
    },
    {
      name: 'a row that is reached from itself',
      row: row(2, 'src/workflows/index.ts', 'import from 2'),
      problem:
        'src/workflows/index.ts: expected to be reached from an earlier row, got "import from 2"',
    },
  ])('would refuse $name', ({ row: stop, problem }) => {
    expect(problemOf(stop, [row(1, 'src/client/everloop-client.ts', ''), stop])).toBe(problem);
  });
});

function row(number: number, path: string, reached: string): Stop {
  return { number, path, target: path, reached };
}
