/** Parts of requests that modes share: texts, common fields, messages as a model gets them. */
import type { TextFormat } from '../format/format.ts';
import type { JsonObject } from '../base/json.ts';
import { textMessage, type Message, type Part } from '../base/message.ts';
import type { ModelRequest } from '../contract/model.ts';
import { isHidden } from '../contract/signature.ts';
import { parseTemplate } from '../template/parse-template.ts';
import { namesOf } from '../template/template.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import type { RequestOptions } from './mode.ts';
import type { AgentSpec, TextSource } from '../contract/spec.ts';

/** The text of a source: its own, or what a function on the worker made; empty if there is none. */
export function sourceText(source: TextSource | null, made: string | undefined): string {
  if (source === null) return '';
  return source.kind === 'text' ? source.text : (made ?? '');
}

/** The system message of the agent's own texts, then those of its mode; none without text. */
export function systemMessage(
  spec: AgentSpec,
  { instructions, rules }: RequestOptions,
  ofMode: readonly string[] = [],
): readonly Message[] {
  const own = [sourceText(spec.instructions, instructions), sourceText(spec.rules, rules)];
  const text = [...own, ...ofMode].filter((block) => block !== '').join('\n\n');
  return text === '' ? [] : [textMessage('system', text)];
}

/** `context` without its hidden keys, those that begin with `_`: they never enter a prompt. */
export function visibleContext(context: JsonObject | undefined): JsonObject {
  return Object.fromEntries(Object.entries(context ?? {}).filter(([key]) => !isHidden(key)));
}

/**
 * The keys of the context that a prompt still has to show: without those that the template has
 * filled in, and without the task, which is shown separately.
 */
export function unusedContext({ spec, context }: TranscriptHead): JsonObject {
  const used = ['task', ...templateRoots(spec.prompt)];
  const entries = Object.entries(visibleContext(context)).filter(([key]) => !used.includes(key));
  return Object.fromEntries(entries);
}

function templateRoots(prompt: string | undefined): readonly string[] {
  const reading = prompt === undefined ? undefined : parseTemplate(prompt);
  return reading?.kind === 'template' ? namesOf(reading.nodes).map(({ root }) => root) : [];
}

/** The fields of a request that are the same in every mode. `messages`: the stable ones. */
export function requestOf(
  head: TranscriptHead,
  options: RequestOptions,
  messages: readonly Message[],
  lastMessages: readonly Message[],
): ModelRequest {
  return {
    mode: head.spec.mode,
    agent: head.spec.name,
    runId: options.runId,
    iteration: options.iteration,
    attempt: options.attempt,
    messages: [...messages, ...lastMessages],
    settings: { ...head.spec.settings } as JsonObject,
    cacheUpTo: messages.length,
  };
}

/** Messages with sections written by `format` and without reasoning; empty ones are left out. */
export function writtenMessages(
  messages: readonly Message[],
  format: TextFormat,
): readonly Message[] {
  const known = writtenBy.get(format) ?? new WeakMap<Message, readonly Message[]>();
  writtenBy.set(format, known);
  const all: Message[] = [];
  for (const message of messages) {
    let written = known.get(message);
    if (written === undefined) {
      written = writtenMessage(message, format);
      known.set(message, written);
    }
    all.push(...written);
  }
  return all;
}

/** A message is part of many requests and never changes, so it is written once. */
const writtenBy = new WeakMap<TextFormat, WeakMap<Message, readonly Message[]>>();

/** Frozen, since the same objects are shown to models and middleware of many requests. */
function writtenMessage(message: Message, format: TextFormat): readonly Message[] {
  const { parts } = message;
  // Providers refuse ids of what reasoning came before without that reasoning.
  const hasReasoning = parts.some(({ type }) => type === 'reasoning');
  const written = parts.flatMap((part): readonly Part[] => {
    if (part.type === 'reasoning') return [];
    if (part.type === 'text' && hasReasoning)
      return [Object.freeze({ type: 'text', text: part.text })];
    if (part.type !== 'sections') return [part];
    return [Object.freeze({ type: 'text', text: format.format(part.sections) })];
  });
  return written.length === 0 ? [] : [Object.freeze({ ...message, parts: Object.freeze(written) })];
}
