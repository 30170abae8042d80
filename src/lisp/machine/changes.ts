/**
 * The definitions that a program changed.
 *
 * I1  Comparing values is bounded; a value that is too large counts as changed.
 */
import { Fault } from '../base/problem.ts';
import { equalValues } from '../value/order.ts';
import { printValue, type Bounds } from '../value/print.ts';
import type { Meter, Value } from '../value/value.ts';
import type { ProgramMemory } from './coded.ts';
import type { Linked } from '../analyzer/program.ts';
import { linkReadable, readMemory, writeMemory } from './memory.ts';
import { worldOf } from './start.ts';
import type { Machine } from './state.ts';

/** A new or changed definition. */
export interface ChangedDefinition {
  readonly name: string;
  readonly preview: string;
}

/** Nodes compared at most (I1). */
const MAX_COMPARED = 100_000;

/** The definitions that changed since the start of `machine`, by name. */
export function changedDefinitions(
  machine: Machine,
  bounds: Bounds = {},
): readonly ChangedDefinition[] {
  const { main, before } = machine;
  return [...main.globals]
    .filter(([name, value]) => !/^\*[123]$/.test(name) && !isSame(before.globals, name, value))
    .map(([name, value]) => ({ name, preview: printValue(value, 'preview', bounds) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** All definitions of a memory, by name. */
export function describeDefinitions(
  memory: ProgramMemory,
  bounds: Bounds = {},
): readonly ChangedDefinition[] {
  const sources = new Map<string, Linked>();
  linkReadable(memory.sources, worldOf([], Object.keys(memory.bindings)), sources);
  return [...readMemory(memory, sources).globals]
    .map(([name, value]) => ({ name, preview: printValue(value, 'preview', bounds) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The memory after an error: the definitions of the start and the present journal. */
export function memoryWithJournal(machine: Machine): ProgramMemory {
  const { before, main, sources } = machine;
  return writeMemory({ ...before, journal: main.records.journal }, sources);
}

function isSame(before: ReadonlyMap<string, Value>, name: string, value: Value): boolean {
  const old = before.get(name);
  if (old === undefined) return false;
  if (old === value) return true;
  let left = MAX_COMPARED;
  const meter: Meter = {
    maxNesting: 1_000,
    charge: (units) => {
      left -= units;
      if (left < 0) throw new Fault('size_exceeded', 'too large to compare');
    },
  };
  try {
    return equalValues(old, value, meter);
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return false;
  }
}
