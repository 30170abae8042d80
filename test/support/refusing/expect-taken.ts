/** The proof that no request of the suite is one that a real provider refuses. */
import { requestLines } from '../hidden-values.ts';
import type { Fields } from './json.ts';
import { refusalOf } from './refusing-provider.ts';

/** Where requests to models go. */
const MODEL_PATH =
  /^\S*\/(?:chat\/completions|responses|messages|models\/[^/\s]+:(?:streamGenerate|generate)Content)(?:\?\S*)?$/;

/** Requests to such paths are sent to be refused. */
export const UNCHECKED = '/unchecked';

/** @throws Error when a provider would refuse a request that is kept in `folder`. */
export function expectTaken(folder: string): void {
  const refused = requestLines(folder).flatMap((line): readonly string[] => {
    const at = line.indexOf(' ');
    const path = line.slice(0, at);
    if (!MODEL_PATH.test(path) || path.startsWith(UNCHECKED)) return [];
    const body = bodyOf(line.slice(at + 1));
    const problem = body && refusalOf(path.replace(/\?.*/, ''), body);
    return problem === undefined ? [] : [`${path}: ${problem}\n${line.slice(at + 1, at + 4_000)}`];
  });
  if (refused.length === 0) return;
  throw new Error(
    `Expected no request that a provider refuses, got ${refused.length}:\n${refused.slice(0, 20).join('\n')}`,
  );
}

function bodyOf(text: string): Fields | undefined {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    // A request that was cut off.
    return undefined;
  }
}
