/**
 * Makes a machine: its context, its memory, its main branch.
 *
 * I1  Nothing of the program runs here.
 * I2  Bad limits or memory never throw: bad limits become defaults, bad memory as I3 of
 *     `memory.ts`.
 */
import type { World } from '../analyzer/analysis.ts';
import { fromJson } from '../json/to-json.ts';
import type { JsonObject } from '../base/json.ts';
import { limitsFrom, type Limits } from '../base/limits.ts';
import { linkProgram, type Linked, type Program } from '../analyzer/program.ts';
import { NO_SPAN } from '../base/source.ts';
import { EMPTY_MAP } from '../value/tree.ts';
import { isMap, type Value } from '../value/value.ts';
import type { ProgramMemory } from './coded.ts';
import { endSlice, newRecords, type Context, type ToolFace } from '../value/context.ts';
import { define } from './definitions.ts';
import { performEffect } from './effect.ts';
import { linkReadable, readMemory } from './memory.ts';
import { assemble, assembleParts, compile, newStack, runDeep } from './run.ts';
import type { Branch, Machine } from './state.ts';

/** The input of a program. */
export interface MachineInput {
  /** The context of the agent; programs read it as `data/…`. */
  readonly data: JsonObject;
  readonly memory: ProgramMemory;
  readonly limits: Partial<Limits>;
  readonly tools: readonly ToolFace[];
  /** True: all code runs on the machine. Tests use it to show that both tiers agree. */
  readonly forced?: boolean;
}

/** Recursion over a value never goes deeper than this, even if the limit is higher. */
const MAX_WALK = 2_000;

/** A new context. */
export function newContext(limits: Limits, data: Value, tools: readonly ToolFace[]): Context {
  const ctx: Context = {
    fuel: limits.fuel,
    reserve: 0,
    restartable: false,
    sliced: false,
    undo: [],
    limits,
    loopIterations: limits.loopIterations,
    maxNesting: Math.min(limits.depth, MAX_WALK),
    charge(units) {
      if ((ctx.fuel -= units) < 0) endSlice(ctx);
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
    records: newRecords(),
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
  return ctx;
}

/** The world in which the programs of a machine are linked. */
export function worldOf(tools: readonly ToolFace[], names: readonly string[]): World {
  return { tools, memory: names, asking: true };
}

/** A machine for a checked program (I1, I2). */
export function startMachine(program: Program, input: MachineInput): Machine {
  const limits = limitsFrom(input.limits);
  const names = Object.keys(input.memory.bindings).toSorted();
  const world = worldOf(input.tools, names);
  const linked = linkProgram(program, world);
  const sources = new Map<string, Linked>([[program.id, linked]]);
  const ctx = newContext(limits, fromJson(input.data), input.tools);
  linkReadable(input.memory.sources, world, sources);
  const before = readMemory(input.memory, sources);
  return assembleMachine({
    linked,
    sources,
    ctx,
    before,
    names,
    tools: input.tools,
    forced: input.forced ?? false,
  });
}

/** The parts of a new machine. */
export type MachineParts = Pick<
  Machine,
  'linked' | 'sources' | 'ctx' | 'before' | 'names' | 'tools' | 'forced'
>;

/** A machine at the start of its program. */
export function assembleMachine(parts: MachineParts): Machine {
  const { ctx, before, forced } = parts;
  const globals = new Map(before.globals);
  for (const [index, name] of ['*1', '*2', '*3'].entries()) {
    globals.set(name, before.history[index] ?? null);
  }
  const stack = newStack(ctx, forced);
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
    records: newRecords(before.journal),
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
      perform: (fn, args, span) => performEffect(m, branch, fn, { args, span }),
      define: (name, value) => define(ctx, branch, name, value),
    }),
  };
  stack.host = m.hostOf(main);
  return m;
}
