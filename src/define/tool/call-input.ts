/** The mark of what a tool returns that can end only with answers. */
import { isPlainObject } from '../../core/base/json.ts';
import type { CallInput } from '../../core/contract/call-input.ts';

/** The key of the one question that a tool of this fleet asks at a time. */
export const ANSWER_KEY = 'answer';

/** Marks what {@link callInput} made, in this or another copy of the package. */
const inputMark = Symbol.for('everloop.callInput');

/** Marks a value by which a tool says that it can end only with answers. */
export function callInput(input: CallInput): CallInput {
  return Object.defineProperty({ ...input }, inputMark, { value: true });
}

/** Whether a tool returned what {@link callInput} made. */
export function isCallInput(value: unknown): value is CallInput {
  return typeof value === 'object' && value !== null && inputMark in value;
}

/** Whether `value`, which has lost its mark, has the shape of what `ask` makes. */
export function isAsked(value: unknown): boolean {
  if (!isPlainObject(value) || !isPlainObject(value['requests'])) return false;
  const { [ANSWER_KEY]: request, ...others } = value['requests'];
  if (!isPlainObject(request) || Object.keys(others).length > 0) return false;
  const { kind, message, form } = request;
  return kind === 'form' && typeof message === 'string' && isPlainObject(form);
}
