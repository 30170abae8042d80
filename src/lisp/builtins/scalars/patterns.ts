/**
 * Regular expressions, and the text functions that take one. Steps of the matcher cost fuel.
 */
import { checkCount, checkText, fuelLeft, type Context } from '../../value/context.ts';
import { searchText, splitText } from '../../base/search.ts';
import { compileRegex, matchRegex, readCost, regexSize } from '../../regex/regex.ts';
import type { RegexSpan } from '../../regex/program.ts';
import { characterCount, characterEnd, characters } from '../../value/characters.ts';
import {
  isRegex,
  type RegexValue,
  type Value,
  type Builtin,
  type Steps,
  type BuiltinWork,
} from '../../value/value.ts';
import { vectorOf } from '../../value/vector.ts';
import { arg, expectCount, expectText, fault, wrongType } from '../arguments/expect.ts';
import { plain, finish, steps, want } from '../arguments/stepping.ts';
import { joined, parseLong, toText } from './text.ts';

/** The extra cost that a unit of a pattern may have: a class is built from large tables. */
const CLASS_COST = 5;

/** Steps of the matcher for one unit of fuel. */
const STEPS_PER_UNIT = 10;

type Groups = readonly (RegexSpan | null)[];

/** A match: its groups, and the place of the whole. */
interface Match {
  readonly groups: Groups;
  readonly whole: RegexSpan;
}

/** A pattern and the text to search. */
interface Subject {
  readonly pattern: RegexValue;
  readonly text: string;
}

/** A regex, or text read as the source of one. */
function regexAt(ctx: Context, args: readonly Value[], index: number): RegexValue {
  const value = arg(args, index);
  if (isRegex(value)) return value;
  if (typeof value !== 'string') throw wrongType(ctx, index, 'a regular expression', value);
  ctx.charge(1 + value.length);
  ctx.charge(readCost(value.length) + value.length * CLASS_COST);
  const made = compileRegex(value);
  if (made.kind === 'regex') ctx.charge(2 * regexSize(made.regex));
  if (made.kind === 'regex') return { kind: 'regex', source: value, regex: made.regex };
  throw fault(ctx, 'runtime_error', `this pattern does not compile: ${made.message}`);
}

/** The next match at or after `from`, or null. */
function match(
  ctx: Context,
  { pattern, text }: Subject,
  from: number,
  mode: 'find' | 'full',
): Groups | null {
  // One unit more than is left, so that a match that uses it up is seen to run out of fuel.
  const maxSteps = (Math.max(0, fuelLeft(ctx)) + 1) * STEPS_PER_UNIT;
  const found = matchRegex(pattern.regex, text, from, mode, maxSteps);
  ctx.charge(
    found.exhausted === true ? fuelLeft(ctx) + 1 : Math.ceil(found.steps / STEPS_PER_UNIT),
  );
  return found.groups;
}

/** All matches, left to right. After an empty match the search continues one code point later. */
function* matches(ctx: Context, subject: Subject): Generator<Match> {
  let from = 0;
  while (from <= subject.text.length) {
    const groups = match(ctx, subject, from, 'find');
    const whole = groups?.[0];
    if (groups === null || whole === null || whole === undefined) return;
    yield { groups, whole };
    from = nextFrom(subject.text, whole);
  }
}

function nextFrom(text: string, whole: RegexSpan): number {
  if (whole.end > whole.start) return whole.end;
  return whole.end + ((text.codePointAt(whole.end) ?? 0) > 0xffff ? 2 : 1);
}

function groupText(text: string, span: RegexSpan | null | undefined): Value {
  return span === null || span === undefined ? null : text.slice(span.start, span.end);
}

/** A match as a value: text, or a vector of the whole match and its groups. */
function matchValue(ctx: Context, text: string, groups: Groups): Value {
  ctx.charge(groups.length);
  if (groups.length === 1) return groupText(text, groups[0]);
  return vectorOf(groups.map((span) => groupText(text, span)));
}

function seq(ctx: Context, args: readonly Value[]): Value {
  const pattern = regexAt(ctx, args, 0);
  const text = expectText(ctx, args, 1);
  const found: Value[] = [];
  for (const { groups } of matches(ctx, { pattern, text })) {
    checkCount(ctx, found.length + 1);
    found.push(matchValue(ctx, text, groups));
  }
  return found.length === 0 ? null : vectorOf(found);
}

