/** The turns of mode `lisp`, and what the model reads about them and about its plan. */
import type { LispSpec } from '../contract/spec.ts';
import { framedLine } from '../text/untrusted.ts';

/** The number of turns; null: unlimited. */
export interface TurnCounts {
  readonly work: number | null;
  /** Repair turns, after the work turns. */
  readonly repair: number;
}

/** The kind of a turn: `last`: the last work turn · `repair`: only repair turns are left. */
export type TurnKind = 'work' | 'last' | 'repair';

/**
 * The turns of a run whose limit on iterations is `of`. A higher limit than the agent's adds
 * work turns; a lower one first removes repair turns.
 */
export function turnCounts(lisp: LispSpec, of: number | null): TurnCounts {
  if (of === null) return { work: null, repair: lisp.retryTurns };
  const work = of <= lisp.maxTurns ? of : Math.max(lisp.maxTurns, of - lisp.retryTurns);
  return { work, repair: of - work };
}

/** The kind of the turn of `iteration`, from 1. */
export function turnKind({ work }: TurnCounts, iteration: number): TurnKind {
  if (work === null || iteration < work) return 'work';
  return iteration === work ? 'last' : 'repair';
}

/** What is left after the turn of `iteration`; empty if turns are unlimited. */
export function turnsText({ work, repair }: TurnCounts, iteration: number): string {
  if (work === null) return '';
  const left = work - iteration;
  if (left > 1) return `Turn ${iteration} of ${work}: ${left} turns left.`;
  if (left === 1) return 'The next turn is the last. Return your answer in it.';
  return `Repair turn ${1 - left} of ${repair}: call \`(return …)\` again.`;
}

/** Characters of a step's summary. */
const MAX_SUMMARY = 200;

/** The plan as a checklist. `done`: summaries by the number of a step or by its text. */
export function planLines(
  plan: readonly string[],
  done: { readonly [id: string]: string },
): readonly string[] {
  const summaries = new Map(Object.entries(done).map(([id, text]) => [plainId(id), text]));
  return plan.map((step, index) => {
    const summary = summaries.get(String(index + 1)) ?? summaries.get(step);
    const head = `${index + 1}. ${framedLine(step)}`;
    if (summary === undefined) return `- [ ] ${head}`;
    const text = framedLine(summary).slice(0, MAX_SUMMARY);
    return text === '' ? `- [x] ${head}` : `- [x] ${head}: ${text}`;
  });
}

/** An id as it is compared: `1`, `"1"` and `:1` are the same step. */
function plainId(id: string): string {
  return id.replace(/^:/, '').replace(/^"([^]*)"$/, '$1');
}
