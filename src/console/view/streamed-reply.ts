/**
 * A reply while it streams: provisional text that the recorded reply replaces.
 *
 * I1  A piece of an earlier attempt or iteration changes nothing.
 * I2  A `restart` removes the text so far; a gap is marked with `…`.
 */

/** The text of the reply that a run is writing. */
export interface StreamedReply {
  readonly iteration: number;
  readonly attempt: number;
  readonly text: string;
  readonly reasoning: string;
  /** Some of it is missing. */
  readonly hasGap: boolean;
  /** Set: nobody read when it began, so it comes whole at its end. */
  readonly comesWhole?: true;
}

/** A change of the text, in the order in which the model wrote it. */
export interface TextChange {
  readonly iteration: number;
  readonly attempt: number;
  readonly change: 'text' | 'reasoning' | 'restart' | 'gap' | 'not_streamed' | 'end';
  readonly delta: string;
}

const GAP = ' … ';

/** `reply` after `changes`; null: nothing has been written yet. */
export function streamed(
  reply: StreamedReply | null,
  changes: readonly TextChange[],
): StreamedReply | null {
  return changes.reduce(afterChange, reply);
}

function afterChange(reply: StreamedReply | null, item: TextChange): StreamedReply | null {
  const { iteration, attempt, change, delta } = item;
  if (reply !== null && isOld(reply, item)) return reply;
  const continues = reply?.iteration === iteration && reply.attempt === attempt;
  const empty = { iteration, attempt, text: '', reasoning: '', hasGap: false };
  if (change === 'restart') return empty;
  const known = continues ? reply : empty;
  switch (change) {
    case 'text':
      return { ...known, text: known.text + delta };
    case 'reasoning':
      return { ...known, reasoning: known.reasoning + delta };
    case 'gap':
      return { ...known, text: known.text + GAP, hasGap: true };
    case 'not_streamed':
      return { ...known, comesWhole: true };
    case 'end':
      return known;
  }
}

function isOld(reply: StreamedReply, { iteration, attempt }: TextChange): boolean {
  if (iteration !== reply.iteration) return iteration < reply.iteration;
  return attempt < reply.attempt;
}
