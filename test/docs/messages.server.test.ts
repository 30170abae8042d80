/** The commands of docs/messages.md, run by the `temporal` command line against a real server. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { MESSAGE_NAMES } from '../../src/core/contract/messages.ts';
import { fetchTemporalCli } from '../../src/worker/server/temporal-cli.ts';
import { eventually } from '../support/eventually.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

const PAGE = readFileSync(new URL('../../docs/messages.md', import.meta.url), 'utf8');

/** The commands in order, each on one line. */
const COMMANDS = [...PAGE.matchAll(/```sh\n([^]*?)```/g)]
  .flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  )
  .filter((line) => line !== '');

let stage: Stage;
let served: Served;
let temporal = '';
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve(peopleAgents());
  temporal = await fetchTemporalCli({ folder: CLI_FOLDER });
});
afterAll(() => stage.close());

const suffix = randomUUID().slice(0, 8);

/** The words of a command, without its quotes, for this test's server, queue and runs. */
function wordsOf(command: string): readonly string[] {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? String(plain) : quoted,
  );
  return words.map((word) =>
    /^order-\d$/.test(word) ? `${word}-${suffix}` : word === 'everloop' ? served.taskQueue : word,
  );
}

async function play(command: string): Promise<string> {
  const [, ...words] = wordsOf(command.replace(/ # fails$/, ''));
  const args = [...words, '--address', stage.address, '--namespace', stage.namespace];
  const { stdout } = await promisify(execFile)(temporal, args);
  return stdout;
}

it('each command of the page does what it says [R16]', async () => {
  const waiting = async (): Promise<void> => {
    const run = served.everloop.attach(`order-7-${suffix}`);
    await eventually('the run to wait', async () => (await run.pending()).length === 3);
  };
  const refusals: string[] = [];
  const output: string[] = [];
  for (const command of COMMANDS) {
    if (command.endsWith('# fails')) {
      const refusal = await play(command).catch((error: Error) => error.message);
      refusals.push(/Expected .*/.exec(refusal)?.[0] ?? refusal);
    } else output.push(await play(command));
    if (command.includes('--task-queue') && command.includes('order-7')) await waiting();
  }

  expect(refusals).toEqual([
    expect.stringMatching(/^Expected `from\.index` from 0 to \d+, the end so far, got 9999\./),
    expect.stringMatching(/^Expected /),
  ]);
  expect(output.join('\n')).toContain('No longer needed.');
  const run = served.everloop.attach(`order-7-${suffix}`);
  expect(await run.result()).toMatchObject({ status: 'success' });
  const inputs = bodiesOf(await run.events(), 'agent:input');
  // Those that steer come first.
  expect(inputs.toSorted((a, b) => a.position - b.position)).toMatchObject([
    { inputId: 'input-1', kind: 'queue', position: 1 },
    { inputId: 'input-2', kind: 'queue', position: 2 },
    { inputId: 'mail-12', kind: 'steer', position: 3 },
  ]);
  await stage.replay(run);
  await stage.replay(served.everloop.attach(`order-8-${suffix}`));
});

it('names every message', () => {
  const missing = Object.values(MESSAGE_NAMES).filter((name) => !PAGE.includes(`\`${name}\``));

  expect(missing).toEqual([]);
});
