/** A call in one line for Temporal's own UI: `lookup(AA100)`, `search(query: tea, limit: 5)`. */
import type { Json, JsonObject } from '../base/json.ts';
import { isHidden } from '../contract/signature.ts';
import { withoutHidden } from '../program-text/hidden-values.ts';
import { clip } from '../text/cut.ts';
import { redact } from '../text/redact.ts';
import { summaryLine } from '../text/summary.ts';

/** Names of arguments whose values are secrets, whatever they look like. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)?$|pwd|pin$|secret|token|api_?key|authorization|cookie|credential/i;

/** Characters of one argument that are read. */
const MAX_ARGUMENT = 200;

/**
 * The call without arguments whose names begin with `_`, without values that look like secrets, and
 * without `hidden` texts. The name of a single argument is left out.
 */
export function callSummary(tool: string, args: JsonObject, hidden: readonly string[]): string {
  const shown = Object.entries(args).filter(([name]) => !isHidden(name));
  const isSingle = shown.length === 1;
  const texts = shown.map(([name, value]) => {
    const text = SECRET_NAME.test(name) ? '[redacted]' : redact(argumentText(value, hidden));
    return isSingle ? text : `${name}: ${text}`;
  });
  return summaryLine(`${tool}(${texts.join(', ')})`);
}

function argumentText(value: Json, hidden: readonly string[]): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, shownOnly);
  return withoutHidden(clip(text, MAX_ARGUMENT), hidden);
}

/** Leaves out fields that are hidden or secret. */
function shownOnly(name: string, value: unknown): unknown {
  return isHidden(name) || SECRET_NAME.test(name) ? undefined : value;
}
