/** Runs as text: status, results, events and statistics. Pure. */
import { withCommas } from '../../lisp/base/with-commas.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import type { PendingItem, RunStatus } from '../../core/contract/messages.ts';
import { numberedOptions } from '../../core/contract/pending.ts';
import type { Step } from '../../core/contract/step.ts';
import { isJsonObject, type Json } from '../../core/base/json.ts';
import type { Stats } from '../../core/contract/stats.ts';
import {
  costText,
  durationText,
  oneLine,
  pluralText,
  tableText,
  terminalText,
  spentText,
  usageText,
} from '../terminal/text.ts';

/** `iteration 2 · 220 tokens · $0.0012 · model openai/gpt-5`: the status of a run. */
export function progressText(status: RunStatus): string {
  const { iteration, usage, state, waitsFor } = status;
  const doing =
    state === 'running' || state === 'waiting'
      ? waitsText([...(state === 'waiting' ? ['waiting'] : []), ...waitsFor.map(elsewhereText)])
      : state;
  return [
    `iteration ${iteration}`,
    `${withCommas(usage.totalTokens)} tokens`,
    `${spentText(usage)}${defaultText(status.defaultLimits)}`,
    ...(doing === '' ? [] : [doing]),
  ].join(' · ');
}

/** ` of $1.00 by default`: the limit on cost that nobody set; empty without one. */
function defaultText(limits: RunStatus['defaultLimits']): string {
  const [limit] = limits ?? [];
  return limit === undefined ? '' : ` of ${costText(limit.max)} by default`;
}

/** What no worker has yet is the one thing that a person at a terminal can mend. */
function elsewhereText(one: string): string {
  return one.startsWith('worker with ') ? `waiting for a ${one}` : one;
}

/** `model gpt-5, 30 × agent reader`: what a run waits for, with counts of equal items. */
export function waitsText(waitsFor: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const one of waitsFor) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].map(([one, count]) => (count === 1 ? one : `${count} × ${one}`)).join(', ');
}

/** `success · 4 iterations · 440 tokens · $0.0012 · 3.2 s`: the end of a run. */
export function endText(step: Step): string {
  const { status, reason, iterations, usage } = step;
  const why = status === 'success' ? '' : ` (${reason})`;
  return `${status}${why} · ${usageText(iterations, usage)} · ${durationText(usage.durationMs)}`;
}

/** `Which John? (1 John Smith, 2 John Doe)`, `pay {"amount":5}`: what waits for a person. */
export function pendingText(item: PendingItem): string {
  return terminalText(waitingText(item));
}

function waitingText(item: PendingItem): string {
  switch (item.kind) {
    case 'pause':
      return 'the run is paused';
    case 'question':
      if (item.options !== undefined) return `${item.question} (${numberedOptions(item.options)})`;
      return `${item.question}${askedFor(item.details)}`;
    case 'approval':
      return `${item.tool} ${JSON.stringify(item.args)}`;
    case 'external':
      return `${item.tool} ${JSON.stringify(item.details ?? item.args)}`;
  }
}

/** What a tool or its server asks for: ` (ops asks for JSON with env, note)`, or the page to open. */
function askedFor(details: Json | undefined): string {
  if (!isJsonObject(details)) return '';
  const { server, tool, form, url } = details;
  const who = server ?? tool;
  if (typeof who !== 'string') return '';
  if (typeof url === 'string') return ` (${who} asks you to open ${url}, then answer true)`;
  const { properties } = isJsonObject(form) ? form : {};
  const fields = isJsonObject(properties) ? Object.keys(properties).join(', ') : '';
  return fields === '' ? '' : ` (${who} asks for JSON with ${fields})`;
}

/** Characters of an event's details. */
const DETAIL_WIDTH = 100;

/** `  3 09:00:01 #1 tool_call:after search ok (12 ms)`: one event on one line. */
export function eventText(event: AgentEvent): string {
  const { seq, at, iteration, type } = event;
  const time = new Date(at).toISOString().slice(11, 23);
  const name = type.replace(/^agent:/, '');
  const detail = oneLine(detailOf(event), DETAIL_WIDTH);
  return `${String(seq).padStart(4)} ${time} #${iteration} ${name}${detail === '' ? '' : ` ${detail}`}`;
}

