/** The sources that models of a run have named, each once. */
import type { StepSource } from '../contract/step.ts';

/** Sources of a run that its Step names: the state stays small. */
const MAX_SOURCES = 100;

/** `sources` with those of `added` that are not there yet, at most `max`. */
export function withSources(
  sources: readonly StepSource[],
  added: readonly StepSource[],
  max: number = MAX_SOURCES,
): readonly StepSource[] {
  const all = [...sources];
  for (const source of added) {
    if (all.length >= max) break;
    if (!all.some((known) => isSame(known, source))) all.push(source);
  }
  return all;
}

function isSame(left: StepSource, right: StepSource): boolean {
  if (left.url !== undefined || right.url !== undefined) return left.url === right.url;
  return left.title === right.title && left.filename === right.filename;
}
