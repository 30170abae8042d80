/**
 * The reference tables and the language card, made from the registry.
 */
import type { DocRow } from './docs/doc-row.ts';
import { DOC_ROWS, findBuiltin } from './registry.ts';

/** Rows by theme, in order. */
function themes(): readonly (readonly [string, readonly DocRow[]])[] {
  const found = new Map<string, DocRow[]>();
  for (const row of DOC_ROWS) {
    const rows = found.get(row.theme) ?? [];
    rows.push(row);
    found.set(row.theme, rows);
  }
  return [...found];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Markdown tables of every builtin: names, arguments, meaning, cost, examples. */
export function referenceTables(): string {
  const parts: string[] = [];
  for (const [theme, rows] of themes()) {
    parts.push(
      `### ${theme}`,
      '',
      '| names | args | meaning | cost | examples |',
      '|---|---|---|---|---|',
    );
    for (const row of rows) {
      const names = row.names.split(' ');
      const costs = new Set(names.map((name) => findBuiltin(name)?.cost ?? 'constant'));
      const examples = row.examples.map(([source, value]) => `\`${source}\` → \`${value}\``);
      const cells = [
        names.map((name) => `\`${name}\``).join(' '),
        row.args,
        row.meaning,
        [...costs].join(', '),
        examples.join('; '),
      ];
      parts.push(`| ${cells.map(cell).join(' | ')} |`);
    }
    parts.push('');
  }
  return parts.join('\n').trimEnd();
}

const CARD_HEAD = `The language is a small, eager, finite Clojure. A program is one or more forms; the value of the last is its result.

Differences that matter
- The vector is the only sequential type; nothing is lazy or endless. \`(map f xs)\` gives a vector.
- A character is a string of length 1. Keyword and string keys find each other: \`(:a {"a" 1})\` is 1, and \`-\` finds \`_\`.
- \`/\` always gives a float. \`=\` compares numbers by value. Integers have any size.
- Bad data gives nil (missing key, index out of range, text that does not parse); a wrong type raises and ends the program.
- Maps and sets are walked and printed sorted; take \`keys\`, \`vals\` or \`entries\` before \`first\`, \`last\`, \`nth\`.
- No macros, atoms, exceptions, lazy sequences, transducers, namespaces of your own, several arities.

Special forms
def defonce defn fn #() let loop recur if if-not when when-not if-let when-let if-some when-some when-first cond case condp do and or -> ->> as-> cond-> cond->> some-> some->> for doseq dotimes quote attempt task. Patterns: \`[a & r :as all]\`, \`{:keys [a] :or {a 1} :as m}\`.

Effects
- \`(tool/name {:key value})\` calls a tool and gives its result; keys as keywords.
- \`(attempt expr)\` is \`{:ok value}\`, or \`{:error {:reason :message :tool}}\` when a tool in it failed.
- \`(pmap f coll)\` runs branches side by side; results keep their order.
- \`(ask "question" {:options [..]})\` asks a person, \`(sleep ms)\` waits, \`(now)\` is the time.
- \`(task id expr)\` keeps the value, so that a repeated program does not do it again.
- \`(return v)\` ends with an answer, \`(fail v)\` with a refusal. \`data/x\` reads key x of the context.
- \`(println x)\` writes a note. \`(doc name)\` and \`(apropos "text")\` look things up; \`(describe x)\` shows a shape.

Limits are counted in fuel: every step and every element costs. Index once with \`group-by\` instead of searching in a loop.

Functions`;

/** Greatest length in UTF-16 units, nearly all of which are one byte. */
const MAX_CARD = 6_000;

/** The language in at most 6 KB, for prompts. Deterministic. */
export function languageCard(): string {
  const lines = [CARD_HEAD];
  for (const [theme, rows] of themes()) {
    const names = rows.flatMap((row) => row.names.split(' ')).filter((name) => !name.endsWith("'"));
    lines.push(`${theme}: ${[...new Set(names)].join(' ')}`);
  }
  const card = lines.join('\n');
  return card.length <= MAX_CARD ? card : card.slice(0, MAX_CARD);
}
