import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-examples-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('an example', () => {
  it.each([
    {
      name: 'readme',
      output: 'Vienna has 2,028,000 inhabitants.\n',
    },
    {
      name: '01-hello',
      output: 'Good morning, Ada!\nsuccess after 1 iteration, 110 tokens\n',
    },
    {
      name: '02-tools',
      output:
        'population {"city":"Vienna"}: ok\n' +
        'population {"city":"Zagreb"}: ok\n' +
        'note {"line":"Vienna is larger than Zagreb by 1261000."}: ok\n' +
        'Vienna, by 1,261,000 people.\n' +
        '3 calls, notebook: Vienna is larger than Zagreb by 1261000.\n',
    },
    {
      name: '08-own-loop',
      output: 'A durable agent survives its worker.\n2 iterations, 4 model calls\n',
    },
    {
      name: '09-chat',
      output: 'Two dice show 8.\n2 iterations, 1 call\n',
    },
  ])(
    'runs as it stands: $name',
    async ({ name, output }) => {
      const { address, namespace } = inject('temporal');

      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', join(ROOT, 'examples', `${name}.ts`)],
        {
          cwd: ROOT,
          env: {
            PATH: process.env['PATH'],
            TEMPORAL_ADDRESS: address,
            TEMPORAL_NAMESPACE: namespace,
            EVERLOOP_DATA_DIR: folder,
          },
        },
      );

      expect(stdout).toBe(output);
    },
    120_000,
  );
});
