/**
 * Watches where the arguments of calls may be complete. Adapters of chats may end a call as soon as
 * its arguments are JSON, and drop what follows; so a piece that may end them is not joined with the
 * next one.
 */
import { isPlainObject } from '../../core/base/json.ts';
import type { Delta } from './delta-shape.ts';

/** The calls of one stream. */
export interface CallStarts {
  /** Takes the value of an event that was not joined. */
  readonly see: (value: unknown) => void;
  /** Whether arguments may be complete after the piece `text` of `delta`'s call. */
  readonly mayBeWhole: (delta: Pick<Delta, 'kind' | 'call'>, text: string) => boolean;
}

/** The most calls of one reply that are watched. */
const MAX_CALLS = 256;

/** A stream whose calls have not begun. */
export function createCallStarts(): CallStarts {
  /** The calls whose arguments have begun: their ids, and whether the arguments are an object. */
  const begun = new Map<number, { readonly id: string; readonly isObject: boolean }>();
  const begin = (call: number, id: string, text: string): void => {
    const start = text.trimStart();
    if (start === '' || begun.has(call) || begun.size >= MAX_CALLS) return;
    begun.set(call, { id, isObject: start.startsWith('{') });
  };
  return {
    see: (value) => {
      for (const { index, id, args } of callsIn(value)) {
        if (id !== '' && begun.get(index)?.id !== id) begun.delete(index);
        begin(index, id, args);
      }
    },
    mayBeWhole: ({ kind, call }, text) => {
      if (kind !== 'tool_args' || call === undefined) return false;
      begin(call, '', text);
      return begun.get(call)?.isObject !== true || text.includes('}');
    },
  };
}

interface CallPart {
  readonly index: number;
  readonly id: string;
  readonly args: string;
}

function callsIn(value: unknown): readonly CallPart[] {
  const choices = isPlainObject(value) ? value['choices'] : undefined;
  if (!Array.isArray(choices)) return [];
  return choices.flatMap((choice: unknown) => {
    const delta = isPlainObject(choice) ? choice['delta'] : undefined;
    const calls = isPlainObject(delta) ? delta['tool_calls'] : undefined;
    if (!Array.isArray(calls)) return [];
    return calls.filter(isPlainObject).flatMap(({ index, id, function: called }) => {
      if (typeof index !== 'number') return [];
      const args = isPlainObject(called) ? called['arguments'] : undefined;
      return [{ index, id: textOr(id), args: textOr(args) }];
    });
  });
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
