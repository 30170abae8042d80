/** From an order and its transcript to the request: what the model activity asks a provider. */
import { defined } from '../base/defined.ts';
import type { ModelRequest } from '../contract/model.ts';
import type { InlineRequest, ModelOrder } from '../contract/host-order.ts';
import type { TranscriptView, TranscriptHead } from '../contract/transcript.ts';
import type { RequestOptions } from '../modes/mode.ts';
import { settingsOfSummary } from '../model/call-settings.ts';
import { buildRequest, modeOf } from '../modes/modes.ts';
import { requestOf } from '../modes/prompt.ts';
import { textMessage, type Message, type Part } from '../base/message.ts';
import type { MessageRange, StrategySpec, SummaryOrder } from '../contract/compaction.ts';

/** The request of an order that contains all of it; `attempt` counts from 1. */
export function inlineRequest(
  { agent, runId, iteration }: ModelOrder,
  inline: InlineRequest,
  attempt: number,
): ModelRequest {
  return { ...inline, agent, runId, iteration, attempt, settings: {} };
}

/** The request that `order` stands for. `made`: the parts that only the worker knows. */
export function requestOfOrder(
  { runId, iteration, lastTurn, summary, own, structuredOutput }: ModelOrder,
  { head, messages }: TranscriptView,
  made: Omit<RequestOptions, 'runId' | 'iteration' | 'lastTurn'>,
): ModelRequest {
  const options = {
    runId,
    iteration,
    lastTurn,
    ...defined({ structuredOutput }),
    ...made,
  };
  if (summary !== undefined) return buildSummaryRequest(head, messages, summary, options);
  if (own === undefined) return buildRequest(head, messages, options);
  if (own.conversation === true) {
    return buildRequest(head, [...messages, ...own.messages], options);
  }
  return requestOf(head, options, [], modeOf(head.spec).writeMessages(head.spec, own.messages));
}

/** The system message of a summary whose author wrote none. */
export const SUMMARY_SYSTEM = `You hand a piece of work over to a colleague. Your colleague will see the task, your summary and the latest steps, and nothing else: whatever you leave out is lost.

Write the summary under these headings, and leave out a heading with nothing under it:
# Task
# Done so far
# Findings and decisions
# Errors and fixes
# Current state
# Still to do

- Copy ids, numbers, names and what the user asked for lately word by word.
- Carry on the earlier summary: keep what still holds, add what is new, correct what has changed.
- Begin with the first heading, without any words before it.
- Write down what is there. Do not invent new work.`;

/** The request of the model call that `order` describes. `messages` are those of the scratchpad. */
export function buildSummaryRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  order: SummaryOrder,
  options: RequestOptions,
): ModelRequest {
  const { prompt, system } = strategyOf(head, order);
  const earlier = earlierText(chosen(messages, order.earlier));
  const activity = activityText(
    modeOf(head.spec).writeMessages(head.spec, chosen(messages, order.activity)),
  );
  const systemText = system ?? (prompt === null ? SUMMARY_SYSTEM : null);
  const request = requestOf(
    head,
    options,
    [
      ...(systemText === null ? [] : [textMessage('system', systemText)]),
      textMessage('user', filled(prompt ?? USER_PROMPT, { summary: earlier, activity })),
    ],
    [],
  );
  // The next summary has another user message, so nothing is worth caching.
  return { ...request, mode: 'text', cacheUpTo: 0, settings: settingsOfSummary(request.settings) };
}

const USER_PROMPT = '## Summary so far\n{summary}\n\n## New activity\n{activity}';

function strategyOf(
  { spec }: TranscriptHead,
  { strategy }: SummaryOrder,
): Extract<StrategySpec, { readonly kind: 'summarize' }> {
  const found = spec.compaction?.strategies[strategy];
  if (found?.kind === 'summarize') return found;
  throw new Error(
    `Expected strategy ${strategy} to write summaries, got ${found?.kind ?? 'none'}.`,
  );
}

function chosen(messages: readonly Message[], ranges: readonly MessageRange[]): readonly Message[] {
  return ranges.flatMap(([from, until]) => messages.slice(from, until));
}

/** Summaries as they were written, without the section around them. */
function earlierText(messages: readonly Message[]): string {
  const texts = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'sections' ? part.sections.map(({ content }) => content ?? '') : [];
    }),
  );
  return texts.length === 0 ? 'none' : texts.join('\n\n');
}

function activityText(messages: readonly Message[]): string {
  return messages
    .map(({ role, parts }, index) => `### ${index + 1}. ${role}\n${parts.map(shown).join('\n')}`)
    .join('\n');
}

/** A part as text. Of native calls and results, only the content is shown. */
function shown(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'tool_call':
      return `[tool_call] ${part.tool} ${JSON.stringify(part.args)}`;
    case 'tool_result':
      return [`[tool_result] ${part.tool}`, ...part.parts.map(shown)].join('\n');
    case 'hosted_call':
      return `[hosted_call] ${part.tool} ${JSON.stringify(part.args)}`;
    case 'hosted_result':
      return `[hosted_result] ${part.tool}\n${JSON.stringify(part.output)}`;
    case 'source':
      return `[source] ${part.url ?? part.title ?? part.id}`;
    case 'media':
    case 'reasoning':
    case 'sections':
    case 'file':
    case 'reasoning_file':
    case 'custom':
      return `[${part.type}]`;
  }
}

/** Fills all holes in one pass, so a filled-in text that looks like a hole stays as it is. */
function filled(prompt: string, holes: { readonly [name: string]: string }): string {
  return prompt.replace(/\{(summary|activity)\}/g, (_hole, name: string) => holes[name] ?? '');
}
