/** The texts of a prompt that an agent's functions write for each request. */
import { defined } from '../core/base/defined.ts';
import { inlineRequest, requestOfOrder } from '../core/ask/order-request.ts';
import type { RunInfo } from '../core/calls/run-info.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { ModelRequest } from '../core/contract/model.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { systemTexts } from '../core/modes/react-prompt.ts';
import { agentTime, type AgentTime } from '../core/run/time.ts';
import { bindExtensions } from '../core/extension/own-parts.ts';
import { formatOf } from '../core/format/format-of.ts';
import { isPlainObject } from '../core/base/json.ts';
import type { Message } from '../core/base/message.ts';
import { shown } from '../core/text/shown.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { orderFor, preparedSpec } from './prepare-request.ts';
import { redactRequest } from './redact-request.ts';
import { withinTime } from '../tools/within-time.ts';
import type { AgentDefinition, Registry, TextFunction } from '../define/definition/definitions.ts';

/** The texts that functions wrote; texts that the specification contains are absent. */
export interface PromptTexts {
  readonly instructions?: string;
  readonly rules?: string;
  readonly prompt?: readonly Message[];
}

/** What a request is made with besides its order. */
export interface RequestPlace {
  readonly attempt: number;
  readonly info: RunInfo;
}

/**
 * The request of an order as its model may read it; `view` is null for an order that has its whole
 * request.
 */
export async function requestFor(
  registry: Registry,
  order: ModelOrder,
  view: TranscriptView | null,
  place: RequestPlace,
): Promise<ModelRequest> {
  const request = await wholeRequest(registry, order, view, place);
  return redactRequest(request, registry.agents.get(order.agent)?.definition.redact);
}

async function wholeRequest(
  registry: Registry,
  order: ModelOrder,
  view: TranscriptView | null,
  { attempt, info }: RequestPlace,
): Promise<ModelRequest> {
  const { purpose, own, inline } = order;
  if (inline !== undefined) return inlineRequest(order, inline, attempt);
  if (view === null) {
    throw new Error('Expected a transcript, or a request in the order, got neither.');
  }
  if (registry.extensions !== undefined) bindExtensions(view.head.spec, registry.extensions);
  // Summaries and questions of LLM tools do not have the agent's prompt.
  const hasPrompt = purpose === 'reply' && (own === undefined || own.conversation === true);
  if (!hasPrompt) return requestOfOrder(order, view, { attempt });
  const agent = registry.agents.get(order.agent);
  const { spec, ...decided } = await preparedSpec(agent, view.head.spec, info, order.model);
  const chosen = orderFor(order, spec, decided.prepared);
  const shown = spec === view.head.spec ? view : { ...view, head: { ...view.head, spec } };
  const texts = await promptTexts(registry, order, shown, info);
  return { ...requestOfOrder(chosen, shown, { attempt, ...texts }), ...decided };
}

/** Calls the agent's functions for one request. An error of a function fails the attempt. */
async function promptTexts(
  registry: Registry,
  order: ModelOrder,
  view: TranscriptView,
  info: RunInfo,
): Promise<PromptTexts> {
  const { task, context, spec } = view.head;
  const isWritten = [spec.instructions, spec.rules].some((source) => source?.kind === 'function');
  if (!isWritten && spec.react?.prompt !== true) return {};
  const definition = registry.agents.get(order.agent)?.definition;
  const time = agentTime(order.time, zoneOffset(spec.timeZone));
  const input = { ...info, input: { task, ...defined({ context }) }, time };
  const textOf = async (
    name: 'instructions' | 'rules',
    write: TextFunction | undefined,
  ): Promise<string | undefined> => {
    if (spec[name]?.kind !== 'function' || write === undefined) return undefined;
    return withinTime(`\`${name}\` of ${spec.name}`, () => write(input));
  };
  const [instructions, rules] = await Promise.all([
    textOf('instructions', definition?.instructions),
    textOf('rules', definition?.rules),
  ]);
  const notes = spec.rules?.kind === 'function' ? spec.serverNotes : undefined;
  const followed = [rules, notes].filter((text) => text !== undefined && text !== '').join('\n\n');
  const texts = defined({ instructions, rules: notes === undefined ? rules : followed });
  const prompt = await ownPrompt(definition, view, texts, { time, info });
  return { ...texts, ...defined({ prompt }) };
}

/** The agent's own prompt. Without one, also during an upgrade, the built-in prompt is used. */
async function ownPrompt(
  definition: AgentDefinition | undefined,
  { head: { spec } }: TranscriptView,
  texts: PromptTexts,
  now: { readonly time: AgentTime; readonly info: RunInfo },
): Promise<readonly Message[] | undefined> {
  const write = definition?.prompt;
  if (spec.react?.prompt !== true || write === undefined) return undefined;
  const input = { ...systemTexts(spec, texts), format: formatOf(spec.react.format), ...now };
  const messages: unknown = await withinTime(`\`prompt\` of ${spec.name}`, () => write(input));
  if (Array.isArray(messages) && messages.every(isMessage)) return messages;
  throw new UsageError(
    'agent_prompt',
    `Expected \`prompt\` of ${spec.name} to return a list of messages, got ${shown(messages)}. Return \`textMessage(role, text)\` and its like.`,
  );
}

const ROLES: readonly unknown[] = ['system', 'user', 'assistant', 'tool'];

function isMessage(value: unknown): value is Message {
  return (
    isPlainObject(value) &&
    ROLES.includes(value['role']) &&
    Array.isArray(value['parts']) &&
    value['parts'].every((part) => isPlainObject(part) && typeof part['type'] === 'string')
  );
}

/**
 * The offset of a zone from UTC in ms at a time in ms since 1970; east of Greenwich it is positive.
 * The core must not use `Intl`, so it gets this function.
 */
function zoneOffset(timeZone: string): (atMs: number) => number {
  if (timeZone === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (atMs) => {
    const fields = Object.fromEntries(
      format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
    const shown = Date.UTC(year, month - 1, day, hour, minute, second);
    return shown - Math.floor(atMs / 1_000) * 1_000;
  };
}
