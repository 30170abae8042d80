import { defined } from '../../core/base/defined.ts';
import { byteSize } from '../../core/base/json.ts';
import { MAX_TIMEOUT_MS } from '../../core/toolchain/ask-user.ts';
import type { ExternalWork } from '../../core/contract/outcome.ts';
import { toJsonResult } from '../../core/base/json-result.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import { fieldProblems, type FieldRules } from '../checks/fields.ts';
import { range } from '../checks/kinds.ts';

/** Marks what {@link external} made, in this or another copy of the package. */
const externalMark = Symbol.for('everloop.external');

/** Maximum size of details as JSON, in bytes; the state of the run keeps them. */
export const MAX_DETAILS_BYTES = 65_536;

const FIELDS: FieldRules = { timeoutMs: range(1, MAX_TIMEOUT_MS) };

/** What a tool returns when its work goes on elsewhere; made by {@link external}. */
export interface ExternalReturn {
  /** Shown under `pending`, to those who answer: JSON of at most 65,536 bytes. Default: none. */
  readonly details?: unknown;
  /** Milliseconds until the call fails, from 1. Default: it waits for ever. */
  readonly timeoutMs?: number;
}

/**
 * Returned by a tool that has started work which ends elsewhere, such as a phone call or a build.
 * The call waits, without holding a worker, for `run.answer(callId, result)`.
 *
 * @throws UsageError for a `timeoutMs` out of range. The model gets it as the tool's error.
 * @example
 * execute: async ({ commit }, { callId, runId }) => {
 *   const build = await startBuild(commit, { callback: `${runId}/${callId}` });
 *   return external({ details: { build: build.url }, timeoutMs: 3_600_000 });
 * },
 */
export function external(work: ExternalReturn = {}): ExternalReturn {
  const problems = fieldProblems(work, FIELDS, { code: 'number', of: 'outside work' });
  if (problems.length > 0) throw usageErrorOf(problems);
  return Object.defineProperty({ ...work }, externalMark, { value: true });
}

/** Whether a tool returned what {@link external} made. */
export function isExternalReturn(value: unknown): value is ExternalReturn {
  return typeof value === 'object' && value !== null && externalMark in value;
}

/** Outside work as plain data, or why its details cannot be kept. */
export function readExternal({
  details,
  timeoutMs,
}: ExternalReturn):
  | { readonly kind: 'external'; readonly work: ExternalWork }
  | { readonly kind: 'not_json'; readonly path: string; readonly type: string }
  | { readonly kind: 'too_large'; readonly bytes: number } {
  const read = toJsonResult(details);
  if (read.kind === 'not_json') return read;
  const bytes = read.value === undefined ? 0 : byteSize(read.value);
  if (bytes > MAX_DETAILS_BYTES) return { kind: 'too_large', bytes };
  return { kind: 'external', work: defined({ details: read.value, timeoutMs }) };
}
