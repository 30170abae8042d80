/**
 * The registry of builtins: joins documentation and work by name. Name resolution, arity checks,
 * `doc`, suggestions and the generated documentation all use it.
 */
import { nearNames } from '../base/suggest.ts';
import type { Value, Builtin, CostClass, Example, BuiltinWork } from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';
import { COLLECTION_WORK } from './collections/collections.ts';
import { DATE_WORK } from './scalars/dates.ts';
import { DESCRIBE_WORK } from './output/describe.ts';
import { CHANGING_DOCS } from './docs/changing.ts';
import { COLLECTION_DOCS } from './docs/collections.ts';
import type { DocRow } from './docs/doc-row.ts';
import { FUNCTION_DOCS } from './docs/functions.ts';
import { JAVA_DOCS } from './docs/java.ts';
import { NUMBER_DOCS } from './docs/numbers.ts';
import { PREDICATE_DOCS } from './docs/predicates.ts';
import { SEQUENCE_DOCS } from './docs/sequences.ts';
import { SET_DOCS } from './docs/sets.ts';
import { EFFECT_DOCS } from './docs/special.ts';
import { TEXT_DOCS } from './docs/text.ts';
import { arg, expectText } from './arguments/expect.ts';
import { FORMAT_WORK } from './scalars/format.ts';
import { FUNCTION_WORK } from './functions/functions.ts';
import { JAVA_WORK } from './scalars/java.ts';
import { MAKING_WORK } from './collections/making.ts';
import { note, NOTE_WORK } from './output/notes.ts';
import { NUMBER_WORK } from './scalars/numbers.ts';
import { patternWork } from './scalars/patterns.ts';
import { PREDICATE_WORK } from './scalars/predicates.ts';
import { REDUCING_WORK } from './collections/reducing.ts';
import { SEQUENCE_WORK } from './collections/sequences.ts';
import { SET_WORK } from './collections/sets.ts';
import { sortingWork } from './collections/sorting.ts';
import { plain } from './arguments/stepping.ts';
import { TEXT_WORK } from './scalars/text.ts';
import { TREE_WORK } from './collections/trees.ts';
import { UPDATING_WORK } from './collections/updating.ts';
import { WALKING_WORK, walkingWork } from './collections/walking.ts';

/** Every row of the documentation, in the order of the language reference. */
export const DOC_ROWS: readonly DocRow[] = Object.freeze([
  ...NUMBER_DOCS,
  ...PREDICATE_DOCS,
  ...COLLECTION_DOCS,
  ...CHANGING_DOCS,
  ...SEQUENCE_DOCS,
  ...FUNCTION_DOCS,
  ...TEXT_DOCS,
  ...SET_DOCS,
  ...JAVA_DOCS,
  ...EFFECT_DOCS,
]);

/**
 * Builtins that only special forms use, since programs cannot name them: name, number of arguments
 * (−1: any), work.
 */
const HIDDEN: readonly (readonly [string, number, BuiltinWork | undefined])[] = Object.freeze([
  ['no-clause~', 1, PREDICATE_WORK['no-clause~']],
  ['take-range~', 4, MAKING_WORK['take-range~']],
  ['by-path~', 2, COLLECTION_WORK['by-path~']],
  ['replace-elements~', 2, SEQUENCE_WORK['replace-elements~']],
  ['not-restored~', -1, FUNCTION_WORK['not-restored~']],
] as const);

function hidden(name: string, count: number, work: BuiltinWork): Builtin {
  return Object.freeze<Builtin>({
    kind: 'builtin',
    name,
    min: Math.max(0, count),
    max: count < 0 ? Infinity : count,
    doc: '',
    examples: [],
    cost: 'constant',
    work,
  });
}

