/** How the effects of one program ended: recorded with the run, and passed to the program. */
import type { EffectRequest, EffectResult } from '../../lisp.ts';
import { defined } from '../base/defined.ts';
import { byteSize, type Json } from '../base/json.ts';
import { recordCall, recordUnstarted } from '../calls/record-call.ts';
import type { CallEnd } from '../contract/outcome.ts';
import type { AskOutcome } from '../people/ask-person.ts';
import { hiddenTexts } from '../program-text/hidden-values.ts';
import type { KeptEffects, KeptProgram } from '../run/kept-program.ts';
import {
  MAX_OPTIONS,
  MAX_QUESTION_BYTES,
  MAX_TIMEOUT_MS,
  type Question,
} from '../toolchain/ask-user.ts';
import { editedText } from '../toolchain/call-texts.ts';
import type { EndedEffect } from './open-effects.ts';
import { callOf, isAgentCall, type RunningProgram, type ToolRequest } from './program-context.ts';

type AskRequest = Extract<EffectRequest, { readonly kind: 'ask' }>;

/** How the effects of a program ended. */
export interface EffectRecord {
  /** Records an end, and returns it as the program sees it. May find a limit that ends the run. */
  readonly add: (effect: EndedEffect) => EffectResult;
  /** Calls that succeeded, by tool, in order of the first. */
  readonly done: () => KeptProgram['done'];
  /** Texts under hidden fields of the values of children: no model may see them. */
  readonly hidden: () => readonly string[];
  /** What people changed, in sentences for the model. */
  readonly edits: readonly string[];
}

/** Ends the program, and no `attempt` recovers from it. */
const FULL = {
  ok: false,
  reason: 'size_exceeded',
  message:
    'the program has done so much, and holds so much data, that it can neither go on here nor be moved on. Hold less data while calls are open, or do the work in several programs.',
} as const;

/** A record that begins with what an earlier link kept. */
export function createEffectRecord(running: RunningProgram, kept?: KeptEffects): EffectRecord {
  const { run, order } = running;
  const done = new Map((kept?.done ?? []).map(({ tool, count }) => [tool, count]));
  const hidden = new Set(kept?.hidden);
  const edits: string[] = [];
  const shownTools = new Set<string>();

  const addCall = (request: ToolRequest, startedAt: number, end: CallEnd): EffectResult => {
    const call = callOf(order.programId, request);
    recordCall(run, { call, startedAt, inProgram: true }, end, shownTools);
    const { outcome, output = null } = end.result;
    if (isAgentCall(running, request)) for (const text of hiddenTexts([output])) hidden.add(text);
    if (end.edited !== undefined) edits.push(editedText(end.edited, request.name));
    if (outcome === 'ok') done.set(request.name, (done.get(request.name) ?? 0) + 1);
    return callResult(request.id, end);
  };
  const addRefused = (request: ToolRequest, text: string): EffectResult => {
    const call = callOf(order.programId, request);
    recordUnstarted(run, { call, inProgram: true }, 'refused', text);
    const result = { outcome: 'refused', error: text, attempts: 0, started: false } as const;
    return callResult(request.id, { result });
  };
  return {
    edits,
    done: () => [...done].map(([tool, count]) => ({ tool, count })),
    hidden: () => [...hidden],
    add: ({ request, startedAt, end }) => {
      const { id } = request;
      switch (end.kind) {
        case 'call':
          if (request.kind === 'tool') return addCall(request, startedAt, end.end);
          break;
        case 'refused':
          if (request.kind === 'tool') return addRefused(request, end.text);
          break;
        case 'ask':
          return askResult(id, end.outcome);
        case 'full':
          return { id, ...FULL };
        case 'unfit':
          return { id, ok: false, reason: 'runtime_error', message: end.message };
        case 'sleep':
          break;
      }
      return { id, ok: true, value: null };
    },
  };
}

/** A call as its program sees it: its result, or an error that the program may recover from. */
function callResult(id: string, { result }: Pick<CallEnd, 'result'>): EffectResult {
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
function askResult(id: string, outcome: AskOutcome): EffectResult {
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

/** The question of a request, or why it cannot be asked. */
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
    ...defined({ options, free: options === undefined ? false : free, timeoutMs, details }),
  };
  return { kind: 'question', question: asked };
}
