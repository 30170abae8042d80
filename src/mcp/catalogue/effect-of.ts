/**
 * What a server says of the effects of its tools. It is the server's word, so it decides on retries
 * and approvals only: a server that lies harms itself.
 */
import type { ToolEffect } from '../../core/contract/spec.ts';

/** The hints of a tool; all are optional. */
export interface ToolHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
}

/** The effect that `hints` promise; without hints, a call is not repeated. */
export function effectOf(hints: ToolHints = {}): ToolEffect {
  if (hints.readOnlyHint === true) return 'read';
  return hints.idempotentHint === true ? 'idempotent' : 'once';
}

/** Whether a call may destroy something: unless the hints say otherwise. */
export function isDestructive(hints: ToolHints = {}): boolean {
  return hints.readOnlyHint !== true && hints.destructiveHint !== false;
}
