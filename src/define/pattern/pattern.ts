/**
 * Patterns of schemas: ECMAScript with the flag `u`, matched anywhere in a text, in counted steps.
 * V8's own engine backtracks without end on some texts, and models write the texts.
 *
 * I1  A verdict is the one of V8. It depends on pattern and text alone, not on time.
 * I2  A pattern without look-around and references runs on the engine of the language, in linear
 *     time; others, and those with great counts, run on `backtracking.ts`. Both count steps.
 */
import { compileNode } from '../../lisp/regex/compile.ts';
import { matchRegex } from '../../lisp/regex/regex.ts';
import type { RegexNode } from '../../lisp/regex/syntax.ts';
import { compileBacktracking, type BacktrackingProgram } from './compile-backtracking.ts';
import { runBacktracking } from './backtracking.ts';
import { parsePattern } from './parse-pattern.ts';
import { PatternError, type PatternNode } from './pattern-tree.ts';

/** Longest pattern, in UTF-16 units. */
const MAX_PATTERN_UNITS = 20_000;

/** The steps that are left of a check. */
export interface StepBudget {
  left: number;
}

/** Thrown when a check needs more steps than it has. */
export class OutOfSteps extends Error {
  override readonly name = 'OutOfSteps';
}

/** Takes `steps` from `budget`; throws when it has no more. */
export function spendSteps(budget: StepBudget, steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw new OutOfSteps();
}

/** Whether a text has a match; spends steps of the budget and throws when they end. */
export type PatternTest = (text: string, budget: StepBudget) => boolean;

/**
 * The test of a pattern that V8 accepts. Throws a {@link PatternError} for one that is not
 * supported.
 */
export function compilePattern(source: string, ignoresCase = false): PatternTest {
  if (source.length > MAX_PATTERN_UNITS) {
    throw new PatternError(
      `a pattern with at most ${MAX_PATTERN_UNITS} characters, got one with ${source.length}`,
    );
  }
  const tree = parsePattern(source, ignoresCase);
  const linear = tree.isIrregular ? null : compileNode(regular(tree.root), source, [null]);
  if (linear === null) return backtracking(compileBacktracking(tree));
  let runs: BacktrackingProgram | undefined;
  return (text, budget) => {
    if (text.length > SHORT_TEXT) {
      runs ??= compileBacktracking(tree);
      const most = Math.min(budget.left, 2 * text.length);
      const { found, steps } = runBacktracking(runs, text, most);
      spendSteps(budget, Math.min(steps, most));
      if (steps <= most) return found;
    }
    const { groups, steps, exhausted } = matchRegex(linear, text, 0, 'find', budget.left);
    spendSteps(budget, exhausted === true ? budget.left + 1 : steps);
    return groups !== null;
  };
}

/**
 * Longer texts are first tried by backtracking, in two steps a character: it takes runs such as
 * `[a-z]+` at once, while the linear engine follows each character of a long text.
 */
const SHORT_TEXT = 1_000;

function backtracking(program: BacktrackingProgram): PatternTest {
  return (text, budget) => {
    const { found, steps } = runBacktracking(program, text, budget.left);
    spendSteps(budget, steps);
    return found;
  };
}

/** A tree without look-around for the engine of the language. Groups matter only to references. */
function regular(node: PatternNode): RegexNode {
  switch (node.kind) {
    case 'set':
      return literal(node.ranges) ?? { kind: 'set', ranges: node.ranges };
    case 'sequence':
    case 'choice':
      return { kind: node.kind, items: node.items.map(regular) };
    case 'group':
      return regular(node.item);
    case 'repeat':
      return { ...node, item: regular(node.item), lazy: false };
    case 'look':
    case 'back':
      throw new Error(`Expected a regular pattern, got ${node.kind}.`);
    default:
      return node;
  }
}

/** One character, which is found faster. Half of a pair is matched as a character of its own. */
function literal(ranges: readonly number[]): RegexNode | undefined {
  const [code, last] = ranges;
  if (ranges.length !== 2 || code === undefined || code !== last) return undefined;
  return code >= 0xd800 && code <= 0xdfff ? undefined : { kind: 'char', code };
}
