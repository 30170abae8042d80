/**
 * Questions of a tool and approvals that hold, on a real server: workers are killed while a `once` tool
 * asks, while its question waits, and between its two questions.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { valueOf } from '../../src/core/contract/stats.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { TellerWorker } from '../support/fixtures/serve-teller.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';
import { doneIn } from '../support/teller-agents.ts';

let stage: Stage;
const workers = fixtureProcesses<TellerWorker>('serve-teller');
beforeAll(async () => {
  stage = await openHandoverStage(25);
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** Settles once `id` waits; returns the item. */
function waiting(run: RunHandle, id: string): Promise<unknown> {
  return eventually(
    `${id} to wait`,
    async () => (await run.pending()).find((item) => item.id === id) ?? false,
    60_000,
  );
}

describe('a tool that asks', () => {
  it(
    'begins once, after the last answer, whoever dies; an approval holds over hand-overs [row 23]',
    { timeout: 240_000 },
    async () => {
      const folder = await mkdtemp(join(stage.folder, 'teller-'));
      const taskQueue = `teller-${randomUUID()}`;
      const { address, namespace } = stage;
      const work = { address, namespace, taskQueue, folder, archiveDir: folder };
      const first = await workers.start({ ...work, diesAt: 'asks' });
      const run = await stage.everloopOf(taskQueue, folder).start('teller', { task: 'Pay.' });
      expect(await first.ended).toBe('SIGKILL');

      const second = await workers.start(work);
      expect(await waiting(run, 'q1')).toMatchObject({
        question: 'From where?',
        details: { tool: 'send', form: { required: ['from'] } },
      });
      await expect(run.answer('q1', { from: 'heaven' })).rejects.toMatchObject({
        code: 'invalid_input',
        message: 'answer with an object: from is one of giro, cash',
      });
      await second.kill('SIGKILL');
      // The service keeps the answer.
      const sent = run.answer('q1', '{"from": "giro"}');
      const third = await workers.start({ ...work, diesAt: 'asks {"from":"giro"}' });
      await sent;
      expect(await third.ended).toBe('SIGKILL');

      await workers.start(work);
      expect(await waiting(run, 'q2')).toMatchObject({ options: ['true', 'false'] });
      expect(doneIn(folder)).not.toContain('sent');
      await run.answer('q2', 1);
      await waiting(run, '2.1');
      await expect(
        run.decide('2.1', { approve: true, remember: 'all' as never }),
      ).rejects.toMatchObject({ code: 'invalid_input' });
      await run.decide('2.1', { approve: true, remember: 'tool' }, { by: 'ada' });
      const step = await run.result();

      expect(step).toMatchObject({ status: 'success', value: 'done' });
      expect(step.unknownCalls).toBeUndefined();
      expect(doneIn(folder)).toEqual([
        'asks',
        'asks',
        'asks {"from":"giro"}',
        'asks {"from":"giro"}',
        'asks true',
        'sent',
        'paid 1',
        'paid 2',
        'paid 3',
      ]);
      const events = await run.events();
      expect(hasNoGap(events)).toBe(true);
      expect(bodiesOf(events, 'agent:tool_call:after')[0]).toMatchObject({
        output: { answer: true, state: { from: 'giro' }, key: '1.1' },
        losses: 2,
      });
      expect(bodiesOf(events, 'agent:approval:requested')).toHaveLength(1);
      expect(
        bodiesOf(events, 'agent:approval:decided').map(({ standing, by }) => [standing, by]),
      ).toEqual([
        [undefined, 'ada'],
        ['2.1', 'ada'],
        ['2.1', 'ada'],
      ]);
      expect(bodiesOf(events, 'agent:execution:handover').length).toBeGreaterThan(0);
      expect(valueOf(step.stats, 'agent:questions')).toBe(2);
      expect(valueOf(step.stats, 'agent:tool_calls')).toBe(4);
      await stage.replay(run);
    },
  );

  it('has an approval that is listed, and revoked once', async () => {
    const folder = await mkdtemp(join(stage.folder, 'teller-'));
    const taskQueue = `teller-${randomUUID()}`;
    const { address, namespace } = stage;
    await workers.start({ address, namespace, taskQueue, folder, archiveDir: folder });
    const run = await stage.everloopOf(taskQueue, folder).start('teller', { task: 'Pay.' });
    await waiting(run, 'q1');
    await run.answer('q1', { decline: true });
    await waiting(run, '2.1');
    await run.decide('2.1', { approve: true, remember: 'arguments' });
    await waiting(run, '3.1');

    const { approvals } = await run.status();
    expect(approvals).toMatchObject([{ id: '2.1', tool: 'pay', args: { amount: 1 } }]);
    await run.revoke('2.1', { by: 'bob' });
    expect(await run.status()).not.toHaveProperty('approvals');
    await expect(run.revoke('2.1')).rejects.toMatchObject({
      code: 'invalid_input',
      message:
        'Expected `revoke` to be the id of a standing approval, got `2.1`. Choose one of: there is none.',
    });
    await run.decide('3.1', { deny: 'enough' });
    await waiting(run, '4.1');
    await run.decide('4.1', { deny: 'enough' });
    await run.result();

    expect(bodiesOf(await run.events(), 'agent:approval:revoked')).toEqual([
      { type: 'agent:approval:revoked', callId: '2.1', by: 'bob' },
    ]);
    expect(doneIn(folder)).toEqual(['asks', 'paid 1']);
    await stage.replay(run);
  });
});
