/** What the model wrote in a message, whole or piece by piece, with the sources that it names. */
import type { Entry } from '../core/contract/entry.ts';
import type { RunUpdate } from '../client/follow-run.ts';
import type { StepSource } from '../core/contract/step.ts';
import { shownPart, sourceOf, textsOf } from './shown-parts.ts';
import { merged, plainText, restAfter, type TextParts, type WrittenText } from './text-parts.ts';
import type { UIChunk } from './ui-chunk.ts';

/** The replies of a message. */
export interface Replies {
  /** An entry of the transcript. */
  readonly entry: (entry: Entry) => void;
  /** What was written in an iteration, whole. */
  readonly whole: (iteration: number, pieces: readonly WrittenText[]) => void;
  /** A piece of what is being written: gives its iteration; undefined: it shows nothing new. */
  readonly piece: (update: PieceUpdate) => number | undefined;
  /** Sources, each of which is named once. */
  readonly sources: (sources: readonly StepSource[]) => void;
}

type PieceUpdate = Exclude<RunUpdate, { readonly kind: 'topic' }>;

/** Where the replies of a message begin, and whether their text is shown as it is written. */
interface RepliesPlace {
  readonly afterIteration: number;
  readonly showsText: boolean;
}

/** Writes replies into `out`. */
export function createReplies(
  out: UIChunk[],
  text: TextParts,
  { afterIteration, showsText }: RepliesPlace,
): Replies {
  const named = new Set<string>();
  /** Iterations up to this one have been shown whole. */
  let shownUpTo = afterIteration;

  const write = (iteration: number, pieces: readonly WrittenText[]): void => {
    if (iteration <= shownUpTo) return;
    shownUpTo = iteration;
    if (showsText) writeRest(text, iteration, merged(pieces));
  };
  return {
    entry: ({ iteration, origin, messages }) => {
      if (origin !== 'original') return;
      write(iteration, textsOf(messages));
      for (const chunk of messages.flatMap(({ parts }) => parts.flatMap(shownPart))) {
        text.close();
        out.push(chunk);
      }
    },
    whole: write,
    piece: (update) => {
      if (!showsText || !('iteration' in update) || update.iteration <= shownUpTo) return undefined;
      text.toIteration(update.iteration);
      if (update.kind === 'restart') text.discard();
      else if (update.kind === 'gap') text.write('text', ' […] ');
      else if (update.kind !== 'partial') text.write(update.kind, update.delta);
      return update.iteration;
    },
    sources: (sources) => {
      const added = sources.map(sourceOf);
      out.push(...added.filter(({ sourceId }) => !named.has(sourceId)));
      for (const { sourceId } of added) named.add(sourceId);
    },
  };
}

/** Writes what of `whole` is not shown yet, or all of it anew behind a text that became void. */
function writeRest(text: TextParts, iteration: number, whole: readonly WrittenText[]): void {
  const shown = text.written(iteration);
  let rest = restAfter(whole, shown);
  if (rest === undefined) {
    // What stands before a call can no longer be marked.
    if (!text.isOpen() || plainText(shown).trim() === plainText(whole).trim()) return;
    text.discard();
    rest = whole;
  }
  if (rest.length > 0) text.toIteration(iteration);
  for (const one of rest) text.write(one.type, one.text);
}
