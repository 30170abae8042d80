import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { EXAMPLES, exampleProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { extentOf, RUNS_ALL } from '../support/extent.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INDEX = pathToFileURL(join(ROOT, 'src/index.ts')).href;
const WORKER = pathToFileURL(join(ROOT, 'src/worker.ts')).href;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-examples-'));
  await shareBundle(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * The environment of a program. Its queue is its own: on that of another program, with an agent of the
 * same name, either could take the runs of both.
 */
function environment(): Readonly<Record<string, string | undefined>> {
  const { address, namespace } = inject('temporal');
  return {
    PATH: process.env['PATH'],
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    EVERLOOP_DATA_DIR: folder,
    EVERLOOP_TASK_QUEUE: `example-${randomUUID()}`,
  };
}

interface Example {
  readonly name: string;
  readonly args?: readonly string[];
  readonly output: string;
  /** Lines that may come in any order. */
  readonly parallel?: RegExp;
}

/** The text with its first lines of this pattern sorted. */
function settled(text: string, parallel: RegExp): string {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => parallel.test(line));
  const count = lines.filter((line) => parallel.test(line)).length;
  return [
    ...lines.slice(0, from),
    ...lines.slice(from, from + count).toSorted(),
    ...lines.slice(from + count),
  ].join('\n');
}

const ALL: readonly Example[] = [
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
    // Two calls of a turn run at once: either may end first.
    parallel: /^population /u,
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
  {
    name: '09-toml-calls',
    output: '369 km\n2 iterations, 2 calls\n',
  },
  {
    name: '10-mcp-servers',
    output:
      'Noted: Ada ordered 3 lamps.\n3 calls\nfiles_read_text_file: ok\n' +
      'memory_create_entities: ok\nmemory_search_nodes: ok\n',
  },
  {
    name: '11-mcp-host',
    output: 'May pay run with {"amount":50}? Yes.\nsuccess The bill of 50 euros is paid.\n',
  },
  {
    name: '12-schedules',
    output: '2026-05-04: 10 orders\n2026-05-05: 20 orders\n2026-05-06: 30 orders\n',
  },
  {
    name: '13-forks',
    output:
      'I canceled BK001. After the fee of 100, you have a travel credit of 199.\n' +
      'Calls from iteration 4 on: cancel_booking (once)\n' +
      'I would move BK001 to AA102, seat 14C, which is free for you as a gold member.\n' +
      'Equal before iteration 4: 3 entries.\n' +
      '2 iterations, 220 tokens: cancel_booking ok\n' +
      '2 iterations, 220 tokens: reschedule_booking refused\n' +
      'Changes: 1\n',
  },
  {
    name: '14-evals',
    output:
      'quick: 0 of 10 passed, 220 tokens, 2 turns\n' +
      'careful: 10 of 10 passed, 110 tokens, 1 turns\n' +
      'tokens beside the first: -110 [-110, -110]\n',
  },
];

describe('an example', () => {
  it.each(RUNS_ALL ? ALL : extentOf(ALL))(
    'runs as it stands: $name',
    async ({ name, args = [], output, parallel }) => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [...exampleProgram(name), ...args],
        { cwd: ROOT, env: environment() },
      );

      expect(parallel === undefined ? stdout : settled(stdout, parallel)).toBe(output);
    },
    120_000,
  );
});

/** The README's program as a user writes it, with a real provider and no key. */
const KEYLESS = `
import { openai } from '@ai-sdk/openai';
import { defineAgent, unwrap } from '${INDEX}';
import { local } from '${WORKER}';
const clerk = defineAgent({ name: 'keyless', model: openai('gpt-5-mini') });
const everloop = await local({ agents: [clerk] });
const run = await everloop.start('keyless', { task: 'Do we have tea?' });
console.log(unwrap(await run.result()));
await everloop.close();
`;

describe('a program without the key of its provider', () => {
  it('names the variable and ends with exit code 1', async () => {
    const file = join(EXAMPLES, `keyless-${randomUUID()}.ts`);
    await writeFile(file, KEYLESS);
    try {
      const ended = promisify(execFile)(process.execPath, ['--import', 'tsx', file], {
        cwd: ROOT,
        env: environment(),
      });

      await expect(ended).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(
          'Expected a key for model `openai.responses/gpt-5-mini` in OPENAI_API_KEY, got none.',
        ),
      });
    } finally {
      await rm(file);
    }
  }, 120_000);
});
