import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { shareBundle } from '../support/bundles.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-examples-'));
  await shareBundle(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Example {
  readonly name: string;
  readonly args?: readonly string[];
  readonly output: string;
}

describe('an example', () => {
  it.each<Example>([
    {
      name: 'readme',
      output: 'Yes, 12 packets of tea.\n',
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
      name: '04-own-loop',
      output: 'A durable agent survives its worker.\n2 iterations, 4 model calls\n',
    },
    {
      name: '05-chat',
      output: 'Two dice show 8.\n2 iterations, 1 call\n',
    },
    {
      name: '06-scenarios',
      args: ['shop', 'summary'],
      output:
        'You were charged twice for ORD-1007, the Mighty Mouse Pro Wireless: both transactions are ' +
        'settled. The duplicate could not be canceled, and your bank refused the refund because ' +
        'card 4242 is inactive. I opened case CASE-3001, and you have a store credit of 79.99, ' +
        'CR-4001, usable at once.\n' +
        'success: 11 iterations, 13 model calls, 12 calls, 1430 tokens\n' +
        'refused {"attempt":"cancel GW-TX-5001"}\n' +
        'refused {"attempt":"refund PAY-2001"}\n' +
        'case {"case":{"case_id":"CASE-3001","status":"open","order_id":"ORD-1007","details":' +
        '"Charged twice, 79.99 each: GW-TX-5001, GW-TX-5002. Cancel and refund refused."}}\n' +
        'credit {"credit":{"credit_id":"CR-4001","case_id":"CASE-3001","amount":79.99,' +
        '"status":"approved"}}\n',
    },
    {
      name: '07-research',
      output:
        'Yes, buy one bike: it costs 6,200 EUR once and 480 EUR a year, the van 7,900 EUR a year ' +
        '(N1, N2). 71 of 90 customers live within 4 km (N3), bikes may use bus lanes (N5), and vans ' +
        'will pay 12 EUR a day in the centre (N6). Keep the van for the other 19.\n' +
        'success: 12 model calls, 1320 tokens\n' +
        'costs 2, customers 2, planner 1, rules 2, writer 5\n',
    },
    {
      name: '08-long-document',
      output: '{"storms":4,"strongest":12}\nsuccess: 21 runs, 42 model calls\n',
    },
  ])(
    'runs as it stands: $name',
    async ({ name, args = [], output }) => {
      const { address, namespace } = inject('temporal');

      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', join(ROOT, 'examples', `${name}.ts`), ...args],
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