function build(): Map<string, Builtin> {
  const made = new Map<string, Builtin>();
  for (const [name, count, work] of HIDDEN) {
    if (work !== undefined) made.set(name, hidden(name, count, work));
  }
  const byPath = made.get('by-path~');
  const elements = made.get('replace-elements~');
  if (byPath === undefined || elements === undefined) return made;
  const works: { readonly [name: string]: BuiltinWork } = Object.assign(
    Object.create(null),
    NUMBER_WORK,
    PREDICATE_WORK,
    COLLECTION_WORK,
    SEQUENCE_WORK,
    WALKING_WORK,
    REDUCING_WORK,
    UPDATING_WORK,
    MAKING_WORK,
    walkingWork(byPath),
    sortingWork(byPath),
    TREE_WORK,
    FUNCTION_WORK,
    TEXT_WORK,
    patternWork(elements),
    FORMAT_WORK,
    SET_WORK,
    NOTE_WORK,
    JAVA_WORK,
    DATE_WORK,
    DESCRIBE_WORK,
    docWork(made),
  );
  for (const row of DOC_ROWS) {
    const names = row.names.split(' ');
    const arities = aritiesOf(row.args, names.length);
    for (const [index, name] of names.entries()) {
      const arity = arities[index];
      const work = works[name];
      if (arity === undefined || work === undefined || made.has(name)) continue;
      made.set(name, entry(name, arity, row, work));
    }
  }
  return made;
}

function entry(
  name: string,
  arity: { min: number; max: number },
  row: DocRow,
  work: BuiltinWork,
): Builtin {
  const own = row.examples.filter(([source]) => mentions(source, name));
  const examples = own.map(([source, value]): Example => ({ source, value }));
  const { min, max } = arity;
  return Object.freeze<Builtin>({
    kind: 'builtin',
    name,
    min,
    max,
    doc: row.meaning,
    examples,
    cost: costOf(row, name, work),
    work,
  });
}

/** Whether `source` uses `name` as a word. */
function mentions(source: string, name: string): boolean {
  return source.split(/[\s()[\]{}#]+/).includes(name);
}

function costOf(row: DocRow, name: string, work: BuiltinWork): CostClass {
  if (work.kind === 'effect') return 'effect';
  if (name.startsWith('sort')) return 'sorting';
  if (work.kind !== 'plain') return 'callback';
  if (row.theme === 'Text' || row.theme === 'JSON' || row.theme === 'Notes') return 'text';
  const constant = [
    'Arithmetic',
    'Comparing and logic',
    'Predicates',
    'Java-shaped members',
    'Effects',
  ];
  if (constant.includes(row.theme)) return 'constant';
  const single = 'get nth first second last rest next peek pop find key val count empty? reduced';
  return single.split(' ').includes(name) ? 'constant' : 'linear';
}

/** The arities of a row: one for all its names, or one for each. */
function aritiesOf(args: string, names: number): readonly { min: number; max: number }[] {
  const parts = args.split(',').map((part) => part.trim());
  if (parts.length === names && names > 1) return parts.map(arityOf);
  const all = parts.map(arityOf);
  const min = Math.min(...all.map((one) => one.min));
  const max = Math.max(...all.map((one) => one.max));
  return Array.from({ length: names }, () => ({ min, max }));
}

function arityOf(text: string): { min: number; max: number } {
  const [from = '0', to] = text.replace('+', '').split('–');
  const min = Number(from);
  if (text.endsWith('+')) return { min, max: Infinity };
  return { min, max: to === undefined ? min : Number(to) };
}

/** Comparing a name with those of all builtins. */
const SUGGEST_COST = 500;

/** `doc` and `apropos`, which read the registry. */
function docWork(registry: ReadonlyMap<string, Builtin>): { readonly [name: string]: BuiltinWork } {
  const named = (value: Value): string => {
    if (typeof value === 'string') return value;
    const has = typeof value === 'object' && value !== null && 'name' in value;
    return has && typeof value.name === 'string' ? value.name : '';
  };
  return {
    doc: plain((ctx, args) => {
      const name = named(arg(args, 0));
      const found = registry.get(name);
      if (found === undefined || name.endsWith('~')) {
        ctx.charge(SUGGEST_COST);
        const near = nearNames(name, registry.keys()).join(', ');
        note(ctx, `There is no documentation of ${name}.${near === '' ? '' : ` Near: ${near}.`}`);
        return null;
      }
      const { min, max, doc, examples } = found;
      const arity = max === Infinity ? `${min}+` : min === max ? String(min) : `${min}–${max}`;
      const lines = examples.map(({ source, value }) => `${source} → ${value}`);
      note(ctx, [`${name} (${arity}): ${doc}`, ...lines].join('\n'));
      return null;
    }),
    apropos: plain((ctx, args) => {
      const part = expectText(ctx, args, 0);
      ctx.charge(registry.size);
      const found = [...registry.keys()].filter(
        (name) => name.includes(part) && !name.endsWith('~'),
      );
      return vectorOf(found.toSorted());
    }),
  };
}

const REGISTRY: ReadonlyMap<string, Builtin> = build();

/** The builtin with a full name, or undefined. Includes hidden ones. */
export function findBuiltin(name: string): Builtin | undefined {
  return REGISTRY.get(name);
}

/** The builtin with a name without a namespace, or undefined. Includes hidden ones. */
export function findBare(name: string): Builtin | undefined {
  return name.includes('/') && name !== '/' ? undefined : REGISTRY.get(name);
}

/** Every name without a namespace that programs can write. */
export function bareNames(): readonly string[] {
  return [...REGISTRY.keys()].filter(
    (name) => (!name.includes('/') || name === '/') && !name.endsWith('~'),
  );
}

const TEXT_ONLY_BARE: ReadonlySet<string> = new Set([
  'str',
  'pr-str',
  'format',
  'name',
  'keyword',
  'regex?',
]);

const TEXT_MEMBERS: readonly string[] = Object.freeze(
  TEXT_DOCS.filter((row) => row.theme === 'Text')
    .flatMap((row) => row.names.split(' '))
    .filter((name) => !TEXT_ONLY_BARE.has(name) && !/^(re-|extract|str\/|parse-)/.test(name))
    .concat(['parse-long', 'parse-int', 'parse-double', 'parse-boolean']),
);

const WALK_MEMBERS: readonly string[] = Object.freeze(
  'walk prewalk postwalk prewalk-replace postwalk-replace keywordize-keys stringify-keys'.split(
    ' ',
  ),
);

const REGEX_MEMBERS: readonly string[] = Object.freeze(
  're-pattern re-find re-matches re-seq re-split'.split(' '),
);

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['clojure.core', 'core'],
  ['clojure.string', 'str'],
  ['string', 'str'],
  ['clojure.set', 'set'],
  ['clojure.walk', 'walk'],
  ['java.time.LocalDate', 'LocalDate'],
  ['java.time.Instant', 'Instant'],
  ['java.time.Duration', 'Duration'],
]);

