/**
 * Runs a program until it waits or ends.
 *
 * I1  `advance` is deterministic: the same machine and tick give the same requests and outcome.
 * I2  Branches run in input order; results are delivered before anything runs.
 * I3  A program ends once, with one outcome. Its open effects are then abandoned.
 * I4  A program that fails leaves the definitions as they were; the journal of `task` is kept.
 * I5  Nothing is thrown to the host: our own bugs become a `runtime_error` of the program.
 */
import { slots as newSlots } from '../value/slots.ts';
import { fromJson } from '../json/to-json.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { defined } from '../base/defined.ts';
import { Fault, isStop, ProgramExit, type LispError } from '../base/problem.ts';
import { NO_SPAN } from '../base/source.ts';
import { mapOf } from '../value/tree.ts';
import { keyword, UNMETERED, type Value } from '../value/value.ts';
import { printValue } from '../value/print.ts';
import { callValue } from './call.ts';
import { abandonEffect, openRequests, receive } from './effect.ts';
import { writeMemory } from './memory.ts';
import { absorbAll, tendParallel } from './parallel.ts';
import { runStack, traceOf } from './run.ts';
import type { Branch, EffectRequest, EffectResult, Machine, Outcome } from './state.ts';
import { instructionsOf } from './instructions.ts';
import { beginSlice } from './slice.ts';
import { fuelLeft } from '../value/context.ts';

/** What the host gives to the machine: the time, the budget and results of requests. */
export interface Tick {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: JsonObject;
  readonly results: readonly EffectResult[];
}

/** A program after it ran: it waits for results, or it has ended. */
export type Advance =
  | {
      readonly kind: 'blocked';
      readonly machine: Machine;
      /** New ones only. */
      readonly requests: readonly EffectRequest[];
      /** Effects to cancel. */
      readonly abandon: readonly string[];
    }
  | {
      readonly kind: 'finished';
      readonly machine: Machine;
      readonly outcome: Outcome;
      readonly abandon: readonly string[];
    };

/** Where a program stands when its slice has ended: it goes on with the next call. */
export interface Sliced {
  readonly kind: 'sliced';
  readonly machine: Machine;
  readonly requests: readonly EffectRequest[];
  readonly abandon: readonly string[];
}

/** Runs until every branch waits or the program ends. The caller must not use `machine` again. */
export function advance(machine: Machine, tick: Tick): Advance {
  const step = runTick(machine, tick, false);
  return step.kind === 'sliced' ? { ...step, kind: 'blocked' } : step;
}

/**
 * As {@link advance}, but stops after a slice of fuel. The host lets other work in, and calls again
 * with the results that have come by then. A program of version 1 has no slices.
 */
export function advanceSlice(machine: Machine, tick: Tick): Advance | Sliced {
  return runTick(machine, tick, true);
}

function runTick(m: Machine, tick: Tick, hasSlices: boolean): Advance | Sliced {
  m.ctx.now = tick.now;
  m.ctx.budget = tick.budget;
  beginSlice(m.ctx, hasSlices);
  if (m.outcome === null) {
    try {
      for (const result of tick.results) deliver(m, result);
      runAll(m);
    } catch (thrown) {
      // An exception would fail the same workflow task forever. Its text depends on the engine.
      const internal = 'An internal fault of the language ended the program.';
      const fault = thrown instanceof Fault ? thrown : new Fault('runtime_error', internal);
      fault.span ??= m.ctx.at;
      endWith(m, fault);
    }
  }
  const abandon = m.abandon;
  m.abandon = [];
  if (m.outcome !== null) return { kind: 'finished', machine: m, outcome: m.outcome, abandon };
  openRequests(m);
  const { requests } = m;
  m.requests = [];
  return { kind: m.ctx.sliced ? 'sliced' : 'blocked', machine: m, requests, abandon };
}

/** Gives a result to the branch that waits for it; other results are ignored. */
function deliver(m: Machine, result: EffectResult): void {
  const effect = m.effects.get(result.id);
  if (effect === undefined || effect.state !== 'open') return;
  const branch = findBranch(m.main, effect.branch);
  if (branch === null || branch.waitsFor !== result.id) return;
  m.open -= 1;
  effect.state = result.ok ? 'done' : 'failed';
  branch.waitsFor = null;
  const received = receive(m, effect, result);
  if ('fault' in received) {
    m.faults.push({ branch, fault: received.fault });
    return;
  }
  branch.stack.values.push(received.value);
  wake(branch);
}

function wake(branch: Branch): void {
  branch.state = 'ready';
  branch.stack.stopped = false;
}

