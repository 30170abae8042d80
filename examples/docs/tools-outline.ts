/** The module of the isolated tool in docs/tools.md. */
// #region outline
import type { ToolContext } from '../../src/index.ts';

/** The headings of a document, which a library finds by one long computation. */
export function run({ text }: { readonly text: string }, { count }: ToolContext): string[] {
  count('shop:outlines');
  return text.split('\n').filter((line) => /^#+ /.test(line));
}
// #endregion
