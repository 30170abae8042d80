/** Who acts: a statement of the sender, which the event of the act keeps. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { approveAs } from '../../examples/docs/asking-people.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { answerUpdate, cancelSignal } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => stage?.close());

function actsOf(events: readonly AgentEvent[]): readonly (readonly [string, unknown])[] {
  return events.flatMap((event) =>
    'by' in event ? [[event.type.replace('agent:', ''), event.by] as const] : [],
  );
}

describe('who acts', () => {
  it('is kept in the event of each act', async () => {
    const { everloop } = await stage.serve(peopleAgents());
    const run = await everloop.start('clerk', { task: 'Pay the bill' });
    const other = await everloop.start('asker', { task: 'Ask me' });
    await eventually('all to wait', async () => {
      return (await run.pending()).length === 3 && (await other.pending()).length === 1;
    });

    await run.pause({ by: 'ada' });
    await run.adjust({ toolCalls: 50 }, { by: 'grace' });
    await run.resume({ by: 'ada' });
    await run.send('Take care.', { by: 'linus' });
    await run.answer('q1', '2', { by: 'barbara' });
    await run.answer('1.3', 'built');
    await approveAs(run);
    await run.result();
    await other.cancel('no longer needed', { by: 'ada' });
    await other.result();

    expect(actsOf(await run.events())).toEqual([
      ['paused', 'ada'],
      ['adjusted', 'grace'],
      ['resumed', 'ada'],
      ['question:answered', 'barbara'],
      ['approval:decided', 'ada'],
      ['input', 'linus'],
    ]);
    expect(actsOf(await other.events())).toEqual([['execution:after', 'ada']]);
    expect(JSON.stringify(await run.transcript())).not.toContain('linus');
    await stage.replay(run);
    await stage.replay(other);
  });

  it('is refused by client and run if it is no name, and a cancel goes on without', async () => {
    const { everloop } = await stage.serve(peopleAgents());
    const run = await everloop.start('asker', { task: 'Ask me' });
    await eventually('a question', async () => (await run.pending()).length === 1);
    const by = 'x'.repeat(201);
    const message = 'Expected `by` to be text of 1 to 200 characters, got ';

    await expect(run.answer('q1', 'blue', { by })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(message),
    });
    await expect(run.send('Hi', { by: '\ud800' })).rejects.toMatchObject({
      message: expect.stringContaining(message),
    });
    const handle = stage.client.workflow.getHandle(run.id);
    const sent = { id: 'q1', value: 'blue', updateId: 'u1', by: 7 };
    await expect(
      handle.executeUpdate(answerUpdate, { args: [sent as never] }),
    ).rejects.toMatchObject({ cause: { message: expect.stringContaining(message) } });
    await handle.signal(cancelSignal, { message: 'stop', by });
    expect(await run.result()).toMatchObject({ status: 'canceled', message: 'stop' });
    expect(actsOf(await run.events())).toEqual([]);
  });
});
