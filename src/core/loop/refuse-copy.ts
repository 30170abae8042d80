/** Refuses an answer that only copies the example of its prompt, once a run: it may be meant. */
import type { Json } from '../base/json.ts';
import type { Judgement } from '../contract/judgement.ts';
import { withoutCopy } from '../termination/copied-example.ts';
import type { Run } from '../run/run.ts';

/**
 * `judgement`, or what stands in for it when its answer equals `example`: the model is told once, if
 * it has another turn.
 */
export function refuseCopy(run: Run, judgement: Judgement, example: Json | undefined): Judgement {
  const { state, wouldCross } = run;
  if (state.toldExample === true || state.breach !== null) return judgement;
  return wouldCross(['agent:iterations']) === null ? withoutCopy(judgement, example) : judgement;
}
