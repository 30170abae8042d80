/**
 * The violations of a schema as lines for a model. The checker passes a neutral list, so the
 * wording does not depend on the version of a validator.
 */
import { isJsonObject, memberOf, type Json, jsonType } from '../base/json.ts';
import { clip } from '../text/cut.ts';
import { nearestName } from '../text/nearest.ts';

/** One step into a value: the name of a property, or the index of an item. */
export type PathSegment = string | number;

/** A place in a JSON value; empty for the value itself. */
export type ValuePath = readonly PathSegment[];

/** One failed keyword of a JSON Schema, or one issue of a Standard Schema object. */
export interface Violation {
  /** Where the keyword failed: for `required` and `additionalProperties`, the object itself. */
  readonly path: ValuePath;
  /** The keyword of JSON Schema; `standard` for an issue of a Standard Schema object. */
  readonly keyword: string;
  /**
   * By keyword, named as in ajv: `required` { missingProperty } · `type` { type } · `enum` {
   * allowedValues } · `const` { allowedValue } · bounds { comparison, limit } · `multipleOf` {
   * multipleOf } · `minLength` and similar { limit } · `pattern` { pattern } · `format` { format }
   * · `additionalProperties` { additionalProperty, properties: known names } · `uniqueItems` { i, j
   * } · `anyOf` { shapes: number, labels, pointers: of each shape } · `oneOf` { the same, passing:
   * number } · `standard` { message } · `steps` {}: the check has ended early. Ignored for others.
   */
  readonly params: { readonly [name: string]: Json };
  /** The value at `path`. */
  readonly value: Json | undefined;
  /**
   * The place of the keyword in the schema, such as `#/properties/a/anyOf/0/type`. With it, errors
   * inside the shapes of an `anyOf` or `oneOf` are left out.
   */
  readonly schemaPath?: string;
}

/** Further lines are only counted. */
const maxLines = 20;

/** Values named in one line of `enum`. */
const maxValues = 20;

/** Characters of `{got}` and of other values in a line. */
const maxGot = 80;

type Params = Violation['params'];

/** The words for one keyword, after the path. */
type Wording = (params: Params, value: Json | undefined) => string;

const wordings: Readonly<Record<string, Wording>> = {
  required: () => 'missing',
  type: ({ type }, value) => `expected ${namesOf(type).join(' or ')}, got ${got(value)}`,
  enum: ({ allowedValues }, value) => `expected one of ${values(allowedValues)}, got ${got(value)}`,
  const: ({ allowedValue }, value) => `expected ${inline(allowedValue)}, got ${got(value)}`,
  minimum: numberBound,
  maximum: numberBound,
  exclusiveMinimum: numberBound,
  exclusiveMaximum: numberBound,
  multipleOf: ({ multipleOf }, value) =>
    `expected a multiple of ${inline(multipleOf)}, got ${got(value)}`,
  minLength: sizeBound('least', 'characters'),
  maxLength: sizeBound('most', 'characters'),
  minItems: sizeBound('least', 'items'),
  maxItems: sizeBound('most', 'items'),
  minProperties: sizeBound('least', 'properties'),
  maxProperties: sizeBound('most', 'properties'),
  pattern: ({ pattern }, value) => `expected text matching ${plain(pattern)}, got ${got(value)}`,
  format: ({ format }, value) => `expected a ${plain(format)}, got ${got(value)}`,
  additionalProperties: unknownProperty,
  uniqueItems: ({ i, j }) => {
    const places = [Number(i), Number(j)];
    return `items ${Math.min(...places)}, ${Math.max(...places)} are equal`;
  },
  anyOf: ({ shapes }) => `fits none of the ${plain(shapes)} allowed shapes`,
  oneOf: ({ shapes, passing }) =>
    typeof passing === 'number' && passing > 0
      ? `fits ${passing} shapes, expected exactly one`
      : `fits none of the ${plain(shapes)} allowed shapes`,
  standard: ({ message }) => plain(message),
  steps: () => 'takes too much work to check by its schema, make it shorter or less nested',
};

/** `{path}: {problem}` for each violation, ordered by path; at most 20, then `and {n} more`. */
export function problemLines(violations: readonly Violation[]): readonly string[] {
  return linesOf(violations, 0);
}

function linesOf(violations: readonly Violation[], nesting: number): readonly string[] {
  const lines = withoutInner(violations)
    .map((violation) => ({ path: linePath(violation), violation }))
    .toSorted((a, b) => comparePaths(a.path, b.path));
  // Words quote values, which may be long, so only those that are shown are written.
  const shown = lines.slice(0, maxLines).map(({ path, violation }) => {
    const nearest = nesting > MAX_UNIONS ? '' : nearestShape(violation, violations, nesting);
    return `${pathText(path)}: ${wordingOf(violation)}${nearest}`;
  });
  return lines.length <= maxLines ? shown : [...shown, `and ${lines.length - maxLines} more`];
}

/** One violation, in words that continue `{tool} expects {path}`. */
export interface Expectation {
  readonly path: ValuePath;
  /** `to be an integer, got a string "ten".` */
  readonly message: string;
}

