/**
 * Builtins that make functions, tell types, end the program, or are effects.
 */
import { fuelLeft, type Context } from '../../value/context.ts';
import { Fault, ProgramExit } from '../../base/problem.ts';
import {
  isInteger,
  isMap,
  keyword,
  type CombinatorName,
  type Value,
  type EffectName,
  type BuiltinWork,
} from '../../value/value.ts';
import { fromJson } from '../../json/to-json.ts';
import { readable } from '../../value/print.ts';
import { EMPTY_MAP, mapOf, mapSet } from '../../value/tree.ts';
import { arg, expectText } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';

function making(name: CombinatorName): BuiltinWork {
  return plain((ctx, args) => {
    ctx.charge(args.length);
    return { kind: 'combinator', name, of: args.slice() };
  });
}

const TYPES: { readonly [kind: string]: string } = Object.freeze({
  float: 'number',
  keyword: 'keyword',
  vector: 'vector',
  map: 'map',
  set: 'set',
  closure: 'function',
  builtin: 'function',
  combinator: 'function',
  tool: 'function',
  regex: 'regex',
  date: 'java_object',
});

/** The result of `type` without the colon; null for nil. */
function typeOf(value: Value): string | null {
  if (value === null) return null;
  if (typeof value === 'boolean') return 'boolean';
  if (isInteger(value)) return 'number';
  if (typeof value === 'string') return 'string';
  return TYPES[value.kind] ?? 'unknown';
}

function ending(kind: 'returned' | 'failed'): BuiltinWork {
  return plain((ctx, args) => {
    if (ctx.inside !== null) {
      const name = kind === 'returned' ? 'return' : 'fail';
      throw new Fault(
        `${ctx.inside}_error`,
        `\`${name}\` cannot end the program from inside \`${ctx.inside}\`.`,
      );
    }
    throw new ProgramExit(kind, arg(args, 0));
  });
}

function effect(name: EffectName): BuiltinWork {
  return { kind: 'effect', effect: name };
}

function budget(ctx: Context): Value {
  const given = fromJson(ctx.budget);
  if (!isMap(given)) return EMPTY_MAP;
  const keys = Object.keys(ctx.budget).toSorted();
  if (keys.length === 0) return EMPTY_MAP;
  let map = EMPTY_MAP;
  for (const key of keys) {
    const json = ctx.budget[key];
    if (json !== undefined) map = mapSet(map, keyword(key), keywordKeys(ctx, fromJson(json)), ctx);
  }
  return mapSet(map, keyword('fuel'), fuelLeft(ctx), ctx);
}

function keywordKeys(ctx: Context, value: Value): Value {
  if (!isMap(value)) return value;
  const keys = value.root.keys.map((key) => (typeof key === 'string' ? keyword(key) : key));
  return mapOf(keys, value.root.vals, ctx);
}

/** Puts an entry of a record back as it is now, see `Context.undo`. */
function putBack<T>(record: Map<string, T>, id: string): () => void {
  const [had, before] = [record.has(id), record.get(id) as T];
  return () => void (had ? record.set(id, before) : record.delete(id));
}

/** The work of these builtins. */
export const FUNCTION_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  apply: { kind: 'spread' },
  comp: making('comp'),
  partial: plain((ctx, args) => {
    ctx.charge(args.length);
    return args.length === 1
      ? arg(args, 0)
      : { kind: 'combinator', name: 'partial', of: args.slice() };
  }),
  complement: making('complement'),
  constantly: making('constantly'),
  'every-pred': making('every-pred'),
  'some-fn': making('some-fn'),
  juxt: making('juxt'),
  fnil: making('fnil'),
  type: plain((_c, args) => {
    const name = typeOf(arg(args, 0));
    return name === null ? null : keyword(name);
  }),
  return: ending('returned'),
  fail: ending('failed'),
  ask: effect('ask'),
  sleep: effect('sleep'),
  pmap: effect('pmap'),
  pcalls: effect('pcalls'),
  now: plain((ctx) => ctx.now),
  'budget/remaining': plain((ctx) => budget(ctx)),
  'System/currentTimeMillis': plain((ctx) => ctx.now),
  'not-restored~': plain(() => {
    throw new Fault(
      'snapshot_version',
      'This function comes from a program that cannot be read any more. Define it again.',
    );
  }),
  'task-reset': plain((ctx, args) => {
    const id = readable(arg(args, 0), ctx);
    const { journal, journalChanges } = ctx.records;
    if (ctx.restartable) ctx.undo.push(putBack(journal, id), putBack(journalChanges, id));
    ctx.records.journal.delete(id);
    ctx.records.journalChanges.set(id, undefined);
    return null;
  }),
  'step-done': plain((ctx, args) => {
    const id = arg(args, 0);
    const text = expectText(ctx, args, 1);
    const step = typeof id === 'string' ? id : readable(id, ctx);
    if (ctx.restartable) ctx.undo.push(putBack(ctx.records.plan, step));
    ctx.records.plan.set(step, text);
    return text;
  }),
});
