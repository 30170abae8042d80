/** What goes into the sandbox: our own code and yaml, and nothing that reaches Node. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { CALLBACK_WORKFLOW } from '../../src/core/contract/callback.ts';
import {
  AGENT_WORKFLOW,
  MOMENT_WORKFLOW,
  PROBE_WORKFLOW,
} from '../../src/core/contract/messages.ts';
import { RATE_WORKFLOW } from '../../src/core/rate/rate.ts';
import { TENANT_WORKFLOW } from '../../src/core/tenant/tenant-messages.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import * as workflows from '../../src/workflows/index.ts';
import { BUNDLE_FOLDER } from '../support/bundles.ts';

/** Four percent over what all of it takes, so that a library by mistake shows. */
const MAX_BYTES = 1_000_000;

/** What stands between the code and its source map. */
const MAP_MARK = '\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

let code: string;
beforeAll(async () => {
  ({ code } = await loadWorkflowBundle({ cacheDir: BUNDLE_FOLDER }));
});

it('exports the registered workflows and no others', () => {
  expect(Object.keys(workflows)).toEqual([
    AGENT_WORKFLOW,
    PROBE_WORKFLOW,
    CALLBACK_WORKFLOW,
    MOMENT_WORKFLOW,
    TENANT_WORKFLOW,
    RATE_WORKFLOW,
  ]);
  expect(workflows.agentProbe).toBe(workflows.agent);
});

it('ignores no module: what cannot run in the sandbox does not reach it', async () => {
  const source = await readFile(
    new URL('../../src/worker/bundle/make-bundle.ts', import.meta.url),
    'utf8',
  );

  expect(source).not.toContain('ignoreModules');
});

it('has yaml and what the SDK brings, no other package', () => {
  const map = Buffer.from(code.split(MAP_MARK)[1] ?? '', 'base64').toString();
  const { sources } = JSON.parse(map) as { readonly sources: readonly string[] };
  const names = sources.flatMap((path) => {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
    return name === undefined ? [] : [name];
  });
  const packages = [...new Set(names)].toSorted();

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
  const bytes = Buffer.byteLength(code.split(MAP_MARK)[0] ?? code);

  expect(bytes).toBeLessThan(MAX_BYTES);
});
