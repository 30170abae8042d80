/**
 * Effects, ending and records: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Effects, ending and records. */
export const EFFECT_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Effects',
    names: 'ask',
    args: '1–2',
    meaning: 'asks a human; options `{:options :timeout-ms :default :details :free}`',
    examples: [
      ['(ask "Shall I go on?")', '"yes"'],
      ['(ask "Which one?" {:options ["red" "blue"]})', '"red"'],
    ],
  },
  {
    theme: 'Effects',
    names: 'sleep',
    args: '1',
    meaning: 'waits for milliseconds, up to 30 days',
    examples: [
      ['(sleep 1000)', 'nil'],
      ['(do (sleep 0) :awake)', ':awake'],
    ],
  },
  {
    theme: 'Effects',
    names: 'now',
    args: '0',
    meaning: 'the time of the workflow in milliseconds since the epoch',
    examples: [
      ['(int? (now))', 'true'],
      ['(= (now) (now))', 'true'],
    ],
  },
  {
    theme: 'Effects',
    names: 'pmap',
    args: '2+',
    meaning: '`map` with one branch per element; effects of branches run side by side',
    examples: [
      ['(pmap inc [1 2])', '[2 3]'],
      ['(pmap + [1 2] [10 20])', '[11 22]'],
    ],
  },
  {
    theme: 'Effects',
    names: 'pcalls',
    args: '1+',
    meaning: 'calls functions without arguments side by side',
    examples: [
      ['(pcalls (fn [] 1) (fn [] 2))', '[1 2]'],
      ['(pcalls (constantly :a))', '[:a]'],
    ],
  },
  {
    theme: 'Effects',
    names: 'budget/remaining',
    args: '0',
    meaning: 'what is left of the limits of the run, as a map',
    examples: [
      ['(map? (budget/remaining))', 'true'],
      ['(= budget/remaining (budget/remaining))', 'true'],
    ],
  },
  {
    theme: 'Ending and records',
    names: 'return fail',
    args: '1',
    meaning: 'ends the program at once with its answer · its refusal',
    examples: [
      ['(return {:total 3})', '{:total 3}'],
      ['(do (run! #(when (> % 1) (return %)) [1 2 3]) :none)', '2'],
      ['(fail "no rows")', '"no rows"'],
      ['(if (empty? []) (fail :empty) :fine)', ':empty'],
    ],
  },
  {
    theme: 'Ending and records',
    names: 'task-reset',
    args: '1',
    meaning: 'forgets a journal entry',
    examples: [
      ['(task-reset 1)', 'nil'],
      ['(do (task :a 1) (task-reset :a) (task :a 2))', '2'],
    ],
  },
  {
    theme: 'Ending and records',
    names: 'step-done',
    args: '2',
    meaning: "marks a step of the agent's plan as done, with a summary",
    examples: [
      ['(step-done 1 "read all")', '"read all"'],
      ['(step-done :read "3 files read")', '"3 files read"'],
    ],
  },
]);
