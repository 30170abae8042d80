import { redact } from './redact.ts';

/** The text of a thrown value without secrets, for the model, the history and the logs. */
export function redactedErrorText(thrown: unknown): string {
  if (thrown instanceof Error) return redact(thrown.message) || thrown.name;
  if (typeof thrown === 'string' && thrown !== '') return redact(thrown);
  return `something was thrown that is no error: ${typeof thrown}`;
}
