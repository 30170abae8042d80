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
  const isFree = (id: string | undefined): id is string =>
    id !== undefined && callIds.test(id) && !used.has(id);
  for (const call of calls) {
    let id = [ownId(call), `call_${call.callId.replaceAll('.', '_')}`].find(isFree);
    for (let more = 0; id === undefined; more++) {
      const made = madeId(call.callId, callIdLength, more);
      if (isFree(made)) id = made;
    }
    used.add(id);
    ids.set(call.callId, id);
  }
  return ids;
}

function ownId({ providerData }: ToolCallPart): string | undefined {
  const id = isJsonObject(providerData) ? providerData['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Letters and digits, which all providers take. */
function madeId(callId: string, length: number, more: number): string {
  return `c${rollDigest(rollDigest(EMPTY_DIGEST, callId), `${more}`)}`.slice(0, length);
}
