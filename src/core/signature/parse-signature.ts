/**
 * Reads the text of a signature.
 *
 * signature = ws ( ( "(" ws params? ws ")" ws )? "->" ws type | type ) ws
 * params    = name ws type ( ws "," ws name ws type )*
 * type      = ( prim | "[" ws type ws "]" | "{" ws params? ws "}" ) "?"?
 * name      = [A-Za-z_][A-Za-z0-9_-]*
 */
import { clip } from '../text/cut.ts';
import {
  PRIMITIVES,
  type Primitive,
  type Signature,
  type SignatureField,
  type SignatureType,
} from '../contract/signature.ts';

/** A signature, or the first problem of its text. */
export type SignatureReading =
  | { readonly kind: 'signature'; readonly signature: Signature }
  | {
      readonly kind: 'problem';
      /** What was expected, such as `a type`. */
      readonly expected: string;
      /** From 1. */
      readonly line: number;
      /** From 1, in UTF-16 code units. */
      readonly column: number;
      /** The text found instead; empty at the end. */
      readonly got: string;
    };

/** Types nested inside each other; deeper ones are a mistake. */
const MAX_TYPE_DEPTH = 50;

/** Characters of the text that a problem quotes. */
const MAX_QUOTED = 40;

interface Scan {
  readonly text: string;
  position: number;
  problem: { readonly expected: string; readonly position: number } | undefined;
}

/** Reads `text`; never throws. A bare type is a signature without parameters. */
export function parseSignature(text: string): SignatureReading {
  const scan: Scan = { text, position: 0, problem: undefined };
  skipBlanks(scan);
  let params: readonly SignatureField[] = [];
  if (take(scan, '(')) {
    params = readFields(scan, ')', 0);
    skipBlanks(scan);
    if (!take(scan, '->')) fail(scan, '`->`');
  } else take(scan, '->');
  skipBlanks(scan);
  const output = readType(scan, 0);
  skipBlanks(scan);
  if (scan.position < text.length) fail(scan, 'the end');
  if (scan.problem === undefined) return { kind: 'signature', signature: { params, output } };
  const { expected, position } = scan.problem;
  const before = text.slice(0, position).split('\n');
  return {
    kind: 'problem',
    expected,
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    got: gotAt(text, position),
  };
}

/** One sentence for programmers; `owner` names what was read. */
export function explainSignature(
  problem: Extract<SignatureReading, { readonly kind: 'problem' }>,
  owner = 'signature',
): string {
  const { expected, line, column, got } = problem;
  const shown = got === '' ? 'the end' : `\`${got}\``;
  const types = PRIMITIVES.map((name) => `:${name}`).join(', ');
  const advice =
    expected === 'a type'
      ? ` Types are ${types}; a list is written [:type], a record {name :type}.`
      : ' Write it as `(name :type, …) -> :type`.';
  return `Expected ${expected} at line ${line}, column ${column} of \`${owner}\`, got ${shown}.${advice}`;
}

function readFields(scan: Scan, close: ')' | '}', depth: number): readonly SignatureField[] {
  const fields: SignatureField[] = [];
  skipBlanks(scan);
  if (take(scan, close)) return fields;
  for (;;) {
    const start = scan.position;
    const name = takeName(scan);
    if (name === undefined) {
      fail(scan, fields.length === 0 ? `a name or \`${close}\`` : 'a name');
      return fields;
    }
    if (fields.some((field) => field.name === name)) {
      scan.position = start;
      fail(scan, 'a name that is not there yet');
      return fields;
    }
    skipBlanks(scan);
    fields.push({ name, type: readType(scan, depth) });
    skipBlanks(scan);
    if (scan.problem !== undefined || take(scan, close)) return fields;
    if (!take(scan, ',')) {
      fail(scan, `\`,\` or \`${close}\``);
      return fields;
    }
    skipBlanks(scan);
  }
}

function readType(scan: Scan, depth: number): SignatureType {
  const type = readPlainType(scan, depth + 1);
  return scan.problem === undefined && take(scan, '?') ? { kind: 'optional', inner: type } : type;
}

function readPlainType(scan: Scan, depth: number): SignatureType {
  if (depth > MAX_TYPE_DEPTH) return failed(scan, `at most ${MAX_TYPE_DEPTH} types in each other`);
  if (take(scan, '[')) {
    skipBlanks(scan);
    const item = readType(scan, depth);
    skipBlanks(scan);
    if (!take(scan, ']')) fail(scan, '`]`');
    return { kind: 'list', item };
  }
  if (take(scan, '{')) return { kind: 'record', fields: readFields(scan, '}', depth) };
  const word = /^:[A-Za-z]+/.exec(scan.text.slice(scan.position, scan.position + MAX_QUOTED))?.[0];
  const kind = word === undefined ? undefined : primitiveOf(word.slice(1));
  if (word === undefined || kind === undefined) return failed(scan, 'a type');
  scan.position += word.length;
  return { kind };
}

function primitiveOf(name: string): Primitive | undefined {
  return name === 'boolean' ? 'bool' : PRIMITIVES.find((primitive) => primitive === name);
}

function failed(scan: Scan, expected: string): SignatureType {
  fail(scan, expected);
  return { kind: 'any' };
}

function fail(scan: Scan, expected: string): void {
  scan.problem ??= { expected, position: scan.position };
}

function take(scan: Scan, text: string): boolean {
  if (scan.problem !== undefined || !scan.text.startsWith(text, scan.position)) return false;
  scan.position += text.length;
  return true;
}

function takeName(scan: Scan): string | undefined {
  const name = /[A-Za-z_][A-Za-z0-9_-]*/y;
  name.lastIndex = scan.position;
  const found = name.exec(scan.text)?.[0];
  scan.position += found?.length ?? 0;
  return found;
}

function skipBlanks(scan: Scan): void {
  while (/[ \t\r\n]/.test(scan.text[scan.position] ?? '')) scan.position += 1;
}

/** The word at `position`, or the single character there. */
function gotAt(text: string, position: number): string {
  const rest = text.slice(position, position + MAX_QUOTED);
  return /^:?[A-Za-z0-9_-]+/.exec(rest)?.[0] ?? clip(rest, 1);
}
