/** Agents with a real server over stdio: its questions, its changes and its death. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { valueOf } from '../../src/core/contract/stats.ts';
import { startFixture, type FixtureProcess } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { OpsWorker } from '../support/fixtures/serve-ops.ts';
import { opsAgent, opsNotes, type OpsOptions } from '../support/mcp/ops-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';

const server = fileURLToPath(new URL('../support/mcp/ops-server.mjs', import.meta.url));

let stage: Stage;
const children: FixtureProcess[] = [];
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill('SIGKILL')));
  await stage?.close();
});

function optionsOf(release: OpsOptions['release']): OpsOptions {
  return { server, release, notes: join(stage.folder, `notes-${randomUUID()}`) };
}

async function question(run: RunHandle): Promise<unknown> {
  const items = await eventually('a question', async () => {
    const pending = await run.pending();
    return pending.length > 0 && pending;
  });
  return items[0];
}

describe('a question of a server', () => {
  it('is answered after worker and server were killed, by another worker with a changed server [mcp 6]', async () => {
    const options = optionsOf('1');
    const taskQueue = `mcp-${randomUUID()}`;
    const archiveDir = join(stage.folder, `archive-${randomUUID()}`);
    const { address, namespace } = stage;
    const work: OpsWorker = { address, namespace, archiveDir, taskQueue, ...options };
    const victim = await startFixture('serve-ops', [JSON.stringify(work)]);
    children.push(victim);
    const run = await stage.everloopOf(taskQueue, archiveDir).start('ops', { task: 'Ship it' });
    const asked = await question(run);
    await victim.kill('SIGKILL');
    const { everloop } = await stage.serve([opsAgent({ ...options, release: '2' })], { taskQueue });
    const again = everloop.attach(run.id);
    const item = await question(again);
    await again.answer('q1', { env: 'staging' });
    const step = await again.result();
    const notes = await opsNotes(options.notes);
    const key = `${step.trace.firstExecutionId}/1.1`;

    expect(item).toEqual(asked);
    expect(asked).toMatchObject({
      kind: 'question',
      question: 'Deploy where?',
      details: { server: 'ops', tool: 'deploy', form: { type: 'object', required: ['env'] } },
    });
    expect(notes.map(({ did }) => did)).toEqual([
      `asked app ${key}`,
      `deployed app staging ${key} note of app`,
    ]);
    expect(notes[1]?.pid).not.toBe(notes[0]?.pid);
    // The list is that of the start, although the server has more tools now.
    expect(step.value).toBe('app is on staging');
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(1);
    await stage.replay(again);
  });
});

describe('a call of a server', () => {
  it('is never repeated if it may have had an effect: its server was killed in the middle [mcp 4]', async () => {
    const options = optionsOf('1');
    const { everloop } = await stage.serve([opsAgent({ ...options, tool: 'hang' })]);
    const run = await everloop.start('ops', { task: 'Hang' });
    const [begun] = await eventually('a call', async () => {
      const notes = await opsNotes(options.notes);
      return notes.length > 0 && notes;
    });
    process.kill(begun?.pid ?? 0, 'SIGKILL');
    const step = await run.result();

    expect(step.value).toContain('it is unknown whether ops_hang took effect');
    expect((await opsNotes(options.notes)).map(({ did }) => did)).toEqual(['begun']);
  });

  it('waits for a worker that reaches the server, and fails the start after its time [mcp 3]', async () => {
    const options = { ...optionsOf('1'), server: join(stage.folder, 'no-such-server.mjs') };
    const { everloop } = await stage.serve([opsAgent(options)]);
    const run = await everloop.start('ops', { task: 'Go' });
    const step = await run.result();

    expect(step.status).toBe('error');
    expect(step.reason).toBe('mcp_unavailable');
  });
});
