import { DOC_ROWS, findBuiltin } from '../../../src/lisp/builtins/registry.ts';
import type { Builtin } from '../../../src/lisp/value/value.ts';

/** Every builtin that programs can write. */
export function allBuiltins(): readonly Builtin[] {
  const names = new Set(DOC_ROWS.flatMap((row) => row.names.split(' ')));
  return [...names].flatMap((name) => findBuiltin(name) ?? []);
}
