/** A worker that is lost between a whole reply and the end of a read beside it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fixtureProcesses } from '../support/child-process.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { KeptReplyWorker } from '../support/fixtures/serve-kept-reply.ts';
import { playKeptReply } from '../support/kept-reply.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const processes = fixtureProcesses<KeptReplyWorker>('serve-kept-reply');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await processes.stop();
  await stage?.close();
});

const DONE = {
  status: 'success',
  value: 'done',
  usage: { modelCalls: 2, toolCalls: 1 },
};
/** The model is asked once for each reply; the read that was open begins again. */
const NOTES = ['asked 1', 'look 1.1 1', 'look 1.1 1', 'asked 2'];

describe.runIf(RUNS_ALL)('a reply that is whole when its worker is lost', () => {
  it('is not asked for again: its open read is, as a call of its turn', async () => {
    const { run, notes, beat } = await playKeptReply(stage, processes, `kept-${randomUUID()}`);

    expect(await run.result()).toMatchObject(DONE);
    expect(notes).toEqual(NOTES);
    expect(beat).toContain('"look"');
    const [call] = bodiesOf(await run.events(), 'agent:tool_call:after');
    expect(call).toMatchObject({ callId: '1.1', outcome: 'ok', attempts: 1 });
    await stage.replay(run);
  }, 240_000);

  it('[protection] is stored under the key of its run, and taken over with it', async () => {
    const key = randomBytes(32).toString('hex');
    const { run, notes, beat } = await playKeptReply(stage, processes, `kept-${randomUUID()}`, key);

    expect(await run.result()).toMatchObject(DONE);
    expect(notes).toEqual(NOTES);
    expect(beat.length).toBeGreaterThan(50);
    expect(beat).not.toContain('look');
  }, 240_000);
});
