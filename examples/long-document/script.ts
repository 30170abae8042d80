/** The scripted reader: it follows its instructions exactly. */
import { textOf, type ModelFunction, type Part } from '../../src/index.ts';
import { MAX_LINES } from './ship-log.ts';

interface Found {
  readonly storms: number;
  readonly strongest: number;
}

/** Splits, reads or combines, depending on its task and on what it has read so far. */
export const readLines: ModelFunction = ({ messages }) => {
  const usage = { inputTokens: 100, outputTokens: 10 };
  const results = messages.flatMap(({ parts }) => parts).flatMap(resultOf);
  if (results.length > 0) {
    return Promise.resolve({ content: JSON.stringify(results.map(foundIn).reduce(both)), usage });
  }
  const asked = messages.map(textOf).join('\n');
  const [, from = 1, to = 0] = (/Lines (\d+) to (\d+)\./.exec(asked) ?? []).map(Number);
  const isShort = to - from < MAX_LINES;
  const toolCalls = isShort
    ? [{ name: 'read', args: { from, to } }]
    : quarters(from, to).map((args) => ({ name: 'self', args }));
  return Promise.resolve({ toolCalls, usage });
};

function quarters(
  from: number,
  to: number,
): readonly { readonly from: number; readonly to: number }[] {
  const length = Math.ceil((to - from + 1) / 4);
  return [0, 1, 2, 3]
    .map((part) => ({
      from: from + part * length,
      to: Math.min(to, from + (part + 1) * length - 1),
    }))
    .filter((part) => part.from <= part.to);
}

function resultOf(part: Part): readonly string[] {
  if (part.type !== 'tool_result') return [];
  return part.parts.map((inner) => (inner.type === 'text' ? inner.text : ''));
}

/** The content of a result: that of a part, or lines of the log. */
function foundIn(text: string): Found {
  if (text.startsWith('{')) return JSON.parse(text) as Found;
  const winds = [...text.matchAll(/storm, wind (\d+)/g)].map(([, wind]) => Number(wind));
  return { storms: winds.length, strongest: Math.max(0, ...winds) };
}

function both(a: Found, b: Found): Found {
  return { storms: a.storms + b.storms, strongest: Math.max(a.strongest, b.strongest) };
}
