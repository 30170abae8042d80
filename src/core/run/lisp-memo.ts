/**
 * What the loop of mode `lisp` remembers between turns, as its own data in the state: values that may
 * become the answer when turns run out, and what was last wrong.
 */
import { byteSize, isJsonObject, type Json } from '../base/json.ts';

/** The memo of a run. */
export interface LispMemo {
  /** Plain values that were not nil, newest first. */
  readonly values: readonly Json[];
  /** Of the last turn; empty when nothing was wrong. A line each. */
  readonly problems: readonly string[];
}

/** More than a few values are never looked at, and the state of a run is handed over. */
const MAX_VALUES = 8;
const MAX_BYTES = 262_144;

/** The memo in the data of a run; an empty one where there is none. */
export function lispMemo(data: Json): LispMemo {
  if (!isJsonObject(data)) return { values: [], problems: [] };
  const { values, problems } = data;
  return {
    values: Array.isArray(values) ? (values as readonly Json[]) : [],
    problems: Array.isArray(problems)
      ? problems.filter((line): line is string => typeof line === 'string')
      : [],
  };
}

/** `memo` with a new value in front; the oldest go when there are many or they are large. */
export function withValue(memo: LispMemo, value: Json): LispMemo {
  let room = MAX_BYTES;
  const values = [value, ...memo.values].slice(0, MAX_VALUES).filter((kept) => {
    room -= byteSize(kept);
    return room >= 0;
  });
  return { values, problems: [] };
}