/** The same violations as {@link Expectation}s, for callers that name the place themselves. */
export function expectations(violations: readonly Violation[]): readonly Expectation[] {
  return withoutInner(violations)
    .map((violation) => ({ path: linePath(violation), violation }))
    .toSorted((a, b) => comparePaths(a.path, b.path))
    .slice(0, maxLines)
    .map(({ path, violation }) => ({ path, message: expectationOf(violation) }));
}

function expectationOf(violation: Violation): string {
  const { keyword, params } = violation;
  switch (keyword) {
    case 'required':
      return 'to be there, but it is missing.';
    case 'type':
      return `to be ${namesOf(params['type']).map(withArticle).join(' or ')}, got ${withArticle(got(violation.value))}.`;
    case 'additionalProperties':
      return `not to be there: ${wordingOf(violation)}.`;
    case 'uniqueItems':
      return `to have no equal items: ${wordingOf(violation)}.`;
    case 'anyOf':
    case 'oneOf':
      return `to fit one of the ${plain(params['shapes'])} allowed shapes.`;
    default:
      break;
  }
  const [, expected, given] = /^expected (.+), got (.+)$/s.exec(wordingOf(violation)) ?? [];
  if (expected === undefined || given === undefined) return `to fit: it ${wordingOf(violation)}.`;
  return expected.startsWith('at ')
    ? `to have ${expected}, got ${given}.`
    : `to be ${expected}, got ${withArticle(given)}.`;
}

function namesOf(types: Json | undefined): readonly string[] {
  return Array.isArray(types) ? types.map(plain) : [plain(types)];
}

/** `an integer 5`, `a string "ten"`, `null` */
function withArticle(text: string): string {
  if (text.startsWith('null')) return text;
  return /^[aeio]/.test(text) ? `an ${text}` : `a ${text}`;
}

/** `a.b[0]`; names that are not words in quotes: `a["x y"]`; the value itself: `(value)`. */
export function pathText(path: ValuePath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(segment)) {
      text += `[${clip(JSON.stringify(segment), maxGot)}]`;
    } else text += text === '' ? segment : `.${segment}`;
  }
  return text === '' ? '(value)' : text;
}

/** The path that a JSON pointer (RFC 6901) names; `root` shows which segments are indexes. */
export function pathOfPointer(pointer: string, root: Json): ValuePath {
  const path: PathSegment[] = [];
  let value: Json | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      path.push(Number(key));
      value = (value as readonly Json[])[Number(key)];
    } else {
      path.push(key);
      value = memberOf(value, key);
    }
  }
  return path;
}

/** The place that a line names: the property itself if the keyword is about one. */
function linePath({ path, keyword, params }: Violation): ValuePath {
  const property =
    keyword === 'required'
      ? params['missingProperty']
      : keyword === 'additionalProperties'
        ? params['additionalProperty']
        : undefined;
  return typeof property === 'string' ? [...path, property] : path;
}

function wordingOf({ keyword, params, value }: Violation): string {
  const wording = Object.hasOwn(wordings, keyword) ? wordings[keyword] : undefined;
  return wording === undefined ? `does not fit (${keyword})` : wording(params, value);
}

/** What a value lacks to fit the shape of a union that it comes nearest to; may be empty. */
function nearestShape(union: Violation, violations: readonly Violation[], nesting: number): string {
  const { keyword, params } = union;
  if (!['anyOf', 'oneOf'].includes(keyword) || Number(params['passing'] ?? 0) > 0) return '';
  const shapes = new Map<number, Violation[]>();
  for (const inner of violations) {
    const index = inner === union ? undefined : shapeIndex(inner, union);
    if (index !== undefined) shapes.set(index, [...(shapes.get(index) ?? []), inner]);
  }
  const [first] = [...shapes].toSorted(([, a], [, b]) => farness(a, union) - farness(b, union));
  if (first === undefined) return '';
  const [index, inner] = first;
  const labels = Array.isArray(params['labels']) ? (params['labels'] as readonly Json[]) : [];
  const label = labels[index];
  if (farness(inner, union) >= OTHER) {
    const known = labels.filter((it): it is string => typeof it === 'string' && it !== '');
    return known.length < 2 ? '' : `: ${clip(known.join(', '), MAX_LABELS)}`;
  }
  const name = typeof label === 'string' && label !== '' ? label : `shape ${index + 1}`;
  const lines = linesOf(inner, nesting + 1);
  const more = lines.length > MAX_LACKS ? [`and ${lines.length - MAX_LACKS} more`] : [];
  return `; the nearest is ${clip(name, maxGot)}: ${[...lines.slice(0, MAX_LACKS), ...more].join('; ')}`;
}

/** Unions inside each other whose nearest shapes are named. */
const MAX_UNIONS = 2;

/** Problems that are named of one shape. */
const MAX_LACKS = 5;

