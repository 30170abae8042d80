/**
 * The memory that an agent keeps between programs: read when a program starts, written at its end.
 *
 * I1  Memory is plain JSON; a function in it is named by the id of its program and an offset.
 * I2  The source of every stored function is kept with it, and no other source.
 * I3  A function that cannot be restored becomes one that fails when it is called.
 */
import type { World } from '../analyzer/analysis.ts';
import { emptyObject } from '../base/json.ts';
import { findBuiltin } from '../builtins/registry.ts';
import { Fault } from '../base/problem.ts';
import { codeId, linkProgram, readProgram, type Linked } from '../analyzer/program.ts';
import { shortText } from '../value/print.ts';
import type { Value } from '../value/value.ts';
import type { Coded, ProgramMemory } from './coded.ts';
import { newDecoder, unreadable, type FindCode } from './decode.ts';
import { newEncoder } from './encode.ts';
import { jsonSize } from './json-size.ts';
import type { Before } from './state.ts';

/** A larger result is kept in the history as its preview text. */
const MAX_HISTORY_BYTES = 16_384;

/** Reads and links saved sources. Throws for a source that does not match its id. */
export function linkSources(
  sources: { readonly [codeId: string]: string },
  world: World,
  into: Map<string, Linked>,
): void {
  for (const id of Object.keys(sources)) {
    if (into.has(id)) continue;
    const text = sources[id] ?? '';
    if (codeId(text) !== id) throw unreadable('a source was changed');
    const read = readProgram(text, { sourceBytes: 1_048_576 });
    if (!read.ok) throw unreadable('a source does not read');
    into.set(id, linkProgram(read.program, world));
  }
}

/** Like {@link linkSources}, but skips a source that cannot be read (I3). */
export function linkReadable(
  sources: { readonly [codeId: string]: string },
  world: World,
  into: Map<string, Linked>,
): void {
  for (const id of Object.keys(sources)) {
    try {
      linkSources({ [id]: sources[id] ?? '' }, world, into);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
    }
  }
}

/** Finds code in linked programs. */
export function codeFinder(sources: ReadonlyMap<string, Linked>): FindCode {
  return (programId, offset) => sources.get(programId)?.codes.get(offset);
}

/** The values of a memory (I3). */
export function readMemory(memory: ProgramMemory, sources: ReadonlyMap<string, Linked>): Before {
  const decode = newDecoder(memory.heap, codeFinder(sources));
  const values = (coded: { readonly [name: string]: Coded }): Map<string, Value> => {
    const found = new Map<string, Value>();
    for (const name of Object.keys(coded)) found.set(name, readOr(decode, coded[name] as Coded));
    return found;
  };
  return {
    globals: values(memory.bindings),
    history: memory.history.map((coded) => readOr(decode, coded)),
    journal: values(memory.journal),
    plan: new Map(Object.entries(memory.plan)),
  };
}

function readOr(decode: (coded: Coded) => Value, coded: Coded): Value {
  try {
    return decode(coded);
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return findBuiltin('not-restored~') ?? null;
  }
}

/** The memory as JSON (I2). */
export function writeMemory(values: Before, sources: ReadonlyMap<string, Linked>): ProgramMemory {
  const history = values.history.map(bounded);
  const roots = [...values.globals.values(), ...history, ...values.journal.values()];
  const encoder = newEncoder(roots);
  const coded = (from: ReadonlyMap<string, Value>): { [name: string]: Coded } => {
    const object = emptyObject<Coded>();
    for (const name of [...from.keys()].toSorted()) {
      if (!/^\*[123]$/.test(name)) object[name] = encoder.encode(from.get(name) ?? null);
    }
    return object;
  };
  const bindings = coded(values.globals);
  const past = history.map(encoder.encode);
  const journal = coded(values.journal);
  const plan = emptyObject<string>();
  for (const [id, text] of values.plan) plan[id] = text;
  return {
    v: 1,
    bindings,
    history: past,
    journal,
    plan,
    heap: encoder.heap,
    sources: sourcesOf(encoder.programs, sources),
  };
}

/** The text of each program in `ids`. */
export function sourcesOf(
  ids: Iterable<string>,
  sources: ReadonlyMap<string, Linked>,
): { [codeId: string]: string } {
  const texts = emptyObject<string>();
  for (const id of [...ids].toSorted()) {
    const linked = sources.get(id);
    if (linked !== undefined) texts[id] = linked.program.source;
  }
  return texts;
}

function bounded(value: Value): Value {
  const encoder = newEncoder([value]);
  const size = jsonSize([encoder.encode(value), encoder.heap]);
  return size <= MAX_HISTORY_BYTES ? value : shortText(value);
}
