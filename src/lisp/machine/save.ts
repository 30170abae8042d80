/**
 * Snapshots: a waiting machine as JSON.
 *
 * I1  A frame names its code by program and offset, and the address of its next instruction. The
 *     same source in the same world compiles to the same addresses.
 * I2  A snapshot has one heap, so values shared by branches, frames and memory are written once.
 * I3  Nothing that can be made again from source is written: no instructions, no compiled code.
 */
import type { Frame } from '../code/code.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Limits } from '../base/limits.ts';
import type { Span } from '../base/source.ts';
import type { Value } from '../value/value.ts';
import type { Coded } from './coded.ts';
import { fuelLeft, type Records, type ToolFace } from '../value/context.ts';
import { takeAll } from '../builtins/arguments/seqable.ts';
import { codePlace, newEncoder, type Encoder } from './encode.ts';
import { sourcesOf } from './memory.ts';
import type { Branch, Effect, Machine, Outcome, Parallel } from './state.ts';

/** A machine as plain JSON. */
export interface MachineSnapshot {
  readonly v: 1;
  readonly program: string;
  readonly limits: Limits;
  readonly fuel: number;
  readonly forced: boolean;
  readonly names: readonly string[];
  readonly tools: readonly { readonly name: string; readonly schema: JsonObject }[];
  readonly data: Coded;
  readonly before: Json;
  readonly main: Json;
  readonly form: number;
  readonly previews: readonly string[];
  readonly last: Coded;
  readonly effects: readonly Json[];
  readonly queue: readonly string[];
  readonly open: number;
  readonly toolCalls: number;
  readonly noteCount: number;
  readonly outcome: Json;
  readonly heap: readonly Coded[];
  readonly sources: { readonly [codeId: string]: string };
}

/** Calls `use` with every value of a machine. */
function visitMachine(m: Machine, use: (value: Value) => void): void {
  use(m.ctx.data);
  use(m.last);
  for (const value of m.before.globals.values()) use(value);
  for (const value of m.before.history) use(value);
  for (const value of m.before.journal.values()) use(value);
  for (const effect of m.effects.values()) {
    if (effect.state === 'done' || effect.state === 'failed' || effect.state === 'abandoned')
      continue;
    effect.options.forEach(use);
    if (effect.fallback !== undefined) use(effect.fallback);
  }
  visitBranch(m.main, use);
}

function visitBranch(branch: Branch, use: (value: Value) => void): void {
  if (branch.parent === null || branch.globals !== branch.parent.globals) {
    for (const value of branch.globals.values()) use(value);
  }
  for (const value of branch.records.journal.values()) use(value);
  for (const value of branch.stack.values) use(value);
  for (const frame of branch.stack.frames) {
    if (frame.kind === 'code') {
      for (const value of frame.L) if (value !== undefined) use(value);
      continue;
    }
    const { fn, steps } = frame;
    takeAll(steps);
    use(fn);
    use(steps.fn);
    use(steps.acc);
    steps.items.forEach(use);
    steps.out.forEach(use);
    if (Array.isArray(steps.extra)) steps.extra.forEach(use);
    else if (steps.extra !== undefined) use(steps.extra);
  }
  const { parallel } = branch;
  if (parallel === null) return;
  for (const call of parallel.calls) {
    use(call.fn);
    call.args.forEach(use);
  }
  for (const result of parallel.results) if (result !== undefined) use(result);
  for (const child of parallel.branches)
    if (child !== null && child !== undefined) visitBranch(child, use);
}

/** The machine as plain JSON. Linear in the size of its reachable values. */
export function snapshot(machine: Machine): MachineSnapshot {
  const m = machine;
  const roots: Value[] = [];
  const programs = new Set<string>([m.linked.program.id]);
  visitMachine(m, (value) => roots.push(value));
  const w = newEncoder(roots);
  for (const id of w.programs) programs.add(id);
  framePrograms(m.main, programs);
  const sources = sourcesOf(programs, m.sources);
  const before: Json = {
    globals: codedMap(w, m.before.globals),
    history: m.before.history.map(w.encode),
    journal: codedMap(w, m.before.journal),
    plan: [...m.before.plan],
  };
  return {
    v: 1,
    program: m.linked.program.id,
    limits: m.ctx.limits,
    fuel: fuelLeft(m.ctx),
    forced: m.forced,
    names: m.names,
    tools: usedTools(m.tools, sources),
    data: w.encode(m.ctx.data),
    before,
    main: saveBranch(w, m.main),
    form: m.form,
    previews: m.previews,
    last: w.encode(m.last),
    effects: [...m.effects.values()].map((effect) => saveEffect(w, effect)),
    queue: m.queue,
    open: m.open,
    toolCalls: m.toolCalls,
    noteCount: m.ctx.noteCount,
    outcome: m.outcome === null ? null : ended(m.outcome),
    heap: w.heap,
    sources,
  };
}

