/** From what a call or a question came to, to what the program is told of its effect. Pure. */
import type { EffectRequest, EffectResult } from '../../lisp.ts';
import { byteSize, type Json } from '../base/json.ts';
import {
  MAX_OPTIONS,
  MAX_QUESTION_BYTES,
  MAX_TIMEOUT_MS,
  type Question,
} from '../toolchain/ask-user.ts';
import type { AskOutcome } from '../people/ask-person.ts';
import type { CallEnd } from '../contract/call-end.ts';

type AskRequest = Extract<EffectRequest, { readonly kind: 'ask' }>;

/** A call as its program sees it: its result, or an error that the program may recover from. */
export function callResult(id: string, { result }: Pick<CallEnd, 'result'>): EffectResult {
  const { outcome, output = null, error = '', reason } = result;
  if (outcome === 'ok') return { id, ok: true, value: output };
  const message = error.replace(/^Error: /, '');
  switch (outcome) {
    case 'denied':
      return { id, ok: false, reason: 'tool_denied', message };
    case 'rejected':
      return { id, ok: false, reason: 'invalid_tool_args', message };
    case 'error':
    case 'refused':
    case 'unknown':
    case 'canceled':
      return {
        id,
        ok: false,
        reason: 'tool_error',
        message,
        details: { reason: reason ?? outcome },
      };
  }
}

/** A question as its program sees it. */
export function askResult(id: string, outcome: AskOutcome): EffectResult {
  switch (outcome.kind) {
    case 'answered':
      return { id, ok: true, value: outcome.value };
    case 'unanswered':
      return { id, ok: false, reason: 'ask_timeout', message: outcome.message };
    case 'refused': {
      const message = outcome.text.replace(/^Error: /, '');
      return { id, ok: false, reason: 'tool_error', message, details: { reason: 'refused' } };
    }
    case 'unasked':
    case 'stopped':
      return { id, ok: false, reason: 'tool_error', message: 'canceled before it finished.' };
  }
}

/** The question of a request, or why nobody can be asked it. */
export function questionOf(
  request: AskRequest,
):
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'unfit'; readonly message: string } {
  const { question, options, free, timeoutMs, details } = request;
  const unfit = (message: string): { readonly kind: 'unfit'; readonly message: string } => ({
    kind: 'unfit',
    message: `\`ask\`: ${message}`,
  });
  if (question.trim() === '') return unfit('the question is empty.');
  if (options?.length === 0) return unfit('there are no options to choose from.');
  if ((options ?? []).length > MAX_OPTIONS) {
    return unfit(`at most ${MAX_OPTIONS} options are allowed, got ${options?.length ?? 0}.`);
  }
  if ((options ?? []).some((label) => label.trim() === '')) return unfit('an option is empty.');
  if (timeoutMs !== undefined && !(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    return unfit(`${timeoutMs} as :timeout-ms is not between 1 and ${MAX_TIMEOUT_MS}.`);
  }
  const bytes = byteSize([question, [...(options ?? [])], details ?? null] as Json);
  if (bytes > MAX_QUESTION_BYTES) {
    return unfit(
      `question, options and details have ${bytes} bytes, at most ${MAX_QUESTION_BYTES} are allowed.`,
    );
  }
  const asked: Question = {
    question,
    ...(options === undefined ? {} : { options }),
    free: options === undefined ? false : free,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(details === undefined ? {} : { details }),
  };
  return { kind: 'question', question: asked };
}
