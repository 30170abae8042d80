/**
 * Walks of trees: `walk`, `prewalk`, `postwalk`, `tree-seq` and others, with an explicit stack.
 */
import { checkCount, type Context } from '../../value/context.ts';
import { checkNesting } from '../../value/nesting.ts';
import { treeKeys } from '../../value/tree-walk.ts';
import { mapOf, setOf } from '../../value/tree.ts';
import {
  isKeyword,
  isMap,
  isSet,
  isVector,
  keyword,
  truthy,
  type Value,
  type Vector,
  type Steps,
  type BuiltinWork,
} from '../../value/value.ts';
import { vectorAt, vectorItems, vectorOf, vectorPush, EMPTY_VECTOR } from '../../value/vector.ts';
import { arg, wrongType } from '../arguments/expect.ts';
import { flexibleGet, foundOr } from '../arguments/lookup.ts';
import { elementsOf, entriesOf } from '../arguments/seqable.ts';
import { finish, plain, steps, walk, want } from '../arguments/stepping.ts';
import { KEYWORD_TEXT } from '../scalars/text.ts';

/** The children of a collection; undefined for a leaf. The children of a map are its entries. */
function childrenOf(value: Value): readonly Value[] | undefined {
  if (isVector(value)) return vectorItems(value);
  if (isMap(value)) return entriesOf(value);
  return isSet(value) ? treeKeys(value) : undefined;
}

/** A collection of the type of `shape` with new children. */
function rebuild(ctx: Context, shape: Value, children: readonly Value[]): Value {
  if (isSet(shape)) return setOf(children, ctx);
  if (!isMap(shape)) return vectorOf(children);
  const keys: Value[] = [];
  const vals: Value[] = [];
  for (const child of children) {
    if (!isVector(child) || child.end - child.start !== 2)
      throw wrongType(ctx, 0, 'entries `[k v]`', child);
    keys.push(vectorAt(child, 0));
    vals.push(vectorAt(child, 1));
  }
  return mapOf(keys, vals, ctx);
}

const walkOnce: BuiltinWork = walk({
  calls: [0, 1],
  begin(ctx, args, s) {
    s.fn = arg(args, 0);
    s.acc = arg(args, 2);
    s.extra = arg(args, 1);
    s.items = [...(childrenOf(s.acc) ?? []), null];
    s.phase = s.items.length - 1;
    if (s.phase === 0) toOuter(ctx, s);
  },
  args: (_c, s) => [s.items[s.at] as Value],
  take(ctx, s, result) {
    if (s.at > s.phase) {
      s.result = result;
      return true;
    }
    s.out.push(result);
    if (s.at === s.phase) toOuter(ctx, s);
    return false;
  },
  end: (_c, s) => s.result,
});

/** `walk`: calls `outer` last, on the collection of new children. */
function toOuter(ctx: Context, s: Steps): void {
  const whole = childrenOf(s.acc) === undefined ? s.acc : rebuild(ctx, s.acc, s.out);
  s.items = s.items.with(s.phase, whole);
  s.fn = s.extra as Value;
}

/*
 * The state of a recursive walk: `out` is a stack of open collections. Each is a vector of its
 * shape, the children that are left, and the finished ones.
 */
function push(ctx: Context, s: Steps, shape: Value, children: readonly Value[]): void {
  checkNesting(s.out.length, ctx);
  s.out.push(vectorOf([shape, vectorOf(children), EMPTY_VECTOR]));
}

interface Open {
  readonly shape: Value;
  readonly todo: Vector;
  readonly done: Vector;
}

function top(s: Steps): Open | null {
  const last = s.out[s.out.length - 1];
  if (last === undefined) return null;
  const vector = last as Vector;
  return {
    shape: vectorAt(vector, 0),
    todo: vectorAt(vector, 1) as Vector,
    done: vectorAt(vector, 2) as Vector,
  };
}

/** Adds a finished child to its parent. Returns the next child to walk, or the rebuilt parent. */
function putChild(
  ctx: Context,
  s: Steps,
  value: Value,
): { next: Value } | { whole: Value } | { end: Value } {
  const open = top(s);
  if (open === null) return { end: value };
  const done = vectorPush(open.done, value);
  const index = done.end - done.start;
  if (index < open.todo.end - open.todo.start) {
    s.out[s.out.length - 1] = vectorOf([open.shape, open.todo, done]);
    return { next: vectorAt(open.todo, index) };
  }
  s.out.pop();
  return { whole: rebuild(ctx, open.shape, vectorItems(done)) };
}

/** Bottom up: descends to the next leaf and requests the call on it. */
function descend(ctx: Context, s: Steps, from: Value): void {
  let value = from;
  for (;;) {
    ctx.charge(1);
    const children = childrenOf(value);
    const [first] = children ?? [];
    if (children === undefined || first === undefined) {
      s.args = [value];
      return;
    }
    push(ctx, s, value, children);
    value = first;
  }
}