/** The pieces of `text` between matches, as Java's `split` gives them. */
function pieces(ctx: Context, text: string, ends: Iterable<RegexSpan>, limit: number): Value {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of ends) {
    if (limit > 0 && parts.length >= limit - 1) break;
    // An empty match at the start makes no piece.
    if (end === 0) continue;
    checkCount(ctx, parts.length + 1);
    parts.push(text.slice(from, start));
    from = end;
  }
  if (parts.length === 0) return vectorOf([text]);
  parts.push(text.slice(from));
  ctx.charge(parts.length);
  if (limit === 0) while (parts.length > 0 && parts[parts.length - 1] === '') parts.pop();
  ctx.charge(parts.length + (text.length >>> 4));
  return vectorOf(parts);
}

function* regexEnds(ctx: Context, pattern: RegexValue, text: string): Generator<RegexSpan> {
  for (const { whole } of matches(ctx, { pattern, text })) yield whole;
}

function* literalEnds(text: string, separator: string): Generator<RegexSpan> {
  let at = text.indexOf(separator);
  while (at >= 0) {
    yield { start: at, end: at + separator.length };
    at = text.indexOf(separator, at + separator.length);
  }
}

function* characterEnds(text: string): Generator<RegexSpan> {
  for (let at = 0; at < text.length; at = characterEnd(text, at)) yield { start: at, end: at };
}

function split(ctx: Context, args: readonly Value[]): Value {
  const text = expectText(ctx, args, 0);
  const separator = arg(args, 1);
  const limit = args.length > 2 ? expectCount(ctx, args, 2) : 0;
  if (isRegex(separator)) return pieces(ctx, text, regexEnds(ctx, separator, text), limit);
  const by = expectText(ctx, args, 1);
  if (by === '') {
    if (limit > 0) return pieces(ctx, text, characterEnds(text), limit);
    const all = text === '' ? [''] : characters(text);
    checkCount(ctx, all.length);
    ctx.charge(all.length);
    return vectorOf(limit < 0 ? [...all, ''] : all);
  }
  if (characterCount(by) > 1) {
    throw fault(
      ctx,
      'runtime_error',
      'a text separator is one character: use a regular expression for a longer one.',
    );
  }
  return pieces(ctx, text, literalEnds(text, by), limit);
}

/** The replacement for one match: `template` with `$1`, `${name}` and `\$` expanded. */
function expand(
  ctx: Context,
  template: string,
  { pattern, text }: Subject,
  groups: Groups,
): string {
  let out = '';
  for (let index = 0; index < template.length; index++) {
    const character = template.charAt(index);
    if (character === '\\') {
      index += 1;
      if (index >= template.length)
        throw fault(ctx, 'runtime_error', 'the replacement ends with a lone backslash.');
      out += template.charAt(index);
    } else if (character === '$') {
      const named = /^\$\{([A-Za-z][A-Za-z0-9]*)\}/.exec(template.slice(index, index + 100));
      let group: number;
      if (named !== null) {
        group = pattern.regex.groupNames.indexOf(named[1] ?? '');
        if (group < 0)
          throw fault(ctx, 'runtime_error', `the pattern has no group \`${named[1] ?? ''}\`.`);
        index += named[0].length - 1;
      } else {
        const first = template.charCodeAt(index + 1) - 48;
        if (!(first >= 0 && first <= 9))
          throw fault(
            ctx,
            'runtime_error',
            '`$` in a replacement needs a group: `$1`, `${name}`; write `\\\\$` for the sign itself.',
          );
        group = first;
        index += 1;
        for (;;) {
          const digit = template.charCodeAt(index + 1) - 48;
          if (!(digit >= 0 && digit <= 9) || group * 10 + digit > pattern.regex.groupCount) break;
          group = group * 10 + digit;
          index += 1;
        }
        if (group > pattern.regex.groupCount)
          throw fault(ctx, 'runtime_error', `the pattern has no group ${group}.`);
      }
      const span = groups[group];
      if (span !== null && span !== undefined) out += text.slice(span.start, span.end);
    } else out += character;
  }
  return out;
}

/**
 * `replace`. With a function, the state has the text in `acc`, the matches in `items`, their places
 * in `extra` and the results of the calls in `out`.
 */
