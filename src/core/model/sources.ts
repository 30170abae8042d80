/** The sources that models of a run have named, each once. */
import type { Source } from '../contract/step.ts';

/** Sources of a run that its Step names: the state stays small. */
const MAX_SOURCES = 100;

/** `sources` with those of `added` that are not there yet, at most `max`. */
export function withSources(
  sources: readonly Source[],
  added: readonly Source[],
  max: number = MAX_SOURCES,
): readonly Source[] {
  const all = [...sources];
  for (const source of added) {
    if (all.length >= max) break;
    if (!all.some((known) => isSame(known, source))) all.push(source);
  }
  return all;
}

function isSame(left: Source, right: Source): boolean {
  if (left.url !== undefined || right.url !== undefined) return left.url === right.url;
  return left.title === right.title && left.filename === right.filename;
}
