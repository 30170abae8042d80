/** What `npm run test:nodes` runs in each version of Node. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportIn, summarize } from '../test-summary.ts';
import { compareLanguage } from './compare-language.ts';
import type { InstalledNode } from './install-node.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** How a part ended. */
export interface PartOutcome {
  readonly passed: boolean;
  /** `926 passed, 0 failed, 0 skipped` */
  readonly text: string;
}

/** A part of the tests. */
export interface NodePart {
  readonly name: string;
  /** The oldest version of Node that it needs; older ones skip it, and say so. */
  readonly needs?: number;
  readonly run: (node: InstalledNode) => Promise<PartOutcome>;
}

/** All parts, in their order. */
export const PARTS: readonly NodePart[] = [
  { name: 'language', run: compareLanguage },
  { name: 'unit', run: (node) => vitest(node, ['--project', 'unit']) },
  { name: 'ai-sdk-7', needs: 22, run: (node) => vitest(node, ['--project', 'ai-sdk-7']) },
  { name: 'demo', run: demo },
  {
    name: 'first-hour',
    run: (node) =>
      vitest(node, ['--project', 'server', 'test/e2e/first-hour.test.ts'], { TEST_EXTENT: 'all' }),
  },
];

/** Runs tests, of which at least one must run and none may fail. */
async function vitest(
  node: InstalledNode,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<PartOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'everloop-nodes-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  try {
    const code = await runNode(
      node,
      [join('node_modules', 'vitest', 'vitest.mjs'), 'run', ...args, ...reporters],
      env,
    );
    const { passed, line, notes } = summarize(reportIn(report), code);
    return { passed, text: [line, ...notes].join(' ') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function demo(node: InstalledNode): Promise<PartOutcome> {
  const code = await runNode(node, ['--import', 'tsx', join('examples', 'demo', 'demo.ts')]);
  return { passed: code === 0, text: `exit code ${code}` };
}

/** Runs a file in `node`; its output is this one's. */
async function runNode(
  { bin, env }: InstalledNode,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn(bin, args, { cwd: ROOT, env: { ...env, ...more }, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
