/**
 * What a program changed of the definitions that it began with.
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

/** A definition that is new, or has another value than before. */
export interface ChangedDefinition {
  readonly name: string;
  readonly preview: string;
}

/** Nodes that are compared at most; values that are larger count as changed when they are not the same. */
const MAX_COMPARED = 100_000;

/** Definitions of `machine` that are not as they were when it was started, in order of name. */
export function changedDefinitions(
  machine: Machine,
  bounds: Bounds = {},
): readonly ChangedDefinition[] {
  const { main, before } = machine;
  return [...main.globals]
    .filter(([name, value]) => !isHistory(name) && !isSame(before.globals, name, value))
    .map(([name, value]) => ({ name, preview: printValue(value, 'preview', bounds) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** All definitions of a memory, in order of name. One that cannot be restored is shown as what stands in. */
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

/** The memory that an error at its end leaves: definitions as they were, and the journal of now. */
export function memoryWithJournal(machine: Machine): ProgramMemory {
  const { before, main, sources } = machine;
  return writeMemory({ ...before, journal: main.records.journal }, sources);
}

function isHistory(name: string): boolean {
  return /^\*[123]$/.test(name);
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
    extra: () => undefined,
  };
  try {
    return equalValues(old, value, meter);
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return false;
  }
}
