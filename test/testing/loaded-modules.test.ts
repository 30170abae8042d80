import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Packages of Temporal that a process holds after each import; all of them are CommonJS. */
async function temporalPackagesAfter(
  entries: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const code = `
    import { createRequire } from 'node:module';
    const { cache } = createRequire(import.meta.url);
    const found = [];
    for (const entry of ${JSON.stringify(entries)}) {
      await import('./' + entry);
      const loaded = Object.keys(cache);
      found.push(loaded.flatMap((path) => /@temporalio\\/[^/\\\\]+/.exec(path) ?? []));
    }
    console.log(JSON.stringify(found));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', code],
    { cwd: ROOT },
  );
  return JSON.parse(stdout) as readonly (readonly string[])[];
}

it('everloop/testing loads nothing of Temporal, and an entry that does is told apart', async () => {
  const [testing, workflow] = await temporalPackagesAfter(['src/testing.ts', 'src/workflow.ts']);

  expect(testing).toEqual([]);
  expect(workflow).toContain('@temporalio/workflow');
});
