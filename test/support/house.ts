/**
 * The house: which folder stands on which floor, and the figures that show whether it stays one that
 * a reader can walk through. Like the checks of `architecture.ts`, each takes parsed files.
 */
import { posix } from 'node:path';
import { findNodes, lineAt, walk, type SourceFile, type SyntaxNode } from './source-file.ts';

/**
 * The floors of a ring, from the ground up. A folder imports from folders of lower floors only, types
 * included, and so not from one beside it.
 */
const FLOORS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'src/core': [
    ['base'],
    ['text'],
    ['contract'],
    ['conversation', 'extension', 'streaming', 'rate'],
    ['model', 'stats', 'format', 'section', 'template'],
    ['limits', 'tree', 'signature', 'toolchain'],
    ['attempt', 'termination', 'compaction', 'program-text', 'tool-search', 'tenant'],
    ['modes'],
    ['run'],
    ['ask', 'fork', 'people'],
    ['children'],
    ['calls', 'evaluation', 'start'],
    ['programs'],
    ['loop'],
  ],
  'src/lisp': [
    ['base'],
    ['regex'],
    ['value'],
    ['json', 'reader', 'ast'],
    ['builtins'],
    ['code'],
    ['analyzer'],
    ['machine'],
  ],
};

/** Names of modes, which only `src/core/modes` may compare with. */
const MODES = new Set(['react', 'chat', 'json', 'text', 'lisp', 'ptc_lisp']);

const EQUALITY = new Set(['===', '!==', '==', '!=']);

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** A figure of the house: how it is now, how it may be at most, and the places that make it up. */
export interface HouseFigure {
  readonly name: string;
  readonly value: number;
  readonly atMost: number;
  /** The worst places first, as `path:line what`. */
  readonly places: readonly string[];
}

/** Every folder of a ring with floors stands on one, and imports from lower floors only. */
export function checkFloors(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const ring = ringWithFloors(file.path);
    if (ring === undefined) return [];
    const floor = floorOf(ring, file.path);
    if (floor === undefined) {
      return [`${file.path}: expected a folder that is on a floor of ${ring}`];
    }
    return file.imports.flatMap((item) => {
      if (item.file === undefined || ringWithFloors(item.file) !== ring) return [];
      if (roomOf(ring, item.file) === roomOf(ring, file.path)) return [];
      const below = floorOf(ring, item.file);
      if (below !== undefined && below < floor) return [];
      return [`${file.path}: must not import ${item.specifier}, which is not on a lower floor`];
    });
  });
}

function ringWithFloors(path: string): string | undefined {
  return Object.keys(FLOORS).find((ring) => path.startsWith(`${ring}/`));
}

/** The folder right below the ring that holds a file. */
function roomOf(ring: string, path: string): string {
  return path.slice(ring.length + 1).split('/')[0] ?? '';
}

function floorOf(ring: string, path: string): number | undefined {
  const floor = FLOORS[ring]?.findIndex((rooms) => rooms.includes(roomOf(ring, path))) ?? -1;
  return floor === -1 ? undefined : floor;
}

/**
 * No folder reaches itself over imports, types included. An entry file of `src` is a folder of its
 * own.
 */
export function checkFolderCycles(files: readonly SourceFile[]): readonly string[] {
  const folderOf = (path: string): string => {
    const folder = posix.dirname(path);
    return folder === 'src' ? path : folder;
  };
  const edges = new Map<string, Set<string>>();
  for (const file of files) {
    const from = folderOf(file.path);
    const targets = edges.get(from) ?? new Set();
    edges.set(from, targets);
    for (const item of file.imports) {
      if (item.file !== undefined && folderOf(item.file) !== from) targets.add(folderOf(item.file));
    }
  }
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (folder: string, trail: readonly string[]): void => {
    if (state.get(folder) === 'done') return;
    if (state.get(folder) === 'open') {
      found.push(`folder cycle: ${[...trail.slice(trail.indexOf(folder)), folder].join(' → ')}`);
      return;
    }
    state.set(folder, 'open');
    for (const target of edges.get(folder) ?? []) visit(target, [...trail, folder]);
    state.set(folder, 'done');
  };
  for (const folder of edges.keys()) visit(folder, []);
  return found;
}

/** The figures of the house, each with its bound. */
export function houseFigures(files: readonly SourceFile[]): readonly HouseFigure[] {
  const functions = files.flatMap(functionsOf);
  const long = functions.filter(({ lines }) => lines > 60).toSorted((a, b) => b.lines - a.lines);
  const wide = functions
    .filter(({ parameters }) => parameters > 4)
    .toSorted((a, b) => b.parameters - a.parameters);
  const spreads = files.flatMap(conditionalSpreads);
  const comparisons = files.flatMap(modeComparisons);
  const members = membersOf(files, 'Host');
  const folders = folderSizes(files);
  const lengths = files
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .toSorted((a, b) => a.lines - b.lines);
  const p90 = lengths[Math.ceil(lengths.length * 0.9) - 1];
  return [
    {
      name: 'files of the largest folder',
      value: folders[0]?.files ?? 0,
      atMost: 26,
      places: folders.map((folder) => `${folder.path} ${folder.files}`),
    },
    {
      name: 'p90 of the lines of a file',
      value: p90?.lines ?? 0,
      atMost: 250,
      places: lengths.toReversed().map(({ path, lines }) => `${path} ${lines}`),
    },
    {
      name: 'functions over 60 lines',
      value: long.length,
      atMost: 11,
      places: long.map(({ place, lines }) => `${place} ${lines}`),
    },
    {
      name: 'functions with more than four parameters',
      value: wide.length,
      atMost: 20,
      places: wide.map(({ place, parameters }) => `${place} ${parameters}`),
    },
    { name: 'conditional spreads', value: spreads.length, atMost: 20, places: spreads },
    {
      name: 'comparisons of mode names in core outside modes/',
      value: comparisons.length,
      atMost: 0,
      places: comparisons,
    },
    { name: 'members of the port `Host`', value: members.length, atMost: 16, places: members },
  ];
}

