/**
 * Core tree → instructions of the machine.
 *
 * What can never reach an effect becomes one `run` of compiled code; a loop that reaches one only
 * through what it calls is tried as compiled code first. With `forced` neither is used: that is how
 * the machine runs when compiled code is nested too deep, and how the equality of both tiers is
 * tested.
 */
import { childrenOf, isLeaf, type ForNode, type Node, type FnCode } from '../ast/core-ast.ts';
import type { Acts, Instruction, LeafNode, Op } from './code.ts';
import { demandsOf } from './effects.ts';

interface Emitter {
  readonly code: Instruction[];
  readonly forced: boolean;
  readonly acts: Acts;
}

/** The instructions of a function. Deterministic: the same source gives the same addresses. */
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

/** Emits what operands need on the stack; the leaves among them are read in place. */
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

/** Emits `body` so that its value ends the function. */
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

/** Whether `node` contains a `recur` to a loop outside it, which compiled code could not reach. */
function jumpsOut(node: Node): boolean {
  if (node.kind === 'recur') return true;
  if (node.kind === 'loop') return node.inits.some((init) => jumpsOut(init.value));
  return childrenOf(node).some(jumpsOut);
}

function emitParts(e: Emitter, node: Node): void {
  switch (node.kind) {
    case 'const':
    case 'local':
      emit(e, 'leaf', node, { cost: 1, leaves: [node] });
      return;
    case 'global':
      emit(e, 'global', node, { cost: node.cost });
      return;
    case 'data':
      emit(e, 'data', node, { cost: node.cost });
      return;
    case 'fn':
      emit(e, 'fn', node, { cost: node.cost });
      return;
    case 'if':
      emitIf(e, node.test, node.chosen, node.otherwise, node);
      return;
    case 'do':
      for (const [index, item] of node.body.entries()) {
        emitValue(e, item);
        if (index < node.body.length - 1) emit(e, 'drop', item);
      }
      return;
    case 'let':
      emitInits(e, node);
      emitValue(e, node.body);
      return;
    case 'loop': {
      emitInits(e, node);
      const start = emit(e, 'enter', node, { a: node.counter });
      const from = here(e);
      emitValue(e, node.body);
      backpatch(e, start, from);
      return;
    }
    case 'recur': {
      const leaves = emitOperands(e, node.args);
      // The address of a loop is filled in when it ends; a function begins at 0.
      emit(e, 'recur', node, { cost: node.cost, leaves, a: 0 });
      return;
    }
    case 'call': {
      const leaves = emitOperands(e, [node.fn, ...node.args]);
      emit(e, 'call', node, { cost: node.cost, leaves });
      return;
    }
    case 'builtin': {
      const leaves = emitOperands(e, node.args);
      emit(e, 'builtin', node, { cost: node.cost, leaves });
      return;
    }
    case 'vector':
    case 'map':
    case 'set': {
      const leaves = emitOperands(e, node.items);
      const op = node.kind === 'set' ? 'set-literal' : node.kind;
      emit(e, op, node, { cost: node.cost, leaves });
      return;
    }
    case 'def': {
      const once = node.once ? emit(e, 'defonce', node) : null;
      const leaves = emitOperands(e, [node.value]);
      emit(e, 'def', node, { cost: node.cost, leaves });
      if (once !== null) once.a = here(e);
      return;
    }
    case 'and':
    case 'or': {
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
      return;
    }
    case 'case': {
      const leaves = emitOperands(e, [node.value]);
      const choice = emit(e, 'case', node, { cost: node.cost, leaves });
      const ends: Instruction[] = [];
      for (const clause of node.clauses) {
        choice.targets.push(here(e));
        emitValue(e, clause.body);
        ends.push(emit(e, 'jump', node));
      }
      choice.a = node.otherwise === null ? -1 : here(e);
      if (node.otherwise !== null) emitValue(e, node.otherwise);
      for (const end of ends) end.a = here(e);
      return;
    }
    case 'for':
      emitFor(e, node);
      return;
    case 'attempt': {
      const start = emit(e, 'attempt', node, { cost: node.cost });
      emitValue(e, node.body);
      emit(e, 'attempted', node, { leaves: [null] });
      start.a = here(e);
      return;
    }
    case 'task': {
      const leaves = emitOperands(e, [node.id]);
      const start = emit(e, 'task', node, { cost: node.cost, leaves });
      emitValue(e, node.body);
      emit(e, 'done', node, { leaves: [null] });
      start.a = here(e);
      return;
    }
    case 'part': {
      const leaves = emitOperands(e, [node.source]);
      emit(e, 'part', node, { cost: node.cost, leaves });
      return;
    }
  }
}

function emitIf(e: Emitter, test: Node, then: Node, otherwise: Node, node: Node): void {
  const leaves = emitOperands(e, [test]);
  const skip = emit(e, 'unless', node, { cost: node.cost, leaves });
  emitValue(e, then);
  const end = emit(e, 'jump', node);
  skip.a = here(e);
  emitValue(e, otherwise);
  end.a = here(e);
}

function emitInits(e: Emitter, node: Extract<Node, { kind: 'let' | 'loop' }>): void {
  for (const init of node.inits) {
    const leaves = emitOperands(e, [init.value]);
    emit(e, 'set', init.value, { a: init.slot, cost: init.cost, leaves });
  }
}

/** Gives every `recur` of the loop that just ended its address. */
function backpatch(e: Emitter, start: Instruction, from: number): void {
  for (const instruction of e.code.slice(from)) {
    const { node } = instruction;
    if (instruction.op !== 'recur' || node.kind !== 'recur' || node.ofFn) continue;
    if (node.counter === start.a) instruction.a = from;
  }
}

function emitFor(e: Emitter, node: ForNode): void {
  emit(e, 'gather', node, { cost: node.cost, a: node.gather });
  emitLevel(e, node, 0);
  emit(e, 'gathered', node, { a: node.gather });
}

function emitLevel(e: Emitter, node: ForNode, at: number): void {
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
