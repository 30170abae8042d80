/** What a run accepts fits into a hand-over; an answer that does not fit is told to the model. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LimitsInput } from '../../src/core/contract/input.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { byteSize, type Json } from '../../src/core/base/json.ts';
import { inputSignal } from '../../src/workflows/messages.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { answer, bodiesOf, gate, GARBAGE } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openHandoverStage(30);
});
afterAll(() => stage.close());

const KB_400 = 'y'.repeat(400 * 1024);

describe('the door of a run', () => {
  it('[R13] accepts no more than a hand-over can carry', async () => {
    const opened = gate();
    const agent = defineAgent({
      name: 'reader',
      mode: 'react',
      onUnparsed: 'retry',
      limits: 'unlimited',
      compaction: false,
      model: {
        id: 'm',
        model: async ({ iteration }) => {
          if (iteration === 1) await opened.opened;
          return iteration < 12 ? GARBAGE : answer('read');
        },
      },
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('reader', { task: 'Go' });

    const sends = await Promise.allSettled([1, 2, 3, 4].map(() => run.send(KB_400)));
    await run.send('a small one');
    opened.open();
    const step = await run.result();

    const accepted = sends.filter(({ status }) => status === 'fulfilled');
    expect(accepted.length).toBeGreaterThanOrEqual(2);
    expect(accepted.length).toBeLessThan(4);
    for (const send of sends) {
      if (send.status === 'rejected') {
        expect(send.reason).toMatchObject({
          code: 'invalid_input',
          message: expect.stringContaining('Expected room for') as unknown,
        });
      }
    }
    expect(step).toMatchObject({ status: 'success', value: 'read' });
    const events = await run.events();
    expect(bodiesOf(events, 'agent:input')).toHaveLength(accepted.length + 1);
    expect(bodiesOf(events, 'agent:execution:handover').length).toBeGreaterThan(0);
    await stage.replay(run);
  });

  it.runIf(RUNS_ALL)(
    '[R13] hears a thousand small inputs at once beside a large conversation',
    async () => {
      const opened = gate();
      const agent = defineAgent({
        name: 'crowded',
        mode: 'react',
        model: {
          id: 'm',
          model: async () => {
            await opened.opened;
            return answer('read');
          },
        },
      });
      const { everloop, taskQueue, stop } = await stage.serve([agent]);
      const run = await everloop.start('crowded', { task: 'Go' });
      await run.send(KB_400);
      await run.send(KB_400);
      await stop();
      const handle = stage.client.workflow.getHandle(run.id);
      for (let index = 0; index < 990; index += 30) {
        const some = Array.from({ length: 30 }, (_, next) => `i${index + next}`);
        await Promise.all(
          some.map((id) => handle.signal(inputSignal, { id, kind: 'queue', text: 'more' })),
        );
      }
      await stage.serve([agent], { taskQueue });
      opened.open();

      expect(await run.result()).toMatchObject({ status: 'success', value: 'read' });
      expect(bodiesOf(await run.events(), 'agent:input')).toHaveLength(992);
      await stage.replay(run);
    },
  );

  it('[R13] takes no adjustment that a hand-over could not carry', async () => {
    const opened = gate();
    const agent = defineAgent({
      name: 'waiter',
      mode: 'react',
      model: {
        id: 'm',
        model: async () => {
          await opened.opened;
          return answer();
        },
      },
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('waiter', { task: 'Go' });
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`own:key${index}`, 5]),
    ) as LimitsInput;

    for (const limits of [many, { [`own:${'k'.repeat(100_000)}`]: 1 } as LimitsInput]) {
      await expect(run.adjust(limits)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('Expected an adjustment of at most 8192 bytes') as unknown,
      });
    }
    expect(await run.adjust({ iterations: 7 })).toMatchObject({ paused: false });
    opened.open();
    expect(await run.result()).toMatchObject({ status: 'success' });
    await stage.replay(run);
  });
});

describe('an answer of a megabyte', () => {
  const LARGE = 'x'.repeat(1_000_000);

  function author(seen: string[], isStubborn: boolean): AgentDefinition {
    return defineAgent({
      name: 'author',
      mode: 'react',
      model: {
        id: 'm',
        model: async (request) => {
          seen.push(JSON.stringify(request.messages));
          return answer(request.iteration === 1 || isStubborn ? LARGE : 'short');
        },
      },
    });
  }

  it('[R13] is told to the model once', async () => {
    const seen: string[] = [];
    const { everloop } = await stage.serve([author(seen, false)]);

    const run = await everloop.start('author', { task: 'Write.' });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'short', iterations: 2 });
    expect(seen.at(-1)).toContain('the answer has 1000002 bytes as JSON, and at most ');
    // The conversation keeps only the beginning of such a reply.
    expect(byteSize((await run.transcript()) as unknown as Json)).toBeLessThan(20_000);
    await stage.replay(run);
  });

  it('[R13] ends the run when it comes again', async () => {
    const { everloop } = await stage.serve([author([], true)]);

    const run = await everloop.start('author', { task: 'Write.' });

    expect(await run.result()).toMatchObject({
      status: 'error',
      reason: 'value_too_large',
      iterations: 2,
    });
    await stage.replay(run);
  });
});
