/** Files and folders that another process may delete at any moment. */
import { readdir } from 'node:fs/promises';

/** The code of an error of the file system, such as `ENOENT`; undefined if it has none. */
export function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}

/** Nothing for what is not there, or not any more. Throws any other error. */
export function orGone(error: unknown): undefined {
  const code = codeOf(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** The names in a folder; none if it does not exist. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(orGone)) ?? [];
}
