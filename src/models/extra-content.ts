/**
 * What OpenAI-compatible servers add to a call and want back with it, such as the signature of a thought
 * of Gemini. Their adapter gives back one form of it, under a name that it does not read itself.
 */
import { isPlainObject, type Json, type JsonObject } from '../core/base/json.ts';

/** Additions by the id of their call. */
export type ExtraContent = Map<string, Json>;

/** The name of provider data that the adapter for OpenAI-compatible servers writes as they are. */
const KEY = 'openaiCompatible';

/** Keeps the additions in a chunk or a whole body of a server. */
export function takeExtraContent(extra: ExtraContent, body: unknown): void {
  const choices = isPlainObject(body) ? body['choices'] : undefined;
  if (!Array.isArray(choices)) return;
  for (const choice of choices.filter(isPlainObject)) {
    const said = choice['delta'] ?? choice['message'];
    const calls = isPlainObject(said) ? said['tool_calls'] : undefined;
    if (!Array.isArray(calls)) continue;
    for (const { id, extra_content: added } of calls.filter(isPlainObject)) {
      if (typeof id === 'string' && isPlainObject(added)) extra.set(id, added as Json);
    }
  }
}

/** The metadata of a call with what its server added to it. */
export function withExtraContent(
  extra: ExtraContent,
  id: string,
  metadata: JsonObject | undefined,
): JsonObject | undefined {
  const added = extra.get(id);
  return added === undefined ? metadata : { ...metadata, [KEY]: { extra_content: added } };
}
