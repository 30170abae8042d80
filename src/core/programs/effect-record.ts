/** What the effects of one program came to: recorded with the run, and given to the program. */
import type { EffectResult } from '../../lisp.ts';
import { hiddenTexts } from '../program-text/hidden-values.ts';
import { editedText } from '../toolchain/call-texts.ts';
import type { CallEnd } from '../contract/call-end.ts';
import { recordCall, recordUnstarted } from '../calls/record-call.ts';
import { callOf, isAgentCall, type EffectPlace, type ToolRequest } from './effect-place.ts';
import { askResult, callResult } from './effect-results.ts';
import type { KeptEffects, KeptProgram } from '../run/kept-program.ts';
import type { EndedEffect } from './open-effects.ts';

/** The ends of effects. */
export interface EffectRecord {
  /** Records an end, and gives it as the program sees it. May find a limit that ends the run. */
  readonly add: (effect: EndedEffect) => EffectResult;
  /** Calls that succeeded, by tool, in order of the first. */
  readonly done: () => KeptProgram['done'];
  /** Texts under hidden fields of what children gave: no model may see them. */
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

/** What an earlier link kept of the ends, or nothing. */
export function createEffectRecord(place: EffectPlace, kept?: KeptEffects): EffectRecord {
  const { run } = place;
  const done = new Map((kept?.done ?? []).map(({ tool, count }) => [tool, count]));
  const hidden = new Set(kept?.hidden);
  const edits: string[] = [];
  const shownTools = new Set<string>();

  const addCall = (request: ToolRequest, startedAt: number, end: CallEnd): EffectResult => {
    const call = callOf(place, request);
    recordCall(run, { call, startedAt, inProgram: true }, end, shownTools);
    const { outcome, output = null } = end.result;
    if (isAgentCall(place, request)) for (const text of hiddenTexts([output])) hidden.add(text);
    if (end.edited !== undefined) edits.push(editedText(end.edited, request.name));
    if (outcome === 'ok') done.set(request.name, (done.get(request.name) ?? 0) + 1);
    return callResult(request.id, end);
  };
  const addRefused = (request: ToolRequest, text: string): EffectResult => {
    recordUnstarted(run, callOf(place, request), 'refused', text, true);
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
