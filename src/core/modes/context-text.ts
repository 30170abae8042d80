/** The data of a run as text, for modes without sections. */
import { withCommas } from '../../lisp/base/with-commas.ts';
import type { JsonObject } from '../base/json.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { clip } from '../text/cut.ts';

/** Characters of one value, and of all values together; larger data belongs in a tool. */
const maxValue = 2000;
const maxTotal = 16_000;

/**
 * `# Context` and one `<data name="key">…</data>` for each key; empty if there are no keys. Text is
 * shown as it is, other values as JSON; long ones are cut and end with `… (12,345 chars)`. The
 * meaning of a key is beside its name.
 */
export function describeContext(
  context: JsonObject,
  descriptions: { readonly [name: string]: string } = {},
): string {
  let left = maxTotal;
  const lines = Object.entries(context).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const shown = clip(text, Math.min(maxValue, left));
    left -= shown.length;
    const mark = shown.length < text.length ? `… (${withCommas(text.length)} chars)` : '';
    const meaning = Object.hasOwn(descriptions, key) ? descriptions[key] : undefined;
    const about = meaning === undefined ? '' : ` about="${attribute(meaning)}"`;
    return `<data name="${attribute(key)}"${about}>${shown.replaceAll('</data', '<\\/data')}${mark}</data>`;
  });
  return lines.length === 0 ? '' : ['# Context', ...lines].join('\n');
}

/**
 * What the keys of the context of a run mean: the agent's descriptions take precedence over those
 * of a Step.
 */
export function contextDescriptions({ spec, contextDescriptions }: TranscriptHead): {
  readonly [name: string]: string;
} {
  return { ...contextDescriptions, ...spec.contextDescriptions };
}

/** Text inside the quotes of a tag, on one line. */
function attribute(text: string): string {
  return text
    .replaceAll('"', "'")
    .replaceAll(/[<>]|\s+/g, (found) => (found === '<' ? '‹' : found === '>' ? '›' : ' '));
}
