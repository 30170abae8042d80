/**
 * Compiles the core tree of a function to instructions of the machine.
 *
 * I1  Deterministic: the same source gives the same addresses, so a snapshot keeps addresses only.
 * I2  A node that can never reach an effect becomes one `run` of compiled code. A loop that can
 *     reach one only through its calls is first tried as compiled code (`try`).
 * I3  With `forced` there is no `run` and no `try`. The machine uses such code when compiled code
 *     is nested too deep; tests use it to show that both tiers agree.
 * I4  Operands are evaluated left to right; leaves are read by the instruction that uses them.
 */
import type { FnCode, Node, NodeOf } from '../ast/core-ast.ts';
import { childrenOf, isLeaf } from '../ast/node-parts.ts';
import type { Acts, Instruction, LeafNode, Op } from './code.ts';
import { demandsOf } from './effects.ts';

interface Emitter {
  readonly code: Instruction[];
  readonly forced: boolean;
  readonly acts: Acts;
}

/** The instructions of a function (I1). */
export function compileInstructions(
  code: FnCode,
  forced: boolean,
  acts: Acts,
): readonly Instruction[] {
  const e: Emitter = { code: [], forced, acts };
  emitReturn(e, code.body, code.offset < 0);
  return e.code;
}

/** The instructions of a node alone, without compiled code; they end by returning its value. */
export function compileParts(node: Node, acts: Acts): readonly Instruction[] {
  const e: Emitter = { code: [], forced: true, acts };
  emitReturn(e, node, false);
  return e.code;
}

function emit(
  e: Emitter,
  op: Op,
  node: Node,
  more: { a?: number; cost?: number; leaves?: readonly (LeafNode | null)[] } = {},
): Instruction {
  const { a = 0, cost = 0, leaves = [] } = more;
  const instruction: Instruction = {
    op,
    a,
    cost,
    node,
    leaves,
    act: e.acts[op],
    run: null,
    parts: null,
    demands: null,
    bound: null,
    targets: [],
  };
  e.code.push(instruction);
  return instruction;
}

/** Emits code that pushes the operands that are not leaves. Returns the leaves (I4). */
function emitOperands(e: Emitter, nodes: readonly Node[]): readonly (LeafNode | null)[] {
  return nodes.map((node) => {
    if (isLeaf(node)) return node;
    emitValue(e, node);
    return null;
  });
}

function here(e: Emitter): number {
  return e.code.length;
}

/** Emits a function body: its value is returned. */
function emitReturn(e: Emitter, body: Node, top: boolean): void {
  if (top && !e.forced) {
    const attempt = emit(e, 'try', body);
    emitParts(e, body);
    attempt.a = here(e);
  } else emitValue(e, body);
  emit(e, 'return', body, { leaves: [null] });
}

/** Emits code that pushes the value of `node`. */
function emitValue(e: Emitter, node: Node): void {
  if (!e.forced && !isLeaf(node) && node.kind !== 'global' && node.kind !== 'recur') {
    const { never, list } = demandsOf(node);
    if (!never && list.length === 0 && !jumpsOut(node)) {
      emit(e, 'run', node);
      return;
    }
    if (!never && (node.kind === 'loop' || node.kind === 'for')) {
      const attempt = emit(e, 'try', node);
      emitParts(e, node);
      attempt.a = here(e);
      return;
    }
  }
  emitParts(e, node);
}

/** Whether `node` contains a `recur` to a loop around it; compiled code could not jump there. */
function jumpsOut(node: Node): boolean {
  if (node.kind === 'recur') return true;
  if (node.kind === 'loop') return node.inits.some((init) => jumpsOut(init.value));
  return childrenOf(node).some(jumpsOut);
}

/** Emits `node` as instructions of its own, with no compiled code for the whole of it. */
function emitParts(e: Emitter, node: Node): void {
  switch (node.kind) {
    case 'const':
    case 'local':
      emit(e, 'leaf', node, { cost: 1, leaves: [node] });
      return;
    case 'global':
    case 'data':
    case 'fn':
      emit(e, node.kind, node, { cost: node.cost });
      return;
    case 'if':
      return emitIf(e, node);
    case 'do':
      return emitDo(e, node);
    case 'let':
      emitInits(e, node);
      return emitValue(e, node.body);
    case 'loop':
      return emitLoop(e, node);
    case 'recur':
      // `backpatch` sets the address of a loop; a function begins at 0.
      emitOperator(e, 'recur', node, node.args);
      return;
    case 'call':
      emitOperator(e, 'call', node, [node.fn, ...node.args]);
      return;
    case 'builtin':
      emitOperator(e, 'builtin', node, node.args);
      return;
    case 'vector':
    case 'map':
    case 'set':
      emitOperator(e, node.kind === 'set' ? 'set-literal' : node.kind, node, node.items);
      return;
    case 'def':
      return emitDef(e, node);
    case 'and':
    case 'or':
      return emitLogic(e, node);
    case 'case':
      return emitCase(e, node);
    case 'for':
      return emitFor(e, node);
    case 'attempt':
      return emitEnclosed(e, emit(e, 'attempt', node, { cost: node.cost }), node.body, 'attempted');
    case 'task':
      return emitEnclosed(e, emitOperator(e, 'task', node, [node.id]), node.body, 'done');
    case 'part':
      emitOperator(e, 'part', node, [node.source]);
      return;
  }
}

