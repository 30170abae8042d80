/**
 * Snapshots: a machine that waits, as JSON, and back.
 *
 * S1. Frames name code by program and offset and give the address of the next instruction; the
 *     same source in the same world compiles to the same addresses.
 * S2. One heap serves the whole snapshot, so what branches, frames and memory share is written once.
 * S3. Nothing that can be made again from source is written: no instructions, no compiled code.
 */
import { newSteps, type Builtin, type Steps } from '../builtins/builtin.ts';
import type { FnCode } from '../code/code.ts';
import { emptyObject, isObject, type Json, type JsonObject } from '../json/json.ts';
import { limitsFrom, type Limits } from '../limits.ts';
import { Fault } from '../problem.ts';
import type { Linked } from '../program.ts';
import type { Span } from '../source.ts';
import type { Combinator, Value } from '../value/value.ts';
import { EMPTY_MEMORY, type Coded } from './coded.ts';
import type { Records, ToolFace } from './context.ts';
import { newDecoder, unreadable } from './decode.ts';
import { codePlace, newEncoder, type Encoder } from './encode.ts';
import { instructionsOf } from './instructions.ts';
import { assembleMachine, newContext, startMachine, worldOf } from './machine.ts';
import { codeFinder, linkSources, sourcesOf } from './memory.ts';
import { newStack } from './run.ts';
import type { Branch, Effect, Frame, Machine, Outcome, Parallel } from './state.ts';

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
  use(m.c.data);
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

/** The machine as plain JSON. Linear in what is reachable. */
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
    limits: m.c.limits,
    fuel: m.c.fuel,
    forced: m.forced,
    names: m.names,
    tools: usedTools(m.tools, sources),
    data: w.encode(m.c.data),
    before,
    main: saveBranch(w, m.main),
    form: m.form,
    previews: m.previews,
    last: w.encode(m.last),
    effects: [...m.effects.values()].map((effect) => saveEffect(w, effect)),
    queue: m.queue,
    open: m.open,
    toolCalls: m.toolCalls,
    noteCount: m.c.noteCount,
    outcome: m.outcome === null ? null : ended(m.outcome),
    heap: w.heap,
    sources,
  };
}

/** A machine that ended keeps only how; its value was handed over with the outcome. */
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

/** Tools that some source may name; the others cannot be called. */
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
    parallel: parallel === null ? null : saveParallel(w, parallel),
  };
}

