/**
 * Media that a provider did not take: named by a key, which the reply records as `by.refused`, so that no
 * later request sends them to the same model again.
 */
import { createHash } from 'node:crypto';
import type { Author, MediaPart, Message } from '../../core/base/message.ts';
import { withMedia } from './fetch-media.ts';

/** Names a medium in every request that has it. */
export function mediumKey({ mediaType, url, data = '' }: MediaPart): string {
  const hash = createHash('sha256')
    .update(mediaType)
    .update(url ?? data);
  return hash.digest('base64url').slice(0, 16);
}

/** The keys of the media that the model `author` did not take in earlier requests. */
export function refusedBefore(messages: readonly Message[], author: Author): ReadonlySet<string> {
  return new Set(
    messages.flatMap(({ by }) => {
      const isSame = by?.provider === author.provider && by.model === author.model;
      return isSame ? (by.refused ?? []) : [];
    }),
  );
}

/** `messages` with a word in place of each medium of `keys`. */
export function withoutMedia(
  messages: readonly Message[],
  keys: ReadonlySet<string>,
): readonly Message[] {
  if (keys.size === 0) return messages;
  return messages.map((message) =>
    withMedia(message, (part) => {
      if (!keys.has(mediumKey(part))) return part;
      const text = `[left out: ${part.mediaType}, which the provider did not take]`;
      return { type: 'text', text };
    }),
  );
}
