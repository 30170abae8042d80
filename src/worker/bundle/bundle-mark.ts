/** By what a run knows the module that its workflows come from. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { hashOf } from './kept-bundle.ts';

/**
 * The mark of a module with workflows, such as `loops@4f2a9c01`: the name of its file, by which a
 * replay knows it again after a change, and 8 digits that follow from its text.
 *
 * @throws UsageError `workflow_bundle` if it cannot be read.
 */
export async function markOf(workflowsPath: string): Promise<string> {
  const text = await readFile(workflowsPath).catch((error: unknown) => {
    throw new UsageError(
      'workflow_bundle',
      `Expected the workflows of \`${workflowsPath}\` to be a file, got: ${errorText(error)}`,
    );
  });
  // The sources and the build of a module differ in the ending.
  const stem = basename(workflowsPath).replace(/\.[cm]?[jt]sx?$/, '');
  const name = stem.replaceAll(/[^\w.+-]/g, '_').slice(0, MAX_MARK_NAME);
  return `${name}@${hashOf(text).slice(0, 8)}`;
}

/** Every run of these workflows records it, in each link. */
const MAX_MARK_NAME = 64;