function saveFrame(w: Encoder, frame: Frame): Json {
  if (frame.kind === 'code') {
    const L: Json[] = [];
    for (const [slot, value] of frame.L.entries()) {
      if (value !== undefined) L.push([slot, w.encode(value)]);
    }
    return { code: codePlace(frame.code), pc: frame.pc, L, span: spanJson(frame.span) };
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

/** The machine of a snapshot. Never throws: one that cannot be continued ends with `snapshot_version`. */
export function restore(saved: MachineSnapshot): Machine {
  try {
    return load(saved);
  } catch (thrown) {
    const fault = thrown instanceof Fault ? thrown : unreadable('it is damaged');
    const program = { id: 'l1:', source: '', forms: [], definitions: new Map() };
    const m = startMachine(program, { data: {}, memory: EMPTY_MEMORY, limits: {}, tools: [] });
    m.faults.push({ branch: m.main, fault });
    return m;
  }
}

function load(saved: MachineSnapshot): Machine {
  if (saved.v !== 1) throw unreadable(`its version is ${String(saved.v)}`);
  const tools = saved.tools.map(({ name, schema }) => ({ name, schema, description: '' }));
  const sources = new Map<string, Linked>();
  linkSources(saved.sources, worldOf(tools, saved.names), sources);
  const linked = sources.get(saved.program);
  if (linked === undefined) throw unreadable('its program is missing');
  const r: Loader = { decode: newDecoder(saved.heap, codeFinder(sources)), sources };
  const c = newContext(limitsFrom(saved.limits), r.decode(saved.data), tools);
  c.fuel = saved.fuel;
  c.noteCount = saved.noteCount;
  const before = objectOf(saved.before);
  const m = assembleMachine({
    linked,
    sources,
    c,
    names: saved.names,
    tools,
    forced: saved.forced,
    before: {
      globals: valueMap(r, before['globals']),
      history: listOf(before['history']).map(r.decode),
      journal: valueMap(r, before['journal']),
      plan: textMap(before['plan']),
    },
  });
  loadBranch(r, m.main, objectOf(saved.main));
  m.form = saved.form;
  m.previews.push(...saved.previews);
  m.last = r.decode(saved.last);
  for (const effect of saved.effects) loadEffect(r, m, objectOf(effect));
  m.queue.push(...saved.queue);
  m.open = saved.open;
  m.toolCalls = saved.toolCalls;
  if (saved.outcome !== null) m.faults.push({ branch: m.main, fault: unreadable('it has ended') });
  return m;
}

interface Loader {
  readonly decode: (coded: Coded) => Value;
  readonly sources: ReadonlyMap<string, Linked>;
}

function objectOf(json: Json | undefined): JsonObject {
  if (isObject(json)) return json;
  throw unreadable('a part is missing');
}

function listOf(json: Json | undefined): readonly Json[] {
  if (Array.isArray(json)) return json as readonly Json[];
  throw unreadable('a part is missing');
}

function valueMap(r: Loader, json: Json | undefined): Map<string, Value> {
  const map = new Map<string, Value>();
  for (const pair of listOf(json)) {
    const [name = '', coded = null] = listOf(pair);
    map.set(String(name), r.decode(coded));
  }
  return map;
}

function textMap(json: Json | undefined): Map<string, string> {
  return new Map(
    listOf(json).map((pair) => listOf(pair).map(String) as unknown as readonly [string, string]),
  );
}

function spanOf(json: Json | undefined): Span | null {
  if (json === null || json === undefined) return null;
  const [start = 0, end = 0, line = 1, column = 1] = listOf(json).map(Number);
  return { start, end, line, column };
}

function codeOf(r: Loader, json: Json | undefined): FnCode {
  const [programId, offset] = listOf(json);
  const code = r.sources.get(String(programId))?.codes.get(Number(offset));
  if (code === undefined) throw unreadable('a function is not in its program');
  return code;
}

function loadBranch(r: Loader, branch: Branch, saved: JsonObject): void {
  const { stack } = branch;
  branch.state = saved['state'] as Branch['state'];
  branch.effects = Number(saved['effects']);
  branch.waitsFor = saved['waitsFor'] as string | null;
  branch.depth = Number(saved['depth']);
  stack.stopped = branch.state === 'waiting';
  if (saved['globals'] !== null) branch.globals = valueMap(r, saved['globals']);
  loadRecords(r, branch.records, objectOf(saved['records']));
  stack.values.push(...listOf(saved['values']).map(r.decode));
  for (const frame of listOf(saved['frames']))
    stack.frames.push(loadFrame(r, branch, objectOf(frame)));
  for (const attempt of listOf(saved['attempts'])) {
    const [frames = 0, values = 0, pc = 0] = listOf(attempt).map(Number);
    stack.attempts.push({ frames, values, pc });
  }
  if (saved['parallel'] !== null)
    branch.parallel = loadParallel(r, branch, objectOf(saved['parallel']));
}

function loadRecords(r: Loader, records: Records, saved: JsonObject): void {
  records.notes.push(...listOf(saved['notes']).map(String));
  records.droppedNotes = Number(saved['dropped']);
  records.journal.clear();
  for (const [id, value] of valueMap(r, saved['journal'])) records.journal.set(id, value);
  for (const pair of listOf(saved['changes'])) {
    const [id = '', kept = false] = listOf(pair);
    records.journalChanges.set(
      String(id),
      kept === true ? records.journal.get(String(id)) : undefined,
    );
  }
  for (const [id, text] of textMap(saved['plan'])) records.plan.set(id, text);
}

function loadFrame(r: Loader, branch: Branch, saved: JsonObject): Frame {
  const span = spanOf(saved['span']);
  if (saved['code'] !== undefined) {
    const code = codeOf(r, saved['code']);
    const L = new Array<Value>(code.slots);
    for (const pair of listOf(saved['L'])) {
      const [slot = 0, coded = null] = listOf(pair);
      L[Number(slot)] = r.decode(coded);
    }
    const ops = instructionsOf(branch.stack, code);
    const pc = Number(saved['pc']);
    if (!(pc >= 0 && pc <= ops.length)) throw unreadable('an address is outside its function');
    return { kind: 'code', code, ops, pc, L, span };
  }
  const steps: Steps = newSteps();
  steps.at = Number(saved['at']);
  steps.phase = Number(saved['phase']);
  steps.fn = r.decode(saved['call'] ?? null);
  steps.items = listOf(saved['items']).map(r.decode);
  steps.out = listOf(saved['out']).map(r.decode);
  steps.acc = r.decode(saved['acc'] ?? null);
  const extra = saved['extra'];
  if (isObject(extra)) {
    steps.extra =
      extra['l'] === undefined ? r.decode(extra['one'] ?? null) : listOf(extra['l']).map(r.decode);
  }
  const fn = r.decode(saved['fn'] ?? null) as Builtin | Combinator;
  if (span === null) throw unreadable('a place is missing');
  return { kind: 'steps', fn, steps, span };
}

function loadParallel(r: Loader, branch: Branch, saved: JsonObject): Parallel {
  const span = spanOf(saved['span']);
  if (span === null) throw unreadable('a place is missing');
  const parallel: Parallel = {
    form: saved['form'] as Parallel['form'],
    path: String(saved['path']),
    span,
    calls: listOf(saved['calls']).map((call) => {
      const [fn = null, args = []] = listOf(call);
      return { fn: r.decode(fn), args: listOf(args).map(r.decode) };
    }),
    next: Number(saved['next']),
    branches: [],
    results: listOf(saved['results']).map((result) =>
      result === null ? undefined : r.decode(listOf(result)[0] ?? null),
    ),
    failure: saved['failure'] as Parallel['failure'],
  };
  branch.parallel = parallel;
  for (const child of listOf(saved['branches'])) {
    parallel.branches.push(child === null ? null : newChild(r, branch, objectOf(child)));
  }
  return parallel;
}

function newChild(r: Loader, parent: Branch, saved: JsonObject): Branch {
  const stack = newStack(parent.stack.c, parent.stack.forced, parent.stack.perform);
  const records: Records = {
    notes: [],
    droppedNotes: 0,
    journal: new Map(),
    journalChanges: new Map(),
    plan: new Map(),
  };
  const child: Branch = {
    path: String(saved['path']),
    parent,
    index: Number(saved['index']),
    stack,
    state: 'ready',
    effects: 0,
    waitsFor: null,
    parallel: null,
    globals: parent.globals,
    records,
    depth: 0,
  };
  stack.branch = child;
  loadBranch(r, child, saved);
  return child;
}

function loadEffect(r: Loader, m: Machine, saved: JsonObject): void {
  const state = saved['state'] as Effect['state'];
  const since = Number(saved['since']);
  if (saved['request'] === undefined) {
    const id = String(saved['id']);
    const span = spanOf(saved['span']) ?? m.c.at;
    const name = String(saved['name']);
    // What is over needs no more than its name.
    const request: Effect['request'] = { id, kind: 'tool', name, args: emptyObject(), span };
    m.effects.set(id, { request, branch: '', state, since, options: [], fallback: undefined });
    return;
  }
  const request = saved['request'] as unknown as Effect['request'];
  const fallback = saved['fallback'];
  m.effects.set(request.id, {
    request,
    branch: String(saved['branch']),
    state,
    since,
    options: listOf(saved['options']).map(r.decode),
    fallback: fallback === null ? undefined : r.decode(listOf(fallback)[0] ?? null),
  });
}
