import { defined } from '../../core/base/defined.ts';
import { byteSize } from '../../core/base/json.ts';
import { MAX_TIMEOUT_MS } from '../../core/toolchain/ask-user.ts';
import type { ExternalWork } from '../../core/contract/outcome.ts';
import { toJsonResult } from '../../core/toolchain/result-json.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import { fieldProblems, type Rules } from '../checks/fields.ts';
import { range } from '../checks/kinds.ts';

/** Marks what {@link external} made, in this or another copy of the package. */
const externalMark = Symbol.for('everloop.external');

/** Bytes of JSON that details may have: they stand in the state of the run. */
export const MAX_DETAILS_BYTES = 65_536;

const FIELDS: Rules = { timeoutMs: range(1, MAX_TIMEOUT_MS) };

/** What a tool returns whose work goes on outside; made by {@link external}. */
export interface ExternalReturn {
  /** For the one who ends it: shown under `pending`. Plain JSON data. */
  readonly details?: unknown;
  /** How long the work may take; then the call fails. Default: as long as it takes. */
  readonly timeoutMs?: number;
}

/**
 * Says that a tool has begun work which somebody else ends: a phone call, a build. The call waits,
 * without a worker, until `run.answer(callId, result)`.
 *
 * @throws UsageError for a time or details that do not fit; the model reads it as the tool's error.
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

/** Outside work as plain data, or what is wrong with its details. */
export function readExternal({
  details,
  timeoutMs,
}: ExternalReturn):
  | { readonly kind: 'external'; readonly work: ExternalWork }
  | { readonly kind: 'not_json'; readonly path: string; readonly type: string }
  | { readonly kind: 'too_large'; readonly bytes: number } {
  const read = toJsonResult(details);
  if (read.kind === 'not_json') return read;
  const json = read.value;
  const bytes = json === undefined ? 0 : byteSize(json);
  if (bytes > MAX_DETAILS_BYTES) return { kind: 'too_large', bytes };
  return {
    kind: 'external',
    work: {
      ...defined({ details: json, timeoutMs }),
    },
  };
}
