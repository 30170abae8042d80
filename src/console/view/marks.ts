/** Events that are shown at the moment at which they happened. */
import { defined } from '../../core/base/defined.ts';
import { isOwnEvent, type AgentEvent } from '../../core/contract/events.ts';
import type { Limit } from '../../core/contract/limit.ts';
import { amountText, durationText, numberText } from './amounts.ts';
import { labelOf } from './budgets.ts';
import { byOf } from './by-of.ts';
import type { MarkView } from './iteration-view.ts';

/** The mark of `event`; null: it is shown otherwise, or not at all. */
export function markOf(event: AgentEvent): MarkView | null {
  const words = isOwnEvent(event) ? ownWords(event.type, event.data) : wordsOf(event);
  if (words === null) return null;
  return { seq: event.seq, at: event.at, ...words };
}

type Words = Omit<MarkView, 'seq' | 'at'>;

function ownWords(type: string, data: unknown): Words {
  const detail = data === null ? {} : { detail: JSON.stringify(data) };
  return { kind: 'own', text: type, ...detail };
}

function wordsOf(event: Exclude<AgentEvent, { readonly data: unknown }>): Words | null {
  switch (event.type) {
    case 'agent:execution:before':
      return startedWords(event.mode, event.limits);
    case 'agent:execution:after':
      return {
        kind: 'ended',
        text: `Ended: ${event.status}${byText(event)}`,
        detail: event.reason,
      };
    case 'agent:execution:handover':
      return { kind: 'handover', text: `Link ${event.run} handed over to link ${event.run + 1}` };
    case 'agent:input':
      return { kind: 'input', text: `${event.kind}${byText(event)}`, inputId: event.inputId };
    case 'agent:paused':
      return { kind: 'paused', text: `Paused${byText(event)}` };
    case 'agent:resumed':
      return { kind: 'resumed', text: `Resumed${byText(event)}${afterText(event.waitedMs)}` };
    case 'agent:adjusted':
      return adjustedWords(event.limits, byText(event));
    case 'agent:compaction':
      return {
        kind: 'compaction',
        text: `${numberText(event.lengthBefore)} messages became ${numberText(event.lengthAfter)}`,
        detail: `${event.strategy}, about ${numberText(event.tokensBefore)} tokens became ${numberText(event.tokensAfter)}`,
      };
    case 'agent:limit_exceeded': {
      const [label, unit] = labelOf(event.key);
      const value = amountText(unit, event.attempted ?? event.value);
      const max = amountText(unit, event.limit.max);
      return { kind: 'limit', text: `Limit reached: ${label} ${value} of ${max}` };
    }
    case 'agent:warning':
      return { kind: 'warning', text: event.code.replaceAll('_', ' '), detail: event.message };
    case 'agent:error':
      return { kind: 'error', text: 'The run fails', detail: event.message };
    case 'agent:parse_error':
      return {
        kind: 'problem',
        text: 'A part of the reply could not be read',
        detail: event.problems.map(({ message }) => message).join('\n'),
      };
    case 'agent:guarded':
      return guardWords(event);
    case 'agent:model_changed':
      return { kind: 'adjusted', text: `${event.model} is asked first from now on` };
    case 'agent:structured_output_downgraded':
      return {
        kind: 'warning',
        text: `${event.model} refused output by ${event.from}; ${event.to} is used from now on`,
      };
    case 'agent:validator:result':
      return validatorWords(event);
    default:
      return turnWords(event);
  }
}

/** A turn of a conversation, which begins with what is said. */
function turnWords(event: Exclude<AgentEvent, { readonly data: unknown }>): Words | null {
  if (event.type === 'agent:turn:after') {
    return { kind: 'turn', text: `Turn ${event.turn} ended: ${event.step.status}` };
  }
  if (event.type !== 'agent:turn:before') return null;
  const replaces = event.instead === undefined ? '' : ', in place of earlier ones';
  return { kind: 'said', text: `Turn ${event.turn}${byText(event)}${replaces}` };
}

function startedWords(mode: string, limits: readonly Limit[] | undefined): Words {
  const text = `Started in mode ${mode}`;
  return { kind: 'started', text, ...defined({ limits: limits?.map(limitHead) }) };
}

function adjustedWords(limits: readonly Limit[], by: string): Words {
  const detail = limitsText(limits);
  return { kind: 'adjusted', text: `Limits changed${by}`, detail, limits: limits.map(limitHead) };
}

function limitHead({ key, max }: Limit): { readonly key: string; readonly max: number } {
  return { key, max };
}

/** ` by ada`, if the event says who did it. */
function byText(event: object): string {
  const { by } = byOf(event);
  return by === undefined ? '' : ` by ${by}`;
}

function validatorWords({
  validator,
  accepted,
  feedback: detail,
}: Extract<AgentEvent, { readonly type: 'agent:validator:result' }>): Words {
  const text = `${validator} ${accepted ? 'accepted' : 'rejected'} the answer`;
  return { kind: 'verdict', text, ...defined({ detail }) };
}

function guardWords({
  outcome,
  guard,
}: Extract<AgentEvent, { readonly type: 'agent:guarded' }>): Words | null {
  return outcome === 'passed' ? null : { kind: 'verdict', text: `Guard ${guard}: ${outcome}` };
}

function afterText(waitedMs: number | undefined): string {
  return waitedMs === undefined ? '' : ` after ${durationText(waitedMs)}`;
}

function limitsText(limits: readonly { readonly key: string; readonly max: number }[]): string {
  return limits
    .map(({ key, max }) => {
      const [label, unit] = labelOf(key);
      return `${label} ${amountText(unit, max)}`;
    })
    .join(', ');
}
