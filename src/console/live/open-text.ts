/** The text of the reply that is being written, for tabs that come in the middle of it. */
import { isChunk, type Chunk, type ChunkMarker } from '../../core/streaming/chunk.ts';
import type { LiveFrame, OpenText } from '../live-frames.ts';

/** Characters that are kept of a reply. */
const MAX_CHARACTERS = 262_144;

/** A change of a provisional reply, as frames `text` have it. */
export type ReplyChange = Omit<Extract<LiveFrame, { readonly kind: 'text' }>, 'kind' | 'run'>;

/** What `item` changes; null: nothing that is shown. */
export function textChangeOf(item: Chunk | ChunkMarker): ReplyChange | null {
  const { iteration, attempt } = item;
  const place = { iteration, attempt };
  switch (item.kind) {
    case 'text':
    case 'reasoning':
      return { ...place, change: item.kind, delta: isChunk(item) ? item.delta : '' };
    case 'restart':
    case 'gap':
    case 'not_streamed':
    case 'end':
      return { ...place, change: item.kind, delta: '' };
    case 'error':
      // Another attempt writes the reply from its beginning.
      return { ...place, change: 'restart', delta: '' };
    default:
      return null;
  }
}

/** `open` after a change. */
export function openAfter(
  open: OpenText | null,
  { iteration, attempt, change, delta }: ReplyChange,
): OpenText {
  const isSame = open?.iteration === iteration && open.attempt === attempt;
  const fresh = { iteration, attempt, text: '', reasoning: '', hasGap: false };
  const before = open !== null && isSame && change !== 'restart' ? open : fresh;
  if (change === 'gap') return { ...before, hasGap: true };
  if (change === 'not_streamed') return { ...before, comesWhole: true };
  if (change !== 'text' && change !== 'reasoning') return before;
  const isFull = before.text.length + before.reasoning.length + delta.length > MAX_CHARACTERS;
  return isFull ? { ...before, hasGap: true } : { ...before, [change]: before[change] + delta };
}
