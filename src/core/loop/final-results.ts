/** Results of final tools: the answer of the run, judged like one that the model writes. */
import type { Candidate } from '../contract/judgement.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { CallResult, FinalValue } from '../modes/observation.ts';
import { candidateOf, problemLines } from '../modes/program-answer.ts';
import { judgementFeedback } from '../termination/feedback.ts';
import { judgeCandidates } from './judge.ts';
import {
  acceptAnswer,
  continueRun,
  messagesOf,
  metadataOf,
  type OpenTurn,
  type TurnResult,
} from './turn.ts';
import type { TurnEnd } from './work.ts';

/**
 * Ends a turn with calls: with the first final result that is accepted, else the model reads all of
 * them, and why there was no answer.
 */
export async function endOrContinue(
  current: OpenTurn,
  turn: TurnResult & { readonly results: readonly CallResult[] },
): Promise<TurnEnd> {
  const { work } = current;
  const finals = turn.results.flatMap(({ final }) => (final === undefined ? [] : [final]));
  if (finals.length === 0) return continueRun(current, turn);
  const { spec } = work.state.head;
  const candidates = finals.map((final) => finalCandidate(spec, final));
  const outcome = { ...turn, sectionErrors: turn.sections.errors };
  const entry = (): { readonly messages: ReturnType<typeof messagesOf> } => ({
    messages: messagesOf(current, outcome),
    ...metadataOf(turn.sections, turn.results),
  });
  const text = finals.map(({ value = null }) => JSON.stringify(value)).join('\n');
  const judgement = await judgeCandidates(work, candidates, text).catch((error: unknown) => {
    // The calls ran, so whoever goes on has to read what they did.
    work.append(entry());
    throw error;
  });
  if (judgement.kind === 'accepted') return acceptAnswer(work, judgement.value, entry());
  const feedback = [
    ...(turn.feedback ?? []),
    ...judgementFeedback(judgement, 'Call the tool again, or answer yourself.'),
  ];
  return continueRun(current, { ...turn, feedback, note: { problems: problemLines(judgement) } });
}

/** An answer that is a text is one, whatever the tool returned. */
function finalCandidate(spec: AgentSpec, { value }: FinalValue): Candidate {
  if (spec.answer.kind !== 'text') return candidateOf(spec, { value: value ?? null });
  const text = value === undefined ? '' : JSON.stringify(value);
  return { kind: 'value', value: typeof value === 'string' ? value : text };
}