/** Which shape of a union an error belongs to. */
function shapeIndex(inner: Violation, { path, schemaPath, params }: Violation): number | undefined {
  if (inner.schemaPath === undefined || schemaPath === undefined) return undefined;
  if (!path.every((segment, index) => inner.path[index] === segment)) return undefined;
  if (inner.schemaPath.startsWith(`${schemaPath}/`)) {
    return Number(inner.schemaPath.slice(schemaPath.length + 1).split('/')[0]);
  }
  const pointers = Array.isArray(params['pointers']) ? params['pointers'] : [];
  const index = pointers.findIndex(
    (pointer: Json) =>
      pointer !== '' && pointer !== '#' && inner.schemaPath?.startsWith(`${plain(pointer)}/`),
  );
  return index < 0 ? undefined : index;
}

/** Farther than any number of lacks. */
const OTHER = 100_000;

/** Characters of the names of all shapes. */
const MAX_LABELS = 400;

/** A shape of another type, or with another mark such as `kind`, is farther than any lack. */
function farness(lacks: readonly Violation[], union: Violation): number {
  const others = lacks.filter(({ keyword, path }) => {
    const depth = path.length - union.path.length;
    return (keyword === 'type' && depth === 0) || (keyword === 'const' && depth === 1);
  });
  return others.length * OTHER + lacks.length;
}

/** Without errors inside unions, since the union's own line is enough. */
function withoutInner(violations: readonly Violation[]): readonly Violation[] {
  const unions = violations
    .map((violation, index) => ({ violation, index }))
    .filter(({ violation }) => violation.keyword === 'anyOf' || violation.keyword === 'oneOf');
  return violations.filter(
    (inner, index) =>
      !unions.some(
        ({ violation: union, index: unionIndex }) =>
          inner !== union && isInside(inner, union, index < unionIndex),
      ),
  );
}

/**
 * After a `$ref` the path of a schema starts again, in a recursive schema at its root. Such an
 * error belongs to a union if it precedes the union's own error in the list and is at the union's
 * place in the value or below it.
 */
function isInside(inner: Violation, union: Violation, isBefore: boolean): boolean {
  if (inner.schemaPath === undefined || union.schemaPath === undefined) return false;
  if (!union.path.every((segment, index) => inner.path[index] === segment)) return false;
  if (inner.schemaPath.startsWith(`${union.schemaPath}/`)) return true;
  const isReferred =
    /^#\/(?:\$defs|definitions)\//.test(inner.schemaPath) || rootDepth(inner) !== rootDepth(union);
  return isBefore && isReferred;
}

/** The depth in the value at which the schema of this path begins: 0 without a `$ref`. */
function rootDepth({ path, schemaPath = '' }: Violation): number {
  // The last part is the keyword that failed, at the place itself.
  const parts = schemaPath.split('/').slice(1, -1);
  let depth = path.length;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? '';
    if (NAMED_STEPS.includes(part) || STEPS.includes(part)) depth -= 1;
    if (NAMED_STEPS.includes(part) || BRANCHES.includes(part)) index += 1;
  }
  return depth;
}

/** Keywords that go one level down and are followed by the name of a property or an index. */
const NAMED_STEPS: readonly string[] = ['properties', 'patternProperties', 'prefixItems'];

/** Keywords that go one level down and are followed by nothing. */
const STEPS: readonly string[] = [
  'items',
  'additionalProperties',
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
];

/** Keywords that stay at the place and are followed by a name or an index. */
const BRANCHES: readonly string[] = [
  '$defs',
  'definitions',
  'allOf',
  'anyOf',
  'oneOf',
  'dependentSchemas',
];

function numberBound({ comparison, limit }: Params, value: Json | undefined): string {
  return `expected a number ${plain(comparison)} ${plain(limit)}, got ${got(value)}`;
}

function sizeBound(end: 'least' | 'most', unit: 'characters' | 'items' | 'properties'): Wording {
  return ({ limit }, value) => `expected at ${end} ${plain(limit)} ${unit}, got ${sizeOf(value)}`;
}

/** Counts characters as code points, like JSON Schema. */
function sizeOf(value: Json | undefined): number {
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

function unknownProperty({ additionalProperty, properties }: Params): string {
  const known = Array.isArray(properties) ? properties.map(plain) : [];
  const nearest = nearestName(plain(additionalProperty), known);
  return nearest === undefined ? 'unknown property' : `unknown property, did you mean ${nearest}?`;
}

function values(allowed: Json | undefined): string {
  return Array.isArray(allowed) ? allowed.slice(0, maxValues).map(inline).join(', ') : '';
}

/** The type and the JSON of a value, shortened. */
function got(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  return clip(`${jsonType(value)} ${JSON.stringify(value)}`, maxGot);
}

function inline(value: Json | undefined): string {
  return clip(JSON.stringify(value ?? null), maxGot);
}

function plain(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** Compares by segment. Parents come first, numbers before names; names are in code-unit order. */
function comparePaths(a: ValuePath, b: ValuePath): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareSegments(a[index] ?? 0, b[index] ?? 0);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareSegments(a: PathSegment, b: PathSegment): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