/** The members of the interface `name`. */
function membersOf(files: readonly SourceFile[], name: string): readonly string[] {
  return files
    .flatMap(({ statements }) => findNodes(statements, 'TSInterfaceDeclaration'))
    .filter(({ id }) => (id as SyntaxNode)['name'] === name)
    .flatMap(({ body }) => (body as SyntaxNode)['body'] as readonly SyntaxNode[])
    .map(({ key }) => String((key as SyntaxNode)['name']));
}

interface MeasuredFunction {
  readonly place: string;
  readonly lines: number;
  readonly parameters: number;
}

function functionsOf(file: SourceFile): readonly MeasuredFunction[] {
  const found: MeasuredFunction[] = [];
  for (const statement of file.statements) {
    walk(statement, (node, parent) => {
      if (!FUNCTIONS.has(node.type)) return;
      const line = lineAt(file.text, node.start);
      found.push({
        place: `${file.path}:${line} ${functionName(node, parent)}`,
        lines: lineAt(file.text, node.end) - line + 1,
        parameters: (node['params'] as readonly unknown[]).length,
      });
    });
  }
  return found;
}

function functionName(node: SyntaxNode, parent: SyntaxNode | undefined): string {
  const named = (node['id'] ?? parent?.['id'] ?? parent?.['key']) as SyntaxNode | null | undefined;
  return typeof named?.['name'] === 'string' ? named['name'] : '(anonymous)';
}

/** Spreads of an object or of nothing, which `defined` says in one word. */
function conditionalSpreads(file: SourceFile): readonly string[] {
  return findNodes(file.statements, 'ObjectExpression')
    .flatMap((object) => object['properties'] as readonly SyntaxNode[])
    .filter((property) => property.type === 'SpreadElement' && isOptional(property['argument']))
    .map((property) => `${file.path}:${lineAt(file.text, property.start)}`);
}

function isOptional(argument: unknown): boolean {
  const node = argument as SyntaxNode;
  if (node.type === 'ParenthesizedExpression') return isOptional(node['expression']);
  if (node.type === 'LogicalExpression') return node['operator'] === '&&';
  if (node.type !== 'ConditionalExpression') return false;
  return [node['consequent'], node['alternate']].some((branch) => {
    const { type, properties } = branch as SyntaxNode;
    return type === 'ObjectExpression' && (properties as readonly unknown[]).length === 0;
  });
}

/** Comparisons of a mode with a name, `switch` and `includes` among them. */
function modeComparisons(file: SourceFile): readonly string[] {
  if (!file.path.startsWith('src/core/') || file.path.startsWith('src/core/modes/')) return [];
  const found: string[] = [];
  for (const statement of file.statements) {
    walk(statement, (node) => {
      if (comparesMode(node)) found.push(`${file.path}:${lineAt(file.text, node.start)}`);
    });
  }
  return found;
}

function comparesMode(node: SyntaxNode): boolean {
  if (node.type === 'BinaryExpression' && EQUALITY.has(String(node['operator']))) {
    const sides = [node['left'] as SyntaxNode, node['right'] as SyntaxNode];
    return sides.some(isMode) && sides.some(({ value }) => MODES.has(String(value)));
  }
  if (node.type === 'SwitchStatement') return isMode(node['discriminant'] as SyntaxNode);
  if (node.type !== 'CallExpression') return false;
  const callee = node['callee'] as SyntaxNode;
  const [first] = node['arguments'] as readonly SyntaxNode[];
  const method = (callee['property'] as SyntaxNode | undefined)?.['name'];
  return (method === 'includes' || method === 'has') && first !== undefined && isMode(first);
}

/** Whether an expression reads a variable or a field that is called `mode`. */
function isMode(node: SyntaxNode): boolean {
  if (node.type === 'MemberExpression') return isMode(node['property'] as SyntaxNode);
  if (node.type === 'ChainExpression') return isMode(node['expression'] as SyntaxNode);
  return node.type === 'Identifier' && /^(.*M|m)ode$/.test(String(node['name']));
}

function folderSizes(
  files: readonly SourceFile[],
): readonly { readonly path: string; readonly files: number }[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .map(([path, count]) => ({ path, files: count }))
    .toSorted((a, b) => b.files - a.files);
}
