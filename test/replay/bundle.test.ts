/** What goes into the sandbox: our own code and yaml, and nothing that reaches Node. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { AGENT_WORKFLOW } from '../../src/core/agent/messages.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle.ts';
import * as workflows from '../../src/workflows/index.ts';
import { BUNDLE_FOLDER } from '../support/replay.ts';

/** 2.3 MB with the program language, in November 2026; a library by mistake adds as much again. */
const MAX_BYTES = 3_000_000;

let code: string;
beforeAll(async () => {
  ({ code } = await loadWorkflowBundle({ cacheDir: BUNDLE_FOLDER }));
});

it('exports the registered workflows and no others', () => {
  expect(Object.keys(workflows)).toEqual([AGENT_WORKFLOW]);
});

it('ignores no module: what cannot run in the sandbox does not reach it', async () => {
  const source = await readFile(new URL('../../src/worker/bundle.ts', import.meta.url), 'utf8');

  expect(source).not.toContain('ignoreModules');
});

it('has yaml and what the SDK brings, no other package', () => {
  const modules = code.matchAll(/^\/\*\*\*\/ "[^"]*node_modules\/((?:@[^/"]+\/)?[^/"]+)/gm);
  const packages = [...new Set([...modules].map(([, name = '']) => name))].toSorted();

  expect(packages).toEqual([
    '@temporalio/common',
    '@temporalio/workflow',
    'long',
    'ms',
    'nexus-rpc',
    'yaml',
  ]);
});

it('stays small', () => {
  // The source map behind the code is no part of what is run.
  const bytes = Buffer.byteLength(code.split('\n//# sourceMappingURL')[0] ?? code);

  expect(bytes).toBeLessThan(MAX_BYTES);
});
