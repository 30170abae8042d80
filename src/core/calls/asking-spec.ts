import type { ToolSpec } from '../contract/spec.ts';

/** Attempts of the function that says what people must be asked before a tool begins. */
const ASK_ATTEMPTS = 3;

/** `spec` for the part of a call before its tool begins: whatever its effect, asking has none. */
export function askingSpec(spec: ToolSpec): ToolSpec {
  if (spec.effect !== 'once') return spec;
  return { ...spec, effect: 'idempotent', retry: { ...spec.retry, attempts: ASK_ATTEMPTS } };
}
