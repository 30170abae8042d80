/** What goes into the sandbox: our own code and yaml, and nothing that reaches Node. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { AGENT_WORKFLOW } from '../../src/core/agent/messages.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle.ts';
import * as workflows from '../../src/workflows/index.ts';
import { BUNDLE_FOLDER } from '../support/replay.ts';

/** Code, yaml and the SDK: 2.4 MB in November 2026, 1 MB of it the language. Room for features, not for a library. */
const MAX_BYTES = 2_800_000;

it('exports the registered workflows and no others', () => {
  expect(Object.keys(workflows)).toEqual([AGENT_WORKFLOW]);
});

it('ignores no module: what cannot run in the sandbox does not reach it', async () => {
  const source = await readFile(new URL('../../src/worker/bundle.ts', import.meta.url), 'utf8');

  expect(source).not.toContain('ignoreModules');
});

it('stays small', async () => {
  const { code } = await loadWorkflowBundle({ cacheDir: BUNDLE_FOLDER });

  // The source map behind the code is no part of what is run.
  const bytes = Buffer.byteLength(code.split('\n//# sourceMappingURL')[0] ?? code);
  expect(bytes).toBeLessThan(MAX_BYTES);
});