/** The namespaces as messages name them. */
export const NAMESPACES: readonly string[] = Object.freeze(
  'core str set walk regex json Math Integer Long Double Float Boolean System LocalDate Instant Duration data tool budget'.split(
    ' ',
  ),
);

/** Whether `name` is a namespace or an alias of one. */
export function isNamespace(name: string): boolean {
  return NAMESPACES.includes(name) || ALIASES.has(name);
}

/** The members of a namespace. */
export function memberNames(namespace: string): readonly string[] {
  const home = ALIASES.get(namespace) ?? namespace;
  const prefixed = [...REGISTRY.keys()]
    .filter((name) => name.startsWith(`${home}/`))
    .map((name) => name.slice(home.length + 1));
  switch (home) {
    case 'core':
      return bareNames().filter((name) => !name.startsWith('.') && !name.endsWith('.'));
    case 'str':
      return [...TEXT_MEMBERS, ...prefixed];
    case 'walk':
      return WALK_MEMBERS;
    case 'regex':
      return REGEX_MEMBERS;
    default:
      return prefixed;
  }
}

const MEMBERS = new Map<string, ReadonlySet<string>>();

/** The members of a namespace, gathered once. */
function membersOf(namespace: string): ReadonlySet<string> {
  let members = MEMBERS.get(namespace);
  if (members === undefined) MEMBERS.set(namespace, (members = new Set(memberNames(namespace))));
  return members;
}

/** The builtin `namespace/member`, or undefined. */
export function findMember(namespace: string, member: string): Builtin | undefined {
  if (!isNamespace(namespace) || !membersOf(namespace).has(member)) return undefined;
  const home = ALIASES.get(namespace) ?? namespace;
  return REGISTRY.get(`${home}/${member}`) ?? REGISTRY.get(member);
}
