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
