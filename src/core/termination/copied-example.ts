/** Answers that only repeat the example of their prompt. */
import { canonicalJson, type Json } from '../base/json.ts';
import type { Judgement } from '../contract/judgement.ts';

/** The code of an answer that equals the example of its prompt. */
export const EXAMPLE_COPIED = 'example_copied';

/** `judgement`, or what stands in for it when its answer is accepted and equals `example`. */
export function withoutCopy(judgement: Judgement, example: Json | undefined): Judgement {
  if (judgement.kind !== 'accepted' || example === undefined) return judgement;
  if (canonicalJson(judgement.value) !== canonicalJson(example)) return judgement;
  return { kind: 'unfit', problems: [{ code: EXAMPLE_COPIED, message }], lines: [message] };
}

const message =
  'the answer equals the example, whose values only show the form. Put in values of your own; if the answer is meant as it is, give it once more';

/** Whether `judgement` says that the answer is the example. */
export function isCopy(judgement: Judgement): boolean {
  return (
    judgement.kind === 'unfit' && judgement.problems.some(({ code }) => code === EXAMPLE_COPIED)
  );
}
