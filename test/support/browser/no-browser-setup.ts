/** Called by vitest in place of the setup of a project that has no browser. */
import type { TestProject } from 'vitest/node';
import { reasonToSkip } from './find-browser.ts';

/**
 * What it returns is called after the summary of the run, and says why the project was skipped.
 *
 * @throws if a browser is required: then the run fails.
 */
export function setup({ name }: TestProject): () => void {
  const reason = reasonToSkip();
  return () => console.warn(`\n${name.split(' ')[0]}: SKIPPED, ${reason}.`);
}
