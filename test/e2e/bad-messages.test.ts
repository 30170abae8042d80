/** What is wrong with a message to a run: a clear error, and the run goes on. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { bodiesOf, gate, hasNoGap } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

let stage: Stage;
let served: Served;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const model = { id: 'm', model: async () => '<answer>done</answer>' };
  served = await stage.serve([defineAgent({ name: 'tester', mode: 'react', model })]);
});
afterAll(() => stage.close());

describe('a message', () => {
  const NOT_FOUND = (id: string): object => ({
    code: 'run_not_found',
    message: `Expected the id of a run that is alive or within the service's retention, got \`${id}\`. List the runs to find it.`,
  });

  it('to an unknown run says so, whatever it is', async () => {
    const run = served.everloop.attach('nobody');
    const asked = [
      run.status(),
      run.stats(),
      run.transcript(),
      run.events(),
      run.pending(),
      run.send('x'),
      run.adjust({ iterations: 5 }),
      run.pause(),
      run.cancel(),
      run.result(),
    ];

    const answers = await Promise.allSettled(asked);

    expect(
      answers.map((answer) =>
        answer.status === 'rejected' ? (answer.reason as Error) : answer.value,
      ),
    ).toEqual(asked.map(() => expect.objectContaining(NOT_FOUND('nobody')) as unknown));
  });

  it('to a run that has ended says so', async () => {
    const run = await served.everloop.start('tester', { task: 'Go' });
    await run.result();
    const asked = [
      run.send('x'),
      run.adjust({ iterations: 5 }),
      run.pause(),
      run.resume(),
      run.cancel(),
    ];

    const answers = await Promise.allSettled(asked);

    expect(
      answers.map((answer) =>
        answer.status === 'rejected' ? (answer.reason as Error) : answer.value,
      ),
    ).toEqual(
      asked.map(
        () =>
          expect.objectContaining({
            code: 'run_ended',
            message: `Expected run \`${run.id}\` to be alive, got one that is COMPLETED. Start a new run.`,
          }) as unknown,
      ),
    );
  });

  it('of 5 MB is refused before it is sent', async () => {
    const run = await served.everloop.start('tester', { task: 'Go' });
    await expect(run.send('x'.repeat(5_000_000))).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(
        /^Expected an input of at most 524288 bytes, got 50000\d\d\. Put large data behind a tool\.$/,
      ) as string,
    });
  });

  it('of another client that does not fit is refused, or warned of, and the run goes on', async () => {
    const release = gate();
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      model: {
        id: 'm',
        model: async () => {
          await release.opened;
          return '<answer>done</answer>';
        },
      },
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('tester', { task: 'Go' });
    const handle = stage.client.workflow.getHandle(run.id);
    const update = async (name: string, argument: unknown): Promise<string> =>
      handle.executeUpdate<unknown, [unknown]>(name, { args: [argument] }).then(
        (value) => `accepted: ${JSON.stringify(value)}`,
        (error: Error) => (error.cause as Error).message,
      );

    const refusals = [
      await update('send', null),
      await update('send', 5),
      await update('send', { id: 7, kind: 'queue', text: 'x' }),
      await update('send', { id: 'a', kind: 'shout', text: 'x' }),
      await update('send', { id: 'a', kind: 'queue', text: ['x'] }),
      await update('send', { id: 'a', kind: 'queue', text: '' }),
      await update('send', { id: 'a', kind: 'queue', text: 'x'.repeat(600_000) }),
      await update('adjust', null),
      await update('adjust', { paused: 'yes' }),
      await update('adjust', { limits: 5 }),
      await update('adjust', { limits: { iterations: -1, iteratoins: 5 } }),
    ];
    for (const signal of [null, 5, { id: 'b' }]) await handle.signal('input', signal);
    await handle.signal('nobody-listens', 5);
    // Without a payload, a page begins at the start.
    expect(await handle.query('events')).toMatchObject({ first: 0, next: null });
    expect(await handle.query('transcript', null)).toMatchObject({ first: 0, next: null });
    await expect(handle.query('events', { from: { index: -1 } })).rejects.toThrow(
      'Expected `from.index` to be a whole number from 0 up, got -1.',
    );
    await expect(handle.query('transcript', { from: { index: 9 } })).rejects.toThrow(
      /Expected `from\.index` from 0 to \d, the end so far, got 9\./,
    );
    release.open();
    const step = await run.result();

    expect(refusals).toEqual([
      'Expected an input object, got null.',
      'Expected an input object, got number.',
      'Expected the `id` of an input to be text of 1 to 200 characters, got number.',
      'Expected the `kind` of an input to be one of queue, steer, interrupt, got `shout`.',
      'Expected the `text` of an input to be text, got a list.',
      'Expected an input with text or media, got an empty one.',
      'Expected an input of at most 524288 bytes, got 600035. Put large data behind a tool.',
      'Expected `limits`, `paused` or `revoke` in an adjustment, got none. Set one of them.',
      'Expected `paused` to be true or false, got string.',
      "Expected `limits` to be 'unlimited' or an object, got 5. Write it as `{ iterations: 20 }`.",
      "Expected limit `iterations` to be a whole number from 0 up or 'unlimited', got -1. Change it.\n" +
        'Expected the names of limits to be among iterations, inputTokens, outputTokens, ' +
        'totalTokens, modelCalls, toolCalls, programSteps, children, questions, costUsd, ' +
        'wallClockMs, activeMs, depth, custom, onUnknownUsage, got `iteratoins`. Did you mean `iterations`?',
    ]);
    expect(step).toMatchObject({ status: 'success', value: 'done' });
    const events = await run.events();
    expect(bodiesOf(events, 'agent:warning')).toEqual(
      ['null', 'number']
        .map((got) => ({
          type: 'agent:warning',
          code: 'input_refused',
          message: `Expected an input object, got ${got}.`,
        }))
        .concat({
          type: 'agent:warning',
          code: 'input_refused',
          message:
            'Expected the `kind` of an input to be one of queue, steer, interrupt, got undefined.',
        }),
    );
    expect(hasNoGap(events)).toBe(true);
    await stage.replay(run);
  });

  it.each([null, 5, [], { message: 7 }])(
    '`cancel` with %j cancels without words',
    async (payload) => {
      const begun = gate();
      const agent = defineAgent({
        name: 'tester',
        mode: 'react',
        model: {
          id: 'm',
          model: (_request, { signal }) =>
            new Promise((_resolve, reject) => {
              begun.open();
              signal.addEventListener('abort', () => reject(new Error('stopped')));
            }),
        },
      });
      const { everloop } = await stage.serve([agent]);
      const run = await everloop.start('tester', { task: 'Go' });
      await begun.opened;

      await stage.client.workflow.getHandle(run.id).signal('cancel', payload);

      expect(await run.result()).toMatchObject({ status: 'canceled', reason: 'canceled' });
    },
  );
});

describe('a question that cannot be asked', () => {
  it('is refused in words', async () => {
    const run = await served.everloop.start('tester', { task: 'Go' });
    const ask = {
      'an id': () => Promise.resolve().then(() => served.everloop.attach('')),
      'a list': () => served.everloop.list({ limit: 0 }),
      'a transcript': () => run.transcript({ from: -1 }),
      events: () => run.events({ from: 1.5 }),
    };

    const said = await Promise.all(
      Object.entries(ask).map(async ([name, question]) => {
        const error: unknown = await question().catch((thrown: unknown) => thrown);
        return [name, (error as Error).message];
      }),
    );

    expect(Object.fromEntries(said)).toEqual({
      'an id':
        'Expected the id of a run to be text of 1 to 255 characters, got "". Choose another.',
      'a list': 'Expected `limit` from 1 up, got 0. Change it.',
      'a transcript': 'Expected `from` from 0 up, got -1. Change it.',
      events: 'Expected `from` from 0 up, got 1.5. Change it.',
    });
  });
});
