/**
 * Restores machines from snapshots: the inverse of `save.ts`.
 *
 * I1  A snapshot may be damaged or of another version, so every shape is checked.
 * I2  Nothing is thrown to the host: the machine of a bad snapshot ends with `snapshot_version`.
 * I3  Code is linked again from the sources in the snapshot.
 */
import { slots as newSlots } from '../value/slots.ts';
import type { Frame } from '../code/code.ts';
import type { FnCode } from '../ast/core-ast.ts';
import { newSteps } from '../builtins/arguments/stepping.ts';
import { isJsonObject, textOfJson, type Json, type JsonObject } from '../base/json.ts';
import { limitsFrom } from '../base/limits.ts';
import { Fault } from '../base/problem.ts';
import type { Linked } from '../analyzer/program.ts';
import type { Span } from '../base/source.ts';
import type { Combinator, Value, Builtin, Steps } from '../value/value.ts';
import { EMPTY_MEMORY, type Coded } from './coded.ts';
import type { Records } from '../value/context.ts';
import { endedRequest, newDecoder, unreadable } from './decode.ts';
import { instructionsOf, partOps } from './instructions.ts';
import { codeFinder, linkSources } from './memory.ts';
import { newBranch } from './parallel.ts';
import type { MachineSnapshot } from './save.ts';
import { assembleMachine, newContext, startMachine, worldOf } from './start.ts';
import type { Branch, Effect, Machine, Parallel } from './state.ts';

/** The machine of a snapshot (I2). */
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
  if (saved.v !== 1) throw unreadable(`its version is ${JSON.stringify(saved.v ?? null)}`);
  const tools = saved.tools.map(({ name, schema }) => ({ name, schema, description: '' }));
  const sources = new Map<string, Linked>();
  linkSources(saved.sources, worldOf(tools, saved.names), sources);
  const linked = sources.get(saved.program);
  if (linked === undefined) throw unreadable('its program is missing');
  const r: Loader = {
    hostOf: () => {
      throw unreadable('a branch is out of place');
    },
    decode: newDecoder(saved.heap, codeFinder(sources)),
    sources,
  };
  const ctx = newContext(limitsFrom(saved.limits), r.decode(saved.data), tools);
  ctx.fuel = saved.fuel;
  ctx.noteCount = saved.noteCount;
  const before = objectOf(saved.before);
  const m = assembleMachine({
    linked,
    sources,
    ctx,
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
  r.hostOf = m.hostOf;
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
  hostOf: Machine['hostOf'];
}

function objectOf(json: Json | undefined): JsonObject {
  if (isJsonObject(json)) return json;
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
    map.set(textOfJson(name), r.decode(coded));
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
  const code = r.sources.get(textOfJson(programId))?.codes.get(Number(offset));
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
  if (saved['slow'] !== undefined) stack.slow = Number(saved['slow']);
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
      textOfJson(id),
      kept === true ? records.journal.get(textOfJson(id)) : undefined,
    );
  }
  for (const [id, text] of textMap(saved['plan'])) records.plan.set(id, text);
}

function loadFrame(r: Loader, branch: Branch, saved: JsonObject): Frame {
  const span = spanOf(saved['span']);
  if (saved['code'] !== undefined) {
    const code = codeOf(r, saved['code']);
    const L = newSlots<Value>(code.slots);
    for (const pair of listOf(saved['L'])) {
      const [slot = 0, coded = null] = listOf(pair);
      L[Number(slot)] = r.decode(coded);
    }
    const part = Number(saved['part'] ?? -1);
    const ops = part < 0 ? instructionsOf(branch.stack, code) : partOps(branch.stack, code, part);
    const pc = Number(saved['pc']);
    if (!(pc >= 0 && pc <= ops.length)) throw unreadable('an address is outside its function');
    return { kind: 'code', code, ops, part, pc, L, span };
  }
  const steps: Steps = newSteps();
  steps.at = Number(saved['at']);
  steps.phase = Number(saved['phase']);
  steps.fn = r.decode(saved['call'] ?? null);
  steps.items = listOf(saved['items']).map(r.decode);
  steps.out = listOf(saved['out']).map(r.decode);
  steps.acc = r.decode(saved['acc'] ?? null);
  const extra = saved['extra'];
  if (isJsonObject(extra)) {
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
    path: textOfJson(saved['path']),
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
    parallel.branches.push(child === null ? null : loadChild(r, branch, parallel, objectOf(child)));
  }
  return parallel;
}

function loadChild(r: Loader, parent: Branch, parallel: Parallel, saved: JsonObject): Branch {
  const child = newBranch(r.hostOf, parent, parallel, Number(saved['index']));
  loadBranch(r, child, saved);
  return child;
}

function loadEffect(r: Loader, m: Machine, saved: JsonObject): void {
  const state = saved['state'] as Effect['state'];
  const since = Number(saved['since']);
  if (saved['request'] === undefined) {
    const id = textOfJson(saved['id']);
    const span = spanOf(saved['span']) ?? m.ctx.at;
    const request = endedRequest(id, span, saved);
    m.effects.set(id, { request, branch: '', state, since, options: [], fallback: undefined });
    return;
  }
  const request = saved['request'] as unknown as Effect['request'];
  const fallback = saved['fallback'];
  m.effects.set(request.id, {
    request,
    branch: textOfJson(saved['branch']),
    state,
    since,
    options: listOf(saved['options']).map(r.decode),
    fallback: fallback === null ? undefined : r.decode(listOf(fallback)[0] ?? null),
  });
}