/** Emits the operands of `node` and then the instruction that uses them. */
function emitOperator(e: Emitter, op: Op, node: Node, operands: readonly Node[]): Instruction {
  const leaves = emitOperands(e, operands);
  return emit(e, op, node, { cost: node.cost, leaves });
}

/** Emits `body` between `start`, which is given the address after it, and `end`. */
function emitEnclosed(e: Emitter, start: Instruction, body: Node, end: Op): void {
  emitValue(e, body);
  emit(e, end, start.node, { leaves: [null] });
  start.a = here(e);
}

function emitDo(e: Emitter, node: NodeOf<'do'>): void {
  for (const [index, item] of node.body.entries()) {
    emitValue(e, item);
    if (index < node.body.length - 1) emit(e, 'drop', item);
  }
}

function emitLoop(e: Emitter, node: NodeOf<'loop'>): void {
  emitInits(e, node);
  const start = emit(e, 'enter', node, { a: node.counter });
  const from = here(e);
  emitValue(e, node.body);
  backpatch(e, start, from);
}

function emitDef(e: Emitter, node: NodeOf<'def'>): void {
  const once = node.once ? emit(e, 'defonce', node) : null;
  emitOperator(e, 'def', node, [node.value]);
  if (once !== null) once.a = here(e);
}

function emitLogic(e: Emitter, node: NodeOf<'and' | 'or'>): void {
  const jumps: Instruction[] = [];
  for (const [index, item] of node.items.entries()) {
    if (index === node.items.length - 1) emitValue(e, item);
    else {
      const leaves = emitOperands(e, [item]);
      const cost = 1 + (leaves[0] === null ? 0 : 1);
      jumps.push(emit(e, node.kind, node, { cost, leaves }));
    }
  }
  for (const jump of jumps) jump.a = here(e);
}

function emitCase(e: Emitter, node: NodeOf<'case'>): void {
  const choice = emitOperator(e, 'case', node, [node.value]);
  const ends: Instruction[] = [];
  for (const clause of node.clauses) {
    choice.targets.push(here(e));
    emitValue(e, clause.body);
    ends.push(emit(e, 'jump', node));
  }
  choice.a = node.otherwise === null ? -1 : here(e);
  if (node.otherwise !== null) emitValue(e, node.otherwise);
  for (const end of ends) end.a = here(e);
}

function emitIf(e: Emitter, node: NodeOf<'if'>): void {
  const leaves = emitOperands(e, [node.test]);
  const skip = emit(e, 'unless', node, { cost: node.cost, leaves });
  emitValue(e, node.chosen);
  const end = emit(e, 'jump', node);
  skip.a = here(e);
  emitValue(e, node.otherwise);
  end.a = here(e);
}

function emitInits(e: Emitter, node: NodeOf<'let' | 'loop'>): void {
  for (const init of node.inits) {
    const leaves = emitOperands(e, [init.value]);
    emit(e, 'set', init.value, { a: init.slot, cost: init.cost, leaves });
  }
}

/** Sets the address of every `recur` of the loop that was just emitted. */
function backpatch(e: Emitter, start: Instruction, from: number): void {
  for (const instruction of e.code.slice(from)) {
    const { node } = instruction;
    if (instruction.op !== 'recur' || node.kind !== 'recur' || node.ofFn) continue;
    if (node.counter === start.a) instruction.a = from;
  }
}

function emitFor(e: Emitter, node: NodeOf<'for'>): void {
  emit(e, 'gather', node, { cost: node.cost, a: node.gather });
  emitLevel(e, node, 0);
  emit(e, 'gathered', node, { a: node.gather });
}

function emitLevel(e: Emitter, node: NodeOf<'for'>, at: number): void {
  const level = node.levels[at];
  if (level === undefined) {
    const leaves = emitOperands(e, [node.body]);
    const cost = leaves[0] === null ? 0 : 1;
    emit(e, 'keep', node, { a: node.gather, leaves, cost });
    return;
  }
  const leaves = emitOperands(e, [level.source]);
  const cost = leaves[0] === null ? 0 : 1;
  const walk = emit(e, 'walk', node, { a: at, leaves, cost });
  const again = here(e);
  const next = emit(e, 'next', node);
  next.targets.push(at);
  const stops: Instruction[] = [];
  for (const modifier of level.modifiers) {
    if (modifier.kind === 'let') {
      const operands = emitOperands(e, [modifier.init.value]);
      emit(e, 'set', modifier.init.value, {
        a: modifier.init.slot,
        cost: modifier.init.cost,
        leaves: operands,
      });
      continue;
    }
    const operands = emitOperands(e, [modifier.test]);
    const skip = emit(e, 'unless', modifier.test, { cost: modifier.cost, leaves: operands });
    if (modifier.kind === 'when') skip.a = again;
    else stops.push(skip);
  }
  emitLevel(e, node, at + 1);
  emit(e, 'jump', walk.node, { a: again });
  next.a = here(e);
  for (const stop of stops) stop.a = here(e);
}
