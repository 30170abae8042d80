/**
 * Making a machine: its context, its memory, its main branch. Nothing runs here.
 */
import { NEWEST_RULES, type Rules } from '../base/rules.ts';
import type { World } from '../analyzer/analysis.ts';
import { fromJson } from '../json/from-json.ts';
import type { JsonObject } from '../base/json.ts';
import { limitsFrom, type Limits } from '../base/limits.ts';
import { linkProgram, type Linked, type Program } from '../analyzer/program.ts';
import { NO_SPAN } from '../base/source.ts';
import { EMPTY_MAP } from '../value/tree.ts';
import { isMap, type Value } from '../value/value.ts';
import type { ProgramMemory } from './coded.ts';
import { endSlice, type Context, type ToolFace } from '../value/context.ts';
import { define } from './definitions.ts';
import { performEffect } from './effect.ts';
import { linkReadable, readMemory } from './memory.ts';
import { branchRecords } from './parallel.ts';
import { assemble, assembleParts, compile, newStack, runDeep } from './run.ts';
import type { Before, Branch, Machine } from './state.ts';

/** What a program starts with. */
export interface MachineInput {
  /** The context, under `data/`. */
  readonly data: JsonObject;
  readonly memory: ProgramMemory;
  readonly limits: Partial<Limits>;
  readonly tools: readonly ToolFace[];
  /** The version of charges and meanings; the newest unless a record says otherwise. */
  readonly rules?: Rules;
  /** Runs all code on the machine, for tests of the equality of both tiers. */
  readonly forced?: boolean;
}

/** Nesting of a value that recursion may follow, whatever the limit says. */
const MAX_WALK = 2_000;

/** A context over limits and data that has run nothing. */
export function newContext(
  limits: Limits,
  data: Value,
  tools: readonly ToolFace[],
  rules: Rules = NEWEST_RULES,
): Context {
  const c: Context = {
    fuel: limits.fuel,
    reserve: 0,
    restartable: false,
    sliced: false,
    undo: [],
    limits,
    rules,
    loopIterations: limits.loopIterations,
    maxNesting: Math.min(limits.depth, MAX_WALK),
    charge(units) {
      if ((c.fuel -= units) < 0) endSlice(c);
    },
    extra(units) {
      if (rules > 1 && (c.fuel -= units) < 0) endSlice(c);
    },
    at: NO_SPAN,
    callee: null,
    depth: 0,
    nesting: 0,
    sites: [],
    called: [],
    waiting: 0,
    globals: new Map(),
    epoch: {},
    purity: {},
    tailFn: null,
    tailArgs: [],
    records: {
      notes: [],
      droppedNotes: 0,
      journal: new Map(),
      journalChanges: new Map(),
      plan: new Map(),
    },
    data: isMap(data) ? data : EMPTY_MAP,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    now: 0,
    budget: {},
    noteCount: 0,
    inside: null,
    compile,
    assemble,
    assembleParts,
    deep: runDeep,
  };
  return c;
}

/** The world that a program of this machine is linked in. */
export function worldOf(
  tools: readonly ToolFace[],
  names: readonly string[],
  rules: Rules = NEWEST_RULES,
): World {
  return { tools, memory: names, asking: true, rules };
}

/** A machine for a checked program. Runs nothing. Never throws. */
export function startMachine(program: Program, input: MachineInput): Machine {
  const limits = limitsFrom(input.limits);
  const names = Object.keys(input.memory.bindings).toSorted();
  const world = worldOf(input.tools, names, input.rules);
  const linked = linkProgram(program, world);
  const sources = new Map<string, Linked>([[program.id, linked]]);
  const c = newContext(limits, fromJson(input.data), input.tools, input.rules);
  linkReadable(input.memory.sources, world, sources);
  const before = readMemory(input.memory, sources);
  return assembleMachine({
    linked,
    sources,
    c,
    before,
    names,
    tools: input.tools,
    forced: input.forced ?? false,
  });
}

/** The parts of a machine that has run nothing. */
export interface MachineParts {
  readonly linked: Linked;
  readonly sources: ReadonlyMap<string, Linked>;
  readonly c: Context;
  readonly before: Before;
  readonly names: readonly string[];
  readonly tools: readonly ToolFace[];
  readonly forced: boolean;
}

/** A machine at the beginning of its program. */
export function assembleMachine(parts: MachineParts): Machine {
  const { c, before, forced } = parts;
  const globals = new Map(before.globals);
  for (const [index, name] of ['*1', '*2', '*3'].entries()) {
    globals.set(name, before.history[index] ?? null);
  }
  const stack = newStack(c, forced);
  const main: Branch = {
    path: '',
    parent: null,
    index: 0,
    stack,
    state: 'ready',
    effects: 0,
    waitsFor: null,
    parallel: null,
    globals,
    records: branchRecords({
      notes: [],
      droppedNotes: 0,
      journal: new Map(before.journal),
      journalChanges: new Map(),
      plan: new Map(),
    }),
    depth: 0,
  };
  const m: Machine = {
    ...parts,
    main,
    form: 0,
    previews: [],
    last: null,
    effects: new Map(),
    queue: [],
    open: 0,
    requests: [],
    abandon: [],
    toolCalls: 0,
    outcome: null,
    faults: [],
    hostOf: (branch) => ({
      perform: (fn, args, span) => performEffect(m, branch, fn, args, span),
      define: (name, value) => define(c, branch, name, value),
    }),
  };
  stack.host = m.hostOf(main);
  return m;
}