function detailOf(event: AgentEvent): string {
  switch (event.type) {
    case 'agent:execution:before':
      return `${event.mode}${defaultText(event.defaultLimits).replace(' of', ', at most')}`;
    case 'agent:execution:after':
      return `${event.status} (${event.reason})${byText(event)}`;
    case 'agent:execution:handover':
      return `link ${event.run}`;
    case 'agent:iteration:after':
      return `${event.outcome} (${durationText(event.durationMs)})`;
    case 'agent:model_call:before':
      return `${event.model}, ${event.messages} messages`;
    case 'agent:model_attempt_failed':
      return `${event.model}, attempt ${event.attempt}, ${event.code}: ${event.message} (again in ${durationText(event.retryInMs)})`;
    case 'agent:model_call:after':
      return modelCallText(event);
    case 'agent:turn:before':
      return `${event.turn}, message ${event.messageId}${byText(event)}`;
    case 'agent:turn:after':
      return `${event.turn}, ${endText(event.step)}`;
    case 'agent:turn:read':
      return event.family === undefined ? event.kind : `${event.kind} (${event.family})`;
    case 'agent:parse_error':
      return event.problems.map((problem) => problem.message).join(' ');
    case 'agent:tool_call:before':
      return `${event.tool} ${JSON.stringify(event.args)}`;
    case 'agent:tool_call:after':
      return toolCallText(event);
    case 'agent:program:before':
      return `${event.programId} ${event.source}`;
    case 'agent:program:after':
      return programEndText(event);
    case 'agent:question:asked':
      return `${event.questionId} ${event.text}`;
    case 'agent:approval:requested':
      return `${event.callId} ${event.tool} ${JSON.stringify(event.args)}`;
    case 'agent:input':
      return `${event.kind}, position ${event.position}${byText(event)}`;
    case 'agent:limit_exceeded':
      return `${event.key}: ${event.attempted ?? event.value} > ${event.limit.max}`;
    default:
      return otherDetail(event as unknown as { readonly [name: string]: Json });
  }
}

function modelCallText(event: Extract<AgentEvent, { type: 'agent:model_call:after' }>): string {
  const { model, usage, durationMs, error } = event;
  const tokens = `${withCommas(usage.inputTokens)} + ${withCommas(usage.outputTokens)} tokens`;
  const failed = error === undefined ? '' : `, ${error.code}: ${error.message}`;
  return `${model}, ${tokens}, ${durationText(durationMs)}${triesText(event)}${failed}`;
}

function toolCallText(event: Extract<AgentEvent, { type: 'agent:tool_call:after' }>): string {
  const { tool, outcome, durationMs, error } = event;
  const ended = `${tool} ${outcome} (${durationText(durationMs)}${triesText(event)})`;
  return error === undefined ? ended : `${ended} ${error}`;
}

/** What a call needed beyond one attempt: `, attempt 2, 1 lost`. */
function triesText(tries: { readonly attempts: number; readonly losses?: number }): string {
  const { attempts, losses = 0 } = tries;
  const tried = attempts > 1 ? `, attempt ${attempts}` : '';
  return losses > 0 ? `${tried}, ${losses} lost` : tried;
}

function programEndText(event: Extract<AgentEvent, { type: 'agent:program:after' }>): string {
  const { programId, outcome, steps, calls, error } = event;
  const failed = error === undefined ? '' : ` ${error.message}`;
  return `${programId} ${outcome} (${withCommas(steps)} units of fuel, ${pluralText(calls, 'call')})${failed}`;
}

/** The fields that all events have. */
const COMMON_FIELDS = ['seq', 'runId', 'agent', 'agentPath', 'at', 'iteration', 'depth', 'type'];

/** ` by ada`, if the event says who did it. */
function byText({ by }: { readonly by?: string }): string {
  return by === undefined ? '' : ` by ${by}`;
}

function otherDetail(event: { readonly [name: string]: Json }): string {
  const own = Object.entries(event).filter(([name]) => !COMMON_FIELDS.includes(name));
  return own.length === 0 ? '' : JSON.stringify(Object.fromEntries(own));
}

/** Counters, then gauges, as a table; with `withSelf`, also the counters without runs below. */
export function statsText(stats: Stats, withSelf: boolean): string {
  const rows = (['counters', 'gauges'] as const).flatMap((kind) =>
    Object.entries(stats[kind])
      .filter(([key]) => withSelf || !key.startsWith('$self:'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [kind.slice(0, -1), key, withCommas(value)]),
  );
  return rows.length === 0 ? 'No statistics yet.' : tableText(['KIND', 'KEY', 'VALUE'], rows);
}
