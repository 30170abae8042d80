/**
 * Questions of a server that wait while everything goes away and comes back: the link, the worker with
 * the process of the server, and Temporal's server.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { valueOf } from '../../src/core/contract/stats.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { OpsWorker } from '../support/fixtures/serve-ops.ts';
import { isAlive } from '../support/mcp-servers.ts';
import { opsNotes } from '../support/mcp/ops-agents.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startKillableServer, type KillableServer } from '../matrix/killable-server.ts';

const program = fileURLToPath(new URL('../support/mcp/ops-server.mjs', import.meta.url));
const workers = fixtureProcesses<OpsWorker>('serve-ops');
let stage: Stage | undefined;
let server: KillableServer | undefined;

afterEach(async () => {
  await workers.stop();
  await stage?.close();
  await server?.stop();
});

/** The open questions by id, once there are so many. */
async function asked(run: RunHandle, count: number): Promise<Record<string, string>> {
  const items = await eventually(`${count} questions`, async () => {
    const pending = await run.pending();
    return pending.length === count && pending;
  });
  return Object.fromEntries(
    items.map((item) => [item.id, 'question' in item ? item.question : item.kind]),
  );
}

/** Changes of limits make the history long, until the run hands over. */
async function handOver(run: RunHandle): Promise<void> {
  let iterations = 20;
  await eventually('a second link', async () => {
    await run.adjust({ iterations: (iterations += 1) });
    return (await run.status()).link > 1;
  });
}

describe('questions of a server', () => {
  it.runIf(RUNS_ALL)(
    'are answered with a new link, worker and server, and take effect once [mcp 6]',
    { timeout: 240_000 },
    async () => {
      server = await startKillableServer(true);
      stage = await openStage(server);
      const { address, namespace, folder, client } = stage;
      const [notes, archiveDir] = [join(folder, 'notes'), join(folder, 'archive')];
      const taskQueue = `week-${randomUUID()}`;
      const place = { address, namespace, archiveDir, taskQueue };
      const work: OpsWorker = { ...place, server: program, notes, release: '1', query: 'both' };
      const victim = await workers.start(work);
      const everloop = stage.everloopOf(taskQueue, archiveDir);
      const two = await everloop.start('ops', { task: 'Ship it' });
      const planned = await everloop.start('planner', { task: 'Ship them' });
      const first = [await asked(two, 1), await asked(planned, 2)];
      expect(first).toEqual([{ q1: 'And then?' }, { q1: 'Deploy where?', q2: 'Deploy where?' }]);
      await Promise.all([two, planned].map(handOver));
      expect([await asked(two, 1), await asked(planned, 2)]).toEqual(first);

      // Nothing is held open.
      for (const { id } of [two, planned]) {
        const { raw } = await client.workflow.getHandle(id).describe();
        expect(raw.pendingActivities).toEqual([]);
      }
      expect(await two.pending()).toMatchObject([
        { kind: 'question', details: { server: 'ops', tool: 'deploy', form: { type: 'object' } } },
      ]);
      const pid = (await opsNotes(notes))[0]?.pid ?? 0;
      await victim.kill('SIGKILL');
      await eventually('the process of the MCP server to end', () => !isAlive(pid));
      process.kill(server.pid(), 'SIGKILL');
      await server.restart();
      await workers.start({ ...work, release: '2' });
      expect([await asked(two, 1), await asked(planned, 2)]).toEqual(first);

      await expect(two.answer('q1', { env: 'moon' })).rejects.toThrow(
        'answer with an object: env is one of staging, production',
      );
      await two.answer('q1', { env: 'staging' });
      expect(await asked(two, 1)).toEqual({ q2: 'Deploy where?' });
      await two.answer('q2', { env: 'production' });
      await planned.answer('q2', { env: 'production' });
      await planned.answer('q1', { decline: true });
      const steps = [await two.result(), await planned.result()];

      // The lists are those of the start, although the server has more tools now.
      expect(steps[0]?.value).toBe('both is on staging and production');
      // Which of two that run side by side asks first is chance.
      const places = ((steps[1]?.value ?? []) as readonly string[]).map(
        (text) => text.split(' is on ')[1] ?? '',
      );
      expect(new Set(places)).toEqual(new Set(['decline', 'production']));
      expect(steps.map(({ stats }) => valueOf(stats, 'agent:tool_calls'))).toEqual([1, 2]);
      const key = `${steps[0]?.trace.firstExecutionId}/1.1`;
      const all = await opsNotes(notes);
      expect(all.filter(({ did }) => did.includes(key))).toHaveLength(2);
      const did = all.map((note) => note.did.replace(/ [\w-]+\/[\w./]+/, ''));
      expect(did.toSorted()).toEqual([
        'asked both',
        'asked x',
        'asked y',
        'deployed both staging and production note of both',
        `deployed x ${places[0]} note of x`,
        `deployed y ${places[1]} note of y`,
      ]);
      for (const run of [two, planned]) {
        const handovers = bodiesOf(await run.events(), 'agent:execution:handover');
        expect(handovers.length).toBeGreaterThan(0);
        await stage.replay(run);
      }
    },
  );
});