const postwalk: BuiltinWork = steps(
  [0],
  (ctx, args, s) => {
    s.fn = arg(args, 0);
    descend(ctx, s, arg(args, 1));
  },
  (ctx, s, result) => {
    const put = putChild(ctx, s, result);
    if ('end' in put) finish(s, put.end);
    else if ('next' in put) descend(ctx, s, put.next);
    else s.args = [put.whole];
  },
);

/** Top down: opens a result and requests the calls on its children. */
function expand(ctx: Context, s: Steps, result: Value): void {
  let value = result;
  for (;;) {
    ctx.charge(1);
    const children = childrenOf(value);
    const [first] = children ?? [];
    if (children !== undefined && first !== undefined) {
      push(ctx, s, value, children);
      s.args = [first];
      return;
    }
    let put = putChild(ctx, s, value);
    while ('whole' in put) put = putChild(ctx, s, put.whole);
    if ('end' in put) {
      finish(s, put.end);
      return;
    }
    value = put.next;
    s.args = [value];
    return;
  }
}

const prewalk: BuiltinWork = steps(
  [0],
  (_c, args, s) => want(s, arg(args, 0), [arg(args, 1)]),
  (ctx, s, result) => expand(ctx, s, result),
);

/** A walk of the whole tree without calls. */
function transform(
  ctx: Context,
  root: Value,
  before: (value: Value) => Value,
  after: (value: Value) => Value,
): Value {
  const visit = (given: Value, nesting: number): Value => {
    checkNesting(nesting, ctx);
    ctx.charge(1);
    const value = before(given);
    const children = childrenOf(value);
    if (children === undefined) return after(value);
    return after(
      rebuild(
        ctx,
        value,
        children.map((child) => visit(child, nesting + 1)),
      ),
    );
  };
  return visit(root, 0);
}

function replacing(order: 'pre' | 'post'): BuiltinWork {
  return plain((ctx, args) => {
    const by = arg(args, 0);
    const swap = (value: Value): Value =>
      isMap(by) ? foundOr(flexibleGet(ctx, by, value), value) : value;
    const keep = (value: Value): Value => value;
    if (by !== null && !isMap(by)) throw wrongType(ctx, 0, 'a map', by);
    return transform(
      ctx,
      arg(args, 1),
      order === 'pre' ? swap : keep,
      order === 'pre' ? keep : swap,
    );
  });
}

function renamingKeys(rename: (ctx: Context, key: Value) => Value): BuiltinWork {
  return plain((ctx, args) =>
    transform(
      ctx,
      arg(args, 0),
      (value) => value,
      (value) => {
        if (!isMap(value)) return value;
        const entries = entriesOf(value) as readonly Vector[];
        ctx.charge(entries.length);
        return mapOf(
          entries.map((entry) => rename(ctx, vectorAt(entry, 0))),
          entries.map((entry) => vectorAt(entry, 1)),
          ctx,
        );
      },
    ),
  );
}

/*
 * `tree-seq` calls `branch?` and then `children` on each node, depth first. `items` are the two
 * functions; `acc` is a vector of the nodes to visit, the last one next.
 */
const treeSeq: BuiltinWork = steps(
  [0, 1],
  (ctx, args, s) => {
    s.items = [arg(args, 0), arg(args, 1)];
    s.extra = [arg(args, 2)];
    visitNode(ctx, s);
  },
  (ctx, s, result) => {
    const waiting = s.extra as Value[];
    if (s.phase === 0) {
      if (truthy(result)) {
        s.phase = 1;
        want(s, s.items[1] as Value, [s.acc]);
        return;
      }
    } else {
      s.phase = 0;
      const children = elementsOf(ctx, result);
      if (children === undefined)
        throw wrongType(ctx, 1, 'a function that gives something with elements', result);
      checkCount(ctx, waiting.length + children.length);
      ctx.charge(children.length);
      for (const child of children.toReversed()) waiting.push(child);
    }
    visitNode(ctx, s);
  },
);

function visitNode(ctx: Context, s: Steps): void {
  const waiting = s.extra as Value[];
  const node = waiting.pop();
  if (node === undefined) {
    finish(s, vectorOf(s.out));
    return;
  }
  ctx.charge(1);
  checkCount(ctx, s.out.length + 1);
  s.out.push(node);
  s.acc = node;
  want(s, s.items[0] as Value, [node]);
}

/** The work of these builtins. */
export const TREE_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  walk: walkOnce,
  prewalk,
  postwalk,
  'prewalk-replace': replacing('pre'),
  'postwalk-replace': replacing('post'),
  'keywordize-keys': renamingKeys((ctx, key) => {
    if (typeof key !== 'string') return key;
    ctx.charge(key.length >>> 4);
    return KEYWORD_TEXT.test(key) ? keyword(key) : key;
  }),
  'stringify-keys': renamingKeys((_ctx, key) => (isKeyword(key) ? key.name : key)),
  'tree-seq': treeSeq,
});
