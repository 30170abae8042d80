/**
 * The reader: turns text into forms.
 *
 * I1  Reading stops at the first error and reports its place.
 * I2  Forms nest at most `MAX_NESTING` deep, so the recursion here is bounded.
 */
import type { Limits } from '../base/limits.ts';
import { Fault, type Problem } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import { utf8Length } from '../base/utf8-length.ts';
import { float, keyword, type Value } from '../value/value.ts';
import type { Form, SymbolForm } from './form.ts';
import { readNumber } from './number-literal.ts';
import {
  countName,
  markOf,
  newScanner,
  parseError,
  peek,
  skipSpace,
  spanFrom,
  take,
  takeToken,
  type Mark,
  type Scanner,
} from './scanner.ts';
import { readCharacter, readRegexBody, readText } from './text-literal.ts';

/** Forms nest at most this deep. */
const MAX_NESTING = 64;

const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

const KEYWORD = /^[A-Za-z0-9+\-*<>=?!_]+$/;
const SYMBOL = /^[A-Za-z+\-*/<>=?!_%.&][A-Za-z0-9+\-*/<>=?!_%.&']*$/;

/** The forms of `source`, or its first error. */
export function readForms(
  source: string,
  limits: Limits,
):
  | { readonly ok: true; readonly forms: readonly Form[] }
  | { readonly ok: false; readonly problem: Problem } {
  const s = newScanner(source);
  try {
    const bytes = utf8Length(source);
    if (bytes > limits.sourceBytes) {
      throw parseError(
        `The program has ${bytes} bytes; at most ${limits.sourceBytes} are read.`,
        spanFrom(s, markOf(s)),
      );
    }
    const forms: Form[] = [];
    for (;;) {
      const form = readItem(s, 0, null);
      if (form === null) return { ok: true, forms };
      forms.push(form);
    }
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    const span = thrown.span ?? spanFrom(s, markOf(s));
    return { ok: false, problem: { reason: 'parse_error', message: thrown.message, span } };
  }
}

/** An open delimiter or prefix. */
interface Opener {
  readonly text: string;
  readonly closer: string;
  readonly mark: Mark;
}

/** The next form, or null before the closer of `opener` or, without one, at the end. */
function readItem(s: Scanner, nesting: number, opener: Opener | null): Form | null {
  for (;;) {
    skipSpace(s);
    const from = markOf(s);
    const character = peek(s);
    if (character === '') {
      if (opener === null) return null;
      throw unclosed(opener);
    }
    if (character === ')' || character === ']' || character === '}') {
      if (opener?.closer === character) return null;
      take(s);
      throw unexpected(character, spanFrom(s, from), opener);
    }
    const prefix = ['#_', '^'].find((one) => s.source.startsWith(one, s.offset));
    if (prefix === undefined) return readForm(s, nesting);
    for (const _ of prefix) take(s);
    readDropped(s, nesting + 1, opener, { text: prefix, mark: from });
  }
}

function unexpected(closer: string, span: Span, opener: Opener | null): Fault {
  const place = `Unexpected \`${closer}\` at line ${span.line}, column ${span.column}`;
  if (opener === null) return parseError(`${place}: nothing is open here.`, span);
  const { line, column } = opener.mark;
  return parseError(
    `${place}: \`${opener.text}\` opened at line ${line}, column ${column} needs \`${opener.closer}\`.`,
    span,
  );
}

function unclosed({ text, mark }: Opener): Fault {
  const span = {
    start: mark.offset,
    end: mark.offset + text.length,
    line: mark.line,
    column: mark.column,
  };
  return parseError(
    `Unclosed \`${text}\` opened at line ${mark.line}, column ${mark.column}.`,
    span,
  );
}

/** Reads and drops the form after `#_` or `^`. */
function readDropped(
  s: Scanner,
  nesting: number,
  opener: Opener | null,
  prefix: Omit<Opener, 'closer'>,
): void {
  const { text, mark } = prefix;
  if (nesting > MAX_NESTING) throw tooDeep(spanFrom(s, mark));
  if (readItem(s, nesting, opener) !== null) return;
  throw parseError(`\`${text}\` needs a form after it.`, spanFrom(s, mark));
}

function tooDeep(span: Span): Fault {
  return parseError(`Forms nest at most ${MAX_NESTING} deep.`, span);
}

/** Reads the form that begins here. */
function readForm(s: Scanner, nesting: number): Form {
  const from = markOf(s);
  const character = peek(s);
  if (nesting >= MAX_NESTING && "([{#'".includes(character)) {
    take(s);
    throw tooDeep(spanFrom(s, from));
  }
  switch (character) {
    case '(':
    case '[':
    case '{':
      return readCollection(s, nesting, character, from);
    case '"': {
      const value = readText(s);
      return { kind: 'literal', value, span: spanFrom(s, from) };
    }
    case '\\': {
      const value = readCharacter(s);
      return { kind: 'literal', value, span: spanFrom(s, from) };
    }
    case "'": {
      take(s);
      s.quotes += 1;
      const form = readNext(s, nesting + 1, "'", from);
      s.quotes -= 1;
      return { kind: 'quote', form, span: spanFrom(s, from) };
    }
    case '#':
      return readDispatch(s, nesting, from);
    case '@':
      throw refused(s, from, '`@x` is not part of the language: there is no mutable state.');
    case '`':
    case '~':
      throw refused(s, from, `\`${character}\` is not part of the language: there are no macros.`);
    case ':':
      return readKeyword(s, from);
    default:
      return readAtom(s, from);
  }
}

function refused(s: Scanner, from: Mark, message: string): Fault {
  take(s);
  return parseError(message, spanFrom(s, from));
}

/** The form after a prefix such as a quote. */
function readNext(s: Scanner, nesting: number, prefix: string, from: Mark): Form {
  skipSpace(s);
  const none: Opener = { text: prefix, closer: 'a form', mark: from };
  const character = peek(s);
  if (character === '' || ')]}'.includes(character)) {
    throw parseError(`\`${prefix}\` needs a form after it.`, spanFrom(s, from));
  }
  const form = readItem(s, nesting, none);
  if (form === null) throw parseError(`\`${prefix}\` needs a form after it.`, spanFrom(s, from));
  return form;
}

/** Reads a collection whose last opening character is next; `text`: `(`, `[`, `{`, `#(` or `#{`. */
function readCollection(s: Scanner, nesting: number, text: string, from: Mark): Form {
  const open = take(s);
  const opener: Opener = { text, closer: CLOSERS.get(open) ?? ')', mark: from };
  const items: Form[] = [];
  for (;;) {
    const item = readItem(s, nesting + 1, opener);
    if (item === null) break;
    items.push(item);
    if (items.length === 1 && isQuote(item)) s.quotes += 1;
  }
  if (items[0] !== undefined && isQuote(items[0])) s.quotes -= 1;
  take(s);
  const span = spanFrom(s, from);
  const at = `at line ${from.line}, column ${from.column}`;
  if (open === '[') return { kind: 'vector', items, span };
  if (text !== open) {
    if (open === '{') return { kind: 'set', items, span };
    if (items.length === 0)
      throw parseError(`\`#()\` ${at} is empty: it needs a call inside.`, span);
    return { kind: 'fn', items, span };
  }
  if (open === '{') {
    if (items.length % 2 === 0) return { kind: 'map', items, span };
    const message = `Expected an even number of forms in the map ${at}, got ${items.length}.`;
    throw parseError(message, span);
  }
  if (items.length === 0 && s.quotes === 0) {
    throw parseError(`\`()\` ${at} calls nothing. Write \`[]\` for an empty vector.`, span);
  }
  return { kind: 'list', items, span };
}

function isQuote(form: Form): boolean {
  return form.kind === 'symbol' && form.name === 'quote';
}

function readDispatch(s: Scanner, nesting: number, from: Mark): Form {
  const next = s.source.charAt(s.offset + 1);
  switch (next) {
    case '{':
    case '(':
      take(s);
      return readCollection(s, nesting, `#${next}`, from);
    case '"': {
      take(s);
      const source = readRegexBody(s, from);
      return { kind: 'regex', source, span: spanFrom(s, from) };
    }
    case "'": {
      take(s);
      take(s);
      const form = readNext(s, nesting + 1, "#'", from);
      if (form.kind !== 'symbol') throw parseError("`#'` takes a name.", spanFrom(s, from));
      return { kind: 'var', symbol: form, span: spanFrom(s, from) };
    }
    case '#': {
      take(s);
      take(s);
      const token = takeToken(s);
      const value = SPECIAL_FLOATS.get(token);
      const span = spanFrom(s, from);
      if (value !== undefined) return { kind: 'literal', value: float(value), span };
      throw parseError('Special numbers are ##Inf, ##-Inf and ##NaN.', span);
    }
    default:
      take(s);
      takeToken(s);
      throw parseError(
        `\`${s.source.slice(from.offset, Math.min(s.offset, from.offset + 40))}\` is not part of the language: tags and reader conditionals are not read.`,
        spanFrom(s, from),
      );
  }
}

const SPECIAL_FLOATS: ReadonlyMap<string, number> = new Map([
  ['Inf', Infinity],
  ['-Inf', -Infinity],
  ['NaN', Number.NaN],
]);

function readKeyword(s: Scanner, from: Mark): Form {
  const token = takeToken(s);
  const span = spanFrom(s, from);
  const name = token.slice(1);
  if (!KEYWORD.test(name)) {
    throw parseError(
      `\`${token.slice(0, 60)}\`: keywords have one plain name, such as \`:user-id\`.`,
      span,
    );
  }
  countName(s, token, span);
  return { kind: 'literal', value: keyword(name), span };
}

const CONSTANTS: ReadonlyMap<string, Value> = new Map([
  ['nil', null],
  ['true', true],
  ['false', false],
]);

function readAtom(s: Scanner, from: Mark): Form {
  const token = takeToken(s);
  const span = spanFrom(s, from);
  if (/^[+-]?[0-9]/.test(token) || /^[+-]?\.[0-9]/.test(token)) {
    const number = readNumber(token);
    if (number.ok) return { kind: 'literal', value: number.value, span };
    const advice =
      token.includes('.') && /^[+-]?\./.test(token)
        ? `Write \`${token.replace('.', '0.')}\`.`
        : number.advice;
    throw parseError(`\`${token.slice(0, 60)}\` is not a number. ${advice}`, span);
  }
  const constant = CONSTANTS.get(token);
  if (constant !== undefined) return { kind: 'literal', value: constant, span };
  if (!SYMBOL.test(token)) {
    const shown = token.length > 60 ? `${token.slice(0, 60)}…` : token;
    throw parseError(
      `\`${shown}\` is not a name. Names are ASCII: letters, digits and \`+-*/<>=?!_.\`.`,
      span,
    );
  }
  countName(s, token, span);
  const symbol: SymbolForm = { kind: 'symbol', name: token, span };
  return symbol;
}
