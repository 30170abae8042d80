/** One call of a run, with arguments and result as whole as the run has them. */
import type { Json } from '../core/base/json.ts';
import type { Part } from '../core/base/message.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import { defined } from '../core/base/defined.ts';
import type { CallAnswer } from './api.ts';
import { ConsoleRefusal } from './refusal.ts';
import type { RunReader } from './run-reader.ts';
import { itemsFrom } from './iteration-pages.ts';

type CallEvent = Extract<
  AgentEvent,
  { readonly type: 'agent:tool_call:before' | 'agent:tool_call:after' }
>;

/**
 * Call `callId` of run `id`. Events cut long values; a call of the provider's own form has them whole
 * in the transcript.
 *
 * @throws ConsoleRefusal `not_found` when the run has no such call.
 */
export async function findCall(reader: RunReader, id: string, callId: string): Promise<CallAnswer> {
  const iteration = Number(/^\d+/.exec(callId)?.[0] ?? Number.NaN);
  if (Number.isNaN(iteration)) throw noCall(id, callId);
  const { status } = await reader.overview(id);
  const [events, entries] = await Promise.all([
    itemsFrom((range) => reader.events(id, range), status.events, iteration),
    itemsFrom((range) => reader.entries(id, range), status.entries, iteration),
  ]);
  const own = events.filter((event): event is CallEvent => isOf(event, callId));
  const before = own.find(({ type }) => type === 'agent:tool_call:before');
  const after = own.find(({ type }) => type === 'agent:tool_call:after');
  const known = after ?? before;
  if (known === undefined) throw noCall(id, callId);
  const parts = entries.flatMap((entry) => partsOf(entry, callId));
  const asked = parts.find((part) => part.type === 'tool_call');
  const result = parts.find((part) => part.type === 'tool_result');
  const ended = after?.type === 'agent:tool_call:after' ? after : undefined;
  const args = asked?.args ?? known.args;
  const output = result === undefined ? (ended?.output ?? null) : textOf(result.parts);
  const isCut =
    // The arguments of a call are an object, and a cut value is a text.
    typeof args === 'string' ||
    ended?.cut !== undefined ||
    (result === undefined && isLong(output));
  return { callId, tool: known.tool, args, output, isCut, ...defined({ error: ended?.error }) };
}

/** Bytes from which events cut a value. */
const CUT_BYTES = 2_048;

function isLong(output: Json): boolean {
  return typeof output === 'string' && Buffer.byteLength(output) >= CUT_BYTES - 100;
}

function isOf(event: AgentEvent, callId: string): boolean {
  const isCall = event.type === 'agent:tool_call:before' || event.type === 'agent:tool_call:after';
  return isCall && event.callId === callId;
}

function partsOf({ messages }: Entry, callId: string): readonly Part[] {
  return messages
    .flatMap(({ parts }) => parts)
    .filter((part) => 'callId' in part && part.callId === callId);
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

function noCall(id: string, callId: string): ConsoleRefusal {
  return new ConsoleRefusal(
    'not_found',
    `Expected a call of run \`${id}\`, got \`${callId.slice(0, 80)}\`, which it does not have.`,
  );
}