/** The branch at `path`, or null. */
function findBranch(from: Branch, path: string): Branch | null {
  if (from.path === path) return from;
  for (const child of from.parallel?.branches ?? []) {
    if (child === null || child === undefined || !path.startsWith(child.path)) continue;
    const found = findBranch(child, path);
    if (found !== null) return found;
  }
  return null;
}

/** The first branch, in input order, that can run. */
function firstReady(branch: Branch): Branch | null {
  if (branch.state === 'ready') return branch;
  for (const child of branch.parallel?.branches ?? []) {
    const found = child === null || child === undefined ? null : firstReady(child);
    if (found !== null) return found;
  }
  return null;
}

function runAll(m: Machine): void {
  while (m.outcome === null && !m.ctx.sliced) {
    const next = m.faults.shift();
    if (next !== undefined) {
      if (next.branch.state !== 'abandoned') {
        switchTo(m, next.branch);
        raise(m, next.branch, next.fault);
      }
      continue;
    }
    const branch = firstReady(m.main);
    if (branch !== null) runBranch(m, branch);
    else if (!tendParallel(m, m.main)) return;
  }
}

function switchTo(m: Machine, branch: Branch): void {
  const { ctx } = m;
  if (ctx.globals !== branch.globals) {
    ctx.globals = branch.globals;
    ctx.epoch = {};
    ctx.purity = {};
  }
  ctx.records = branch.records;
  ctx.depth = branch.depth;
  ctx.nesting = 0;
  ctx.waiting = 0;
  ctx.inside = branch.parent?.parallel?.form ?? null;
}

function runBranch(m: Machine, branch: Branch): void {
  switchTo(m, branch);
  const { stack } = branch;
  try {
    if (stack.frames.length === 0 && stack.values.length === 0) begin(m, branch);
    runStack(stack);
    branch.depth = m.ctx.depth;
    branch.globals = m.ctx.globals;
    const isInside = m.ctx.sliced && stack.frames.length > 0;
    if (!stack.stopped && !isInside) completed(m, branch);
  } catch (thrown) {
    branch.globals = m.ctx.globals;
    branch.depth = m.ctx.depth;
    if (thrown instanceof ProgramExit) {
      m.ctx.waiting = 0;
      finish(m, { kind: thrown.kind, value: thrown.value as Value });
      return;
    }
    if (!(thrown instanceof Fault)) throw thrown;
    raise(m, branch, thrown);
  }
}

/** Begins the next top-level form, or the call of a parallel branch. */
function begin(m: Machine, branch: Branch): void {
  const { stack } = branch;
  if (branch.parent === null) {
    const code = m.linked.forms[m.form];
    if (code === undefined) return;
    const ops = instructionsOf(stack, code);
    const L = newSlots<Value>(code.slots);
    stack.frames.push({ kind: 'code', code, ops, part: -1, pc: 0, L, span: null });
    return;
  }
  const parallel = branch.parent.parallel;
  const call = parallel?.calls[branch.index];
  if (parallel === null || parallel === undefined || call === undefined) return;
  callValue(stack, call.fn, [...call.args], parallel.span);
}

function completed(m: Machine, branch: Branch): void {
  const value = branch.stack.values.pop() ?? null;
  if (branch.parent === null) {
    m.last = value;
    if (m.form < m.linked.forms.length) {
      m.previews.push(printValue(value, 'preview', { total: 120, elements: 10, text: 60 }));
      m.form += 1;
    }
    if (m.form >= m.linked.forms.length) finish(m, { kind: 'value', value });
    return;
  }
  branch.state = 'done';
  const { parallel } = branch.parent;
  if (parallel !== null) parallel.results[branch.index] = value;
}

/** Raises a fault in a branch: an `attempt` catches it, or the branch or the program ends. */
function raise(m: Machine, branch: Branch, fault: Fault): void {
  const { ctx } = m;
  const { stack } = branch;
  fault.trace ??= traceOf(ctx, [], stack.frames);
  fault.span ??= ctx.at;
  if (isStop(fault.reason)) {
    endWith(m, fault);
    return;
  }
  const attempt = fault.recoverable ? stack.attempts.pop() : undefined;
  if (attempt !== undefined) {
    recover(m, branch, fault, attempt);
    return;
  }
  const { parent } = branch;
  const parallel = parent?.parallel ?? null;
  if (parent === null || parallel === null) {
    endWith(m, fault);
    return;
  }
  branch.state = 'failed';
  const details = fault.details ?? null;
  const { reason, message, recoverable } = fault;
  parallel.failure = { index: branch.index, reason, message, details, recoverable };
  for (const other of parallel.branches) {
    if (other !== null && other !== undefined && other.index > branch.index)
      abandonBranch(m, other);
  }
}

