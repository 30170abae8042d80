/** The data of a run as text, for modes without sections. */
import type { JsonObject } from '../json.ts';
import { clip } from '../text/cut.ts';

/** Characters of one value, and of all values together; more belongs into a tool. */
const maxValue = 2000;
const maxTotal = 16_000;

/**
 * `# Context` and one `<data name="key">…</data>` for each key; empty without keys. Text as it is,
 * other values as JSON; long ones are cut, with `… (12,345 chars)` behind them.
 */
export function describeContext(context: JsonObject): string {
  let left = maxTotal;
  const lines = Object.entries(context).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const shown = clip(text, Math.min(maxValue, left));
    left -= shown.length;
    const mark = shown.length < text.length ? `… (${withCommas(text.length)} chars)` : '';
    return `<data name="${key}">${shown.replaceAll('</data', '<\\/data')}${mark}</data>`;
  });
  return lines.length === 0 ? '' : ['# Context', ...lines].join('\n');
}

/** `12345` as `12,345`, the same in every locale. */
function withCommas(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
