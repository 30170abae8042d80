import { redact } from './redact.ts';

/** What a thrown value says, without secrets: it reaches the model, the history and the logs. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return redact(thrown.message) || thrown.name;
  if (typeof thrown === 'string' && thrown !== '') return redact(thrown);
  return `something was thrown that is no error: ${typeof thrown}`;
}