function recover(
  m: Machine,
  branch: Branch,
  fault: Fault,
  attempt: { frames: number; values: number; pc: number },
): void {
  const { stack } = branch;
  stack.frames.length = attempt.frames;
  branch.depth = depthOf(branch);
  m.ctx.depth = branch.depth;
  stack.values.length = attempt.values;
  const frame = stack.frames[stack.frames.length - 1];
  if (frame?.kind === 'code') frame.pc = attempt.pc;
  stack.values.push(mapOf([keyword('error')], [errorValue(fault)], UNMETERED));
  wake(branch);
}

/** Waiting calls in a branch and its parents, counted from the frames. */
function depthOf(branch: Branch): number {
  const own = branch.stack.frames.filter((frame) => frame.span !== null).length;
  return own + (branch.parent === null ? 0 : depthOf(branch.parent));
}

function errorValue(fault: Fault): Value {
  const keys = [keyword('message'), keyword('reason')];
  const vals: Value[] = [fault.message, keyword(fault.reason)];
  const details = fault.details ?? null;
  if (isJsonObject(details)) {
    for (const name of ['index', 'tool']) {
      const value = details[name];
      if (value === undefined) continue;
      keys.push(keyword(name));
      vals.push(fromJson(value));
    }
  }
  return mapOf(keys, vals, UNMETERED);
}

/** Ends a branch and the branches in it, and abandons their effects. */
function abandonBranch(m: Machine, branch: Branch): void {
  if (branch.state === 'done' || branch.state === 'failed') return;
  if (branch.waitsFor !== null) abandonEffect(m, branch.waitsFor);
  for (const child of branch.parallel?.branches ?? []) {
    if (child !== null && child !== undefined) abandonBranch(m, child);
  }
  branch.state = 'abandoned';
}

/** Ends the program with a fault. */
function endWith(m: Machine, fault: Fault): void {
  const lines = [fault.message, ...(fault.trace ?? [])];
  const error: LispError = defined({
    reason: fault.reason,
    phase: 'run' as const,
    message: lines.join('\n'),
    span: fault.span ?? NO_SPAN,
    details: fault.details,
  });
  finish(m, { kind: 'error', error });
}

type End =
  | { readonly kind: 'value' | 'returned' | 'failed'; readonly value: Value }
  | { readonly kind: 'error'; readonly error: LispError };

function finish(m: Machine, end: End): void {
  for (const effect of m.effects.keys()) abandonEffect(m, effect);
  absorbAll(m.main);
  const { records } = m.main;
  if (end.kind === 'error') {
    const memory = writeMemory({ ...m.before, journal: records.journal }, m.sources);
    m.outcome = { kind: 'error', error: end.error, memory };
    return;
  }
  const failed = end.kind === 'failed';
  const history =
    end.kind === 'value' ? [end.value, ...m.before.history].slice(0, 3) : m.before.history;
  const memory = writeMemory(
    {
      globals: failed ? m.before.globals : m.main.globals,
      history,
      journal: records.journal,
      plan: failed ? m.before.plan : new Map([...m.before.plan, ...records.plan]),
    },
    m.sources,
  );
  m.outcome = { kind: end.kind, value: end.value, memory };
}

/** Ends a program that the run cancels, and abandons its effects. */
export function cancelMachine(machine: Machine): Advance {
  return endedBy(machine, new Fault('canceled', 'The run was canceled.'));
}

/** Ends a program whose next step takes too long, and abandons its effects. */
export function overrunMachine(machine: Machine): Advance {
  return endedBy(machine, new Fault('time_exceeded', TOOK_TOO_LONG));
}

const TOOK_TOO_LONG =
  'a single step of the program took longer than a run may compute at once, three times.\nLook at less data at once, or let a tool do the heavy part.';

function endedBy(machine: Machine, fault: Fault): Advance {
  if (machine.outcome === null) endWith(machine, fault);
  return advance(machine, { now: machine.ctx.now, budget: machine.ctx.budget, results: [] });
}

/** The notes so far, in program order; a last line counts dropped ones. */
export function notesOf(machine: Machine): readonly string[] {
  const { notes, droppedNotes } = machine.main.records;
  if (droppedNotes === 0) return notes;
  return [...notes, `… ${droppedNotes} more notes were dropped.`];
}

/** Fuel used so far, at most the limit. */
export function fuelUsed(machine: Machine): number {
  const left = fuelLeft(machine.ctx);
  const { fuel } = machine.ctx.limits;
  return left < 0 ? fuel : fuel - left;
}
