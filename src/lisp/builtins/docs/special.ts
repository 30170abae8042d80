import { docTable, type DocRow } from './doc-row.ts';

// prettier-ignore
/** Effects, ending and records. */
export const EFFECT_DOCS: readonly DocRow[] = Object.freeze([
  ...docTable('Effects', [
    ['ask', '1–2', 'asks a human; options `{:options :timeout-ms :default :details :free}`',
     [['(ask "Shall I go on?")', '"yes"'],
      ['(ask "Which one?" {:options ["red" "blue"]})', '"red"']]],
    ['sleep', '1', 'waits for milliseconds, up to 30 days',
     [['(sleep 1000)', 'nil'], ['(do (sleep 0) :awake)', ':awake']]],
    ['now', '0', 'the time of the workflow in milliseconds since the epoch',
     [['(int? (now))', 'true'], ['(= (now) (now))', 'true']]],
    ['pmap', '2+', '`map` with one branch per element; effects of branches run side by side',
     [['(pmap inc [1 2])', '[2 3]'], ['(pmap + [1 2] [10 20])', '[11 22]']]],
    ['pcalls', '1+', 'calls functions without arguments side by side',
     [['(pcalls (fn [] 1) (fn [] 2))', '[1 2]'], ['(pcalls (constantly :a))', '[:a]']]],
    ['budget/remaining', '0', 'what is left of the limits of the run, as a map',
     [['(map? (budget/remaining))', 'true'], ['(= budget/remaining (budget/remaining))', 'true']]],
  ]),
  ...docTable('Ending and records', [
    ['return fail', '1', 'ends the program at once with its answer · its refusal',
     [['(return {:total 3})', '{:total 3}'],
      ['(do (run! #(when (> % 1) (return %)) [1 2 3]) :none)', '2'],
      ['(fail "no rows")', '"no rows"'], ['(if (empty? []) (fail :empty) :fine)', ':empty']]],
    ['task-reset', '1', 'forgets a journal entry',
     [['(task-reset 1)', 'nil'], ['(do (task :a 1) (task-reset :a) (task :a 2))', '2']]],
    ['step-done', '2', "marks a step of the agent's plan as done, with a summary",
     [['(step-done 1 "read all")', '"read all"'],
      ['(step-done :read "3 files read")', '"3 files read"']]],
  ]),
]);
