/**
 * The JSON form of values and of the memory of an agent.
 *
 * I1  These formats are stored in histories: they may gain tags and fields, but not change.
 */
import type { Json } from '../base/json.ts';

/**
 * A value as JSON. Text, booleans, nil and integers up to 2^53−1 are written as they are, a vector
 * as an array. All others have a tag: float `{"f":"2.0"}`, big integer `{"i":"…"}`, keyword
 * `{"k":"a"}`, symbol `{"y":"x"}`, var mark `{"v":"x"}`, reduced `{"x":…}`, map `{"m":[[k,v]…]}`,
 * set `{"s":[…]}`, regex `{"r":"…"}`, builtin `{"b":"inc"}`, combinator `{"c":"partial","of":[…]}`,
 * tool `{"t":"x"}`, date `{"d":["instant",seconds,nanos]}`, closure
 * `{"fn":{"code":["l1:…",offset],"env":[["x",…]…]}}`, and `{"ref":n}` for entry n of the heap.
 */
export type Coded = Json;

/** The memory that an agent keeps between programs. Plain JSON. */
export interface ProgramMemory {
  readonly v: 1;
  readonly bindings: { readonly [name: string]: Coded };
  /** Values of `*1`, `*2`, `*3`. */
  readonly history: readonly Coded[];
  /** Values of `task` by printed id. */
  readonly journal: { readonly [id: string]: Coded };
  readonly plan: { readonly [id: string]: string };
  /** Values that are used more than once or nested deep. */
  readonly heap: readonly Coded[];
  /** The source of every program that a stored function comes from, by code id. */
  readonly sources: { readonly [codeId: string]: string };
}

/** The memory of an agent that has run no program. */
export const EMPTY_MEMORY: ProgramMemory = Object.freeze<ProgramMemory>({
  v: 1,
  bindings: {},
  history: [],
  journal: {},
  plan: {},
  heap: [],
  sources: {},
});
