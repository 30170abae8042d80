/** Ids of calls as a provider takes them. */
import { EMPTY_DIGEST, rollDigest } from '../../core/base/digest.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { Message, ToolCallPart } from '../../core/base/message.ts';
import type { Traits } from './traits.ts';

/**
 * The id of each call of `messages` by our own: that of its provider if the target takes it and no call
 * before has it, else one that is made of ours. The same call gets the same id in every request with the
 * same messages before it.
 */
export function fittedIds(
  messages: readonly Message[],
  { callIds, callIdLength }: Pick<Traits, 'callIds' | 'callIdLength'>,
): ReadonlyMap<string, string> {
  const calls = messages.flatMap(({ parts }) => parts).filter((part) => part.type === 'tool_call');
  const ids = new Map<string, string>();
  const used = new Set<string>();
  for (const call of calls) {
    const own = ownId(call);
    let id = own !== undefined && callIds.test(own) ? own : madeId(call.callId, callIdLength, 0);
    for (let more = 1; used.has(id); more++) id = madeId(call.callId, callIdLength, more);
    used.add(id);
    ids.set(call.callId, id);
  }
  return ids;
}

function ownId({ providerData }: ToolCallPart): string | undefined {
  const id = isJsonObject(providerData) ? providerData['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Letters and digits for an id that is not short and plain enough, and for a repeated one. */
function madeId(callId: string, length: number, more: number): string {
  const plain = `call_${callId.replaceAll('.', '_')}`;
  if (more === 0 && plain.length <= length && /^\w+$/.test(plain)) return plain;
  return `c${rollDigest(rollDigest(EMPTY_DIGEST, callId), `${more}`)}`.slice(0, length);
}
