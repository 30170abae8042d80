import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Packages of Temporal that a process holds once it has imported `entry`; all of them are CommonJS. */
async function temporalPackagesOf(entry: string): Promise<readonly string[]> {
  const code = `
    import { createRequire } from 'node:module';
    await import('./${entry}');
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify(loaded.flatMap((path) => /@temporalio\\/[^/\\\\]+/.exec(path) ?? [])));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', code],
    { cwd: ROOT },
  );
  return [...new Set(JSON.parse(stdout) as readonly string[])];
}

describe('everloop/testing', () => {
  it('loads nothing of Temporal', async () => {
    expect(await temporalPackagesOf('src/testing.ts')).toEqual([]);
  });

  it('is told apart from an entry that does', async () => {
    expect(await temporalPackagesOf('src/workflow.ts')).toContain('@temporalio/workflow');
  });
});