function replacing(all: boolean, elements: Builtin | null): BuiltinWork {
  return steps(
    [2],
    (ctx, args, s) => {
      if (args.length === 2 && elements !== null) {
        if (elements.work.kind === 'plain') finish(s, elements.work.run(ctx, args));
        return;
      }
      const value = arg(args, 0);
      if (value === null) throw wrongType(ctx, 0, 'text', value);
      const text = toText(ctx, value);
      const by = arg(args, 1);
      if (!isRegex(by)) {
        const replace = all ? replaceAllText : replaceFirstText;
        finish(s, replace(ctx, text, expectText(ctx, args, 1), expectText(ctx, args, 2)));
        return;
      }
      const replacement = arg(args, 2);
      if (typeof replacement === 'string') {
        finish(s, replacePattern(ctx, { pattern: by, text }, replacement, all));
        return;
      }
      const places: Value[] = [];
      const found: Value[] = [];
      for (const { groups, whole } of matches(ctx, { pattern: by, text })) {
        places.push(whole.start, whole.end);
        found.push(matchValue(ctx, text, groups));
        if (!all) break;
      }
      s.fn = replacement;
      s.items = found;
      s.extra = places;
      s.acc = text;
      nextReplacement(ctx, s);
    },
    (ctx, s, result) => {
      s.out.push(toText(ctx, result));
      s.at += 1;
      nextReplacement(ctx, s);
    },
  );
}

function nextReplacement(ctx: Context, s: Steps): void {
  if (s.at < s.items.length) {
    want(s, s.fn, [s.items[s.at] as Value]);
    return;
  }
  const text = s.acc as string;
  const places = s.extra as number[];
  const parts: string[] = [];
  let from = 0;
  for (const [index, made] of s.out.entries()) {
    parts.push(text.slice(from, places[index * 2]), made as string);
    from = places[index * 2 + 1] ?? from;
  }
  parts.push(text.slice(from));
  finish(s, joined(ctx, parts, ''));
}

function replaceFirstText(ctx: Context, text: string, part: string, by: string): string {
  ctx.charge(part.length >>> 4);
  const at = searchText(text, part);
  return at < 0 ? text : joined(ctx, [text.slice(0, at), text.slice(at + part.length)], by);
}

function replaceAllText(ctx: Context, text: string, part: string, by: string): string {
  ctx.charge(part === '' ? text.length >>> 3 : part.length >>> 4);
  if (part !== '') {
    const pieces = splitText(text, part);
    checkText(ctx, text.length + (pieces.length - 1) * (by.length - part.length));
    return pieces.join(by);
  }
  checkText(ctx, text.length + (text.length + 1) * by.length);
  return by + Array.from(text, (character) => character + by).join('');
}

function replacePattern(ctx: Context, subject: Subject, template: string, all: boolean): string {
  const { text } = subject;
  const parts: string[] = [];
  let from = 0;
  let length = 0;
  for (const { groups, whole } of matches(ctx, subject)) {
    const made = expand(ctx, template, subject, groups);
    length += made.length + whole.start - from;
    if (length > ctx.limits.textUnits) checkText(ctx, length);
    parts.push(text.slice(from, whole.start), made);
    from = whole.end;
    if (!all) break;
  }
  parts.push(text.slice(from));
  return joined(ctx, parts, '');
}

/** `re-find` and `re-matches`. */
function first(mode: 'find' | 'full'): BuiltinWork {
  return plain((ctx, args) => {
    const pattern = regexAt(ctx, args, 0);
    const text = expectText(ctx, args, 1);
    const groups = match(ctx, { pattern, text }, 0, mode);
    return groups === null ? null : matchValue(ctx, text, groups);
  });
}

function extract(ctx: Context, args: readonly Value[], number: number): string | null {
  const pattern = regexAt(ctx, args, 0);
  const text = expectText(ctx, args, 1);
  const group = args.length > 2 ? expectCount(ctx, args, 2) : number;
  const groups = match(ctx, { pattern, text }, 0, 'find');
  const span = groups?.[group];
  return span === null || span === undefined ? null : text.slice(span.start, span.end);
}

/** The work of these builtins. `elements` is the hidden builtin for `replace` of two arguments. */
export function patternWork(elements: Builtin): { readonly [name: string]: BuiltinWork } {
  return {
    split: plain(split),
    replace: replacing(true, elements),
    'replace-first': replacing(false, null),
    're-pattern': plain((ctx, args) => regexAt(ctx, args, 0)),
    're-find': first('find'),
    're-matches': first('full'),
    're-seq': plain(seq),
    're-split': plain((ctx, args) => {
      const pattern = regexAt(ctx, args, 0);
      const text = expectText(ctx, args, 1);
      return pieces(ctx, text, regexEnds(ctx, pattern, text), 0);
    }),
    extract: plain((ctx, args) => extract(ctx, args, 1)),
    'extract-int': plain((ctx, args) => {
      const text = extract(ctx, args.slice(0, 3), 1);
      return (text === null ? undefined : parseLong(text)) ?? args[3] ?? null;
    }),
  };
}
