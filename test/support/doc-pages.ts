/** Pages of docs/ and the examples that they quote. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The code blocks of a page by name: ` ```ts name `. */
export function blocksOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(`${ROOT}/docs/${page}.md`, 'utf8');
  return new Map(
    [...text.matchAll(/^```ts (\w+)\n([^]*?)^```$/gm)].map(([, name = '', code = '']) => [
      name,
      code,
    ]),
  );
}

/**
 * The files that a page has its reader write, by their paths: code blocks whose first line is a comment
 * with the path.
 */
export function filesOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(`${ROOT}/docs/${page}.md`, 'utf8');
  return new Map(
    [...text.matchAll(/^```tsx?\n\/\/ ([\w.[\]/-]+\.tsx?)\n([^]*?)^```$/gm)].map(
      ([, path = '', code = '']) => [path, code],
    ),
  );
}

/** The regions of an example by name, without their margin. */
export function regionsOf(example: string): ReadonlyMap<string, string> {
  const text = readFileSync(`${ROOT}/examples/docs/${example}.ts`, 'utf8');
  return new Map(
    [...text.matchAll(/^( *)\/\/ #region (\w+)\n([^]*?)^ *\/\/ #endregion$/gm)].map(
      ([, margin = '', name = '', code = '']) => [
        name,
        code.replaceAll(new RegExp(`^${margin}`, 'gm'), ''),
      ],
    ),
  );
}
