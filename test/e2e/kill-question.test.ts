/**
 * A question for a week: a program asks in a `map` in a `pmap`, and everything under it goes away and
 * comes back before somebody answers: the link, the worker with its bundle, the server.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { cli } from '../cli/cli-fixture.ts';
import { CENSUS_VALUE } from '../support/census.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { SurveyWorker } from '../support/fixtures/serve-survey.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { confusedCalls, enteredCalls } from '../support/survey.ts';
import { CLI_FOLDER, handoverAfter, startTestServer } from '../support/test-server.ts';
import { isRunning } from '../../src/worker/server/server-lock.ts';
import { startOrFindServer, type EmbeddedServer } from '../../src/worker/server/embedded-server.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { ProgramView } from '../../src/core/contract/report.ts';

/** More events than the calls of the program make. */
const SETTINGS = handoverAfter(90);

const QUESTIONS = ['Who lives in north, b?', 'Who lives in west, b?'] as const;

let stage: Stage | undefined;
const servers: EmbeddedServer[] = [];
const workers = fixtureProcesses<SurveyWorker>('serve-survey');
afterEach(async () => {
  await workers.stop();
  await stage?.close();
  for (const server of servers.splice(0).toReversed()) await server.stop();
});

/** The questions of a run, once both are open, by what is asked. */
async function asked(run: RunHandle): Promise<ReadonlyMap<string, string>> {
  const pending = await eventually(
    'two questions',
    async () => {
      const items = await run.pending();
      return items.length === 2 && (await run.status()).state === 'waiting' && items;
    },
    60_000,
  );
  return new Map(
    pending.map((item) => [item.kind === 'question' ? item.question : item.kind, item.id]),
  );
}

/** What people see of the program: the forms, and what is open. */
function seen(view: ProgramView | null): object {
  const { forms = [], effects = [], state } = view?.status ?? {};
  return {
    state,
    forms: forms.map((form) => form.state),
    // They stand side by side: which is asked first is chance.
    waiting: effects
      .filter((effect) => effect.state === 'waiting')
      .map(({ id, kind, text }) => `${kind} ${id}: ${text}`)
      .toSorted(),
    done: effects.filter((effect) => effect.state === 'done').length,
  };
}

/** Eight of nine calls are done where two towns wait: what stands behind a question has not begun. */
const WAITING = {
  state: 'waiting',
  forms: ['waiting', 'pending', 'pending'],
  waiting: ['ask 1/0/3: Who lives in north, b?', 'ask 1/2/3: Who lives in west, b?'],
  done: 7,
};

/** What `everloop program RUN` draws of it. */
const SHOWN: readonly RegExp[] = [
  /^program 1\.p · waiting · .* · 7 effects done$/m,
  /^waiting +1 +\(def counts \(pmap/m,
  /^pending +\d+ +\(return /m,
  /^1\/0\/3 .* ask Who lives in north, b\?$/m,
  /^1\/2\/3 .* ask Who lives in west, b\?$/m,
];

describe('a question for a week', () => {
  it(
    'is answered in mid-expression, with a new link, worker and server [row 24] [row 29] [sub 17]',
    { timeout: 240_000 },
    async () => {
      const server = await startTestServer({ dynamicConfig: SETTINGS });
      servers.push(server);
      stage = await openStage(server);
      const { pid = 0, dataDir, address, namespace } = server;
      const storeDir = await mkdtemp(join(stage.folder, 'census-'));
      const archiveDir = join(storeDir, 'archive');
      await mkdir(archiveDir);
      const taskQueue = `census-${randomUUID()}`;
      const work = { address, namespace, taskQueue, storeDir, archiveDir, latencyMs: 10 };
      const victim = await workers.start(work);
      const run = await stage.everloopOf(taskQueue, archiveDir).start('census', { task: 'Count.' });
      const questions = await asked(run);
      expect([...questions.keys()].toSorted()).toEqual(QUESTIONS);
      expect(seen(await run.program())).toEqual(WAITING);
      expect((await run.status()).link).toBe(1);

      // Changes of limits make the history long; a program that only waits hands over.
      let turns = 20;
      await eventually(
        'a second link',
        async () => {
          await run.adjust({ iterations: (turns += 1) });
          return (await run.status()).link > 1;
        },
        60_000,
      );
      expect(await asked(run)).toEqual(questions);
      expect(seen(await run.program())).toEqual(WAITING);

      // Nobody is there any more, and nothing is left but the server's file.
      await victim.kill('SIGKILL');
      process.kill(pid, 'SIGKILL');
      await eventually('the server to be gone', () => !isRunning(pid));
      servers.push(
        await startOrFindServer({
          dataDir,
          cliDir: CLI_FOLDER,
          port: Number(address.split(':')[1]),
          dynamicConfig: SETTINGS,
        }),
      );
      await workers.start(work);
      expect(await asked(run)).toEqual(questions);
      expect(seen(await run.program())).toEqual(WAITING);
      const shown = await cli(['program', run.id], { everloop: stage.everloopOf(taskQueue) });
      expect(shown.exitCode).toBe(0);
      for (const line of SHOWN) expect(shown.stdout).toMatch(line);
      await run.answer(questions.get(QUESTIONS[1]) ?? '', 'nobody');
      await run.answer(questions.get(QUESTIONS[0]) ?? '', 2);
      const step = await run.result();

      expect(step).toMatchObject({
        status: 'success',
        value: CENSUS_VALUE,
        notes: ['counted [[51 900 51] [51 51 51] [41 1 41]]'],
        iterations: 1,
        usage: { toolCalls: 9, modelCalls: 1 },
      });
      const entered = enteredCalls(storeDir);
      expect(new Set(entered.map(({ callId }) => callId)).size).toBe(9);
      expect(entered).toHaveLength(9);
      expect(entered.every(({ attempt }) => attempt === 1)).toBe(true);
      expect(confusedCalls(storeDir)).toEqual([]);
      const events = await run.events();
      expect(hasNoGap(events)).toBe(true);
      expect(bodiesOf(events, 'agent:question:asked')).toHaveLength(2);
      expect(bodiesOf(events, 'agent:program:before')).toHaveLength(1);
      expect(bodiesOf(events, 'agent:execution:handover').length).toBeGreaterThanOrEqual(1);
      await stage.replay(run);
    },
  );
});
