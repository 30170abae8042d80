/**
 * What the mode `lisp` remembers between turns, in the data of the run: values that may become the
 * answer when no turn is left, and what was wrong in the last turn.
 */
import { byteSize, isJsonObject, type Json } from '../base/json.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { ModeMemory, TurnNote } from './mode.ts';

interface LispMemo {
  /** Plain values that were not nil, newest first. */
  readonly values: readonly Json[];
  /** What was wrong in the last turn, a line for each problem; empty: nothing. */
  readonly problems: readonly string[];
}

/** More values than a few are never used, and each hand-over carries them. */
const MAX_VALUES = 8;
const MAX_BYTES = 262_144;

/** The memory of the mode. */
export const lispMemory: ModeMemory = {
  next: (spec, data, note) => {
    const values = valuesAfter(spec, readMemo(data).values, note);
    const { problems } = note;
    const isNew = values.length > 0 || problems.length > 0 || data !== null;
    return isNew ? { values, problems } : null;
  },
  fallbacks: (spec, data) => (isExplicit(spec) ? [] : readMemo(data).values),
  problems: (data) => readMemo(data).problems,
};

/** With explicit completion only `return` gives an answer. */
function isExplicit({ program }: AgentSpec): boolean {
  return program?.lisp?.completion === 'explicit';
}

function readMemo(data: Json): LispMemo {
  if (!isJsonObject(data)) return { values: [], problems: [] };
  const { values, problems } = data;
  return {
    values: Array.isArray(values) ? (values as readonly Json[]) : [],
    problems: Array.isArray(problems)
      ? problems.filter((line): line is string => typeof line === 'string')
      : [],
  };
}

/** The newest value comes first; the oldest go when there are many or they are large. */
function valuesAfter(
  spec: AgentSpec,
  before: readonly Json[],
  { value }: TurnNote,
): readonly Json[] {
  if (isExplicit(spec) || value === undefined || value === null) return before;
  let room = MAX_BYTES;
  return [value, ...before].slice(0, MAX_VALUES).filter((kept) => {
    room -= byteSize(kept);
    return room >= 0;
  });
}