/** The kind of the outcome. Its value is not saved, since the host already has it. */
function ended(outcome: Outcome): Json {
  return outcome.kind;
}

function framePrograms(branch: Branch, programs: Set<string>): void {
  for (const frame of branch.stack.frames) {
    if (frame.kind === 'code') programs.add(frame.code.programId);
  }
  for (const child of branch.parallel?.branches ?? []) {
    if (child !== null && child !== undefined) framePrograms(child, programs);
  }
}

/** The tools that a source names; no other tool can be called. */
function usedTools(
  tools: readonly ToolFace[],
  sources: { readonly [id: string]: string },
): MachineSnapshot['tools'] {
  const texts = Object.values(sources);
  const isNamed = (name: string): boolean =>
    texts.some((text) => text.includes(name) || text.includes(name.replaceAll('_', '-')));
  return tools.filter(({ name }) => isNamed(name)).map(({ name, schema }) => ({ name, schema }));
}

function codedMap(w: Encoder, map: ReadonlyMap<string, Value>): Json {
  return [...map].map(([name, value]) => [name, w.encode(value)]);
}

function saveRecords(w: Encoder, records: Records): Json {
  return {
    notes: [...records.notes],
    dropped: records.droppedNotes,
    journal: codedMap(w, records.journal),
    changes: [...records.journalChanges].map(([id, value]) => [id, value !== undefined]),
    plan: [...records.plan],
  };
}

function saveBranch(w: Encoder, branch: Branch): Json {
  const { stack, parallel, parent } = branch;
  const shared = parent !== null && parent.globals === branch.globals;
  return {
    path: branch.path,
    index: branch.index,
    state: branch.state,
    effects: branch.effects,
    waitsFor: branch.waitsFor,
    depth: branch.depth,
    globals: shared ? null : codedMap(w, branch.globals),
    records: saveRecords(w, branch.records),
    values: stack.values.map(w.encode),
    frames: stack.frames.map((frame) => saveFrame(w, frame)),
    attempts: stack.attempts.map(({ frames, values, pc }) => [frames, values, pc]),
    ...(stack.slow === Infinity ? {} : { slow: stack.slow }),
    parallel: parallel === null ? null : saveParallel(w, parallel),
  };
}

function saveFrame(w: Encoder, frame: Frame): Json {
  if (frame.kind === 'code') {
    const L: Json[] = [];
    for (const [slot, value] of frame.L.entries()) {
      if (value !== undefined) L.push([slot, w.encode(value)]);
    }
    const part = frame.part < 0 ? {} : { part: frame.part };
    return { code: codePlace(frame.code), pc: frame.pc, L, span: spanJson(frame.span), ...part };
  }
  const { steps } = frame;
  const list = (items: readonly Value[]): Json => items.map(w.encode);
  const extra: Json = Array.isArray(steps.extra)
    ? { l: list(steps.extra) }
    : steps.extra === undefined
      ? null
      : { one: w.encode(steps.extra) };
  return {
    fn: w.encode(frame.fn),
    span: spanJson(frame.span),
    at: steps.at,
    phase: steps.phase,
    call: w.encode(steps.fn),
    items: list(steps.items),
    out: list(steps.out),
    acc: w.encode(steps.acc),
    extra,
  };
}

function spanJson(span: Span | null): Json {
  return span === null ? null : [span.start, span.end, span.line, span.column];
}

function saveParallel(w: Encoder, parallel: Parallel): Json {
  const { form, path, span, calls, next, branches, results, failure } = parallel;
  return {
    form,
    path,
    span: spanJson(span),
    calls: calls.map((call) => [w.encode(call.fn), call.args.map(w.encode)]),
    next,
    branches: branches.map((child) => (child === null ? null : saveBranch(w, child))),
    results: Array.from(results, (value) => (value === undefined ? null : [w.encode(value)])),
    failure: failure === null ? null : { ...failure },
  };
}

function saveEffect(w: Encoder, effect: Effect): Json {
  const { request, branch, state, since, options, fallback } = effect;
  if (state === 'done' || state === 'failed' || state === 'abandoned') {
    const { id, kind, span } = request;
    const name = kind === 'tool' ? request.name : kind;
    return { id, kind, name, span: spanJson(span), state, since };
  }
  return {
    request: request as unknown as Json,
    branch,
    state,
    since,
    options: options.map(w.encode),
    fallback: fallback === undefined ? null : [w.encode(fallback)],
  };
}
