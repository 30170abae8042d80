import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { ActivityCancellationDetails } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import {
  callToolActivity,
  judgeAnswerActivity,
  type ToolActivityParts,
} from '../../src/activities/tool-activities.ts';
import { defined } from '../../src/core/base/defined.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { LOCAL_TRY_BYTES } from '../../src/core/attempt/attempts.ts';
import type { ToolOrder } from '../../src/core/contract/outcome.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type {
  Registry,
  ToolContext,
  ToolDefinition,
} from '../../src/define/definition/definitions.ts';
import { createToolPlaces } from '../../src/tools/isolate/tool-places.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { gate } from '../support/runs.ts';
import { judgeOrder, silentModel, toolOrder } from '../define/agents.ts';

/** Settles when the signal is aborted, as a service call does. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
}

const waiting = gate();
const paying = gate();

const tools = [
  defineTool({
    name: 'read_all',
    description: 'Reads.',
    parameters: { type: 'object', properties: { bytes: { type: 'integer' } } },
    effect: 'read',
    execute: ({ bytes }) => 'x'.repeat(Number(bytes)),
  }) as ToolDefinition,
  defineTool({ name: 'echo', description: 'Echoes.', execute: (_, { attempt }) => attempt }),
  defineTool({
    name: 'boom',
    description: 'Fails.',
    execute: () => {
      throw new Error('boom');
    },
  }),
  defineTool({
    name: 'wait',
    description: 'Waits.',
    execute: (_, { signal }: ToolContext) => {
      waiting.open();
      return untilAborted(signal);
    },
  }),
  defineTool({
    name: 'pay',
    description: 'Pays.',
    effect: 'once',
    execute: (_, { signal }: ToolContext) => {
      paying.open();
      return untilAborted(signal);
    },
  }),
];

function registryWith(...validators: Parameters<typeof defineValidator>[0][]): Registry {
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model: silentModel,
    tools,
    validators: validators.map((options) => defineValidator(options)),
  });
  return createRegistry({ agents: [agent] });
}

/** What tool activities need, in a run that does not answer. */
function partsOf(registry: Registry): ToolActivityParts {
  const readContext = () => Promise.reject(new Error('no run'));
  return { registry, places: createToolPlaces(), readContext };
}

/** An activity's surroundings, without the lines that the SDK logs of failures. */
function environmentOf(
  info: { readonly attempt?: number; readonly heartbeatDetails?: object } = {},
): MockActivityEnvironment {
  return new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
}

describe('a try within a workflow task', () => {
  const callTool = callToolActivity(partsOf(registryWith()));
  const tryOf = (tool: string, args: JsonObject = {}): Promise<unknown> => {
    const order: ToolOrder = { ...toolOrder(tool, args), localBytes: LOCAL_TRY_BYTES };
    return environmentOf().run(callTool, order);
  };

  test('ends with a small result', async () => {
    expect(await tryOf('read_all', { bytes: 10 })).toMatchObject({ outcome: 'ok', attempts: 1 });
  });

  test('refuses a result that the completion of the task may have no room for', async () => {
    await expect(tryOf('read_all', { bytes: 17_000 })).rejects.toMatchObject({
      type: 'not_local',
      nonRetryable: true,
      message: expect.stringContaining('read_all'),
    });
  });

  test.each(['pay', 'echo'])('does not begin %s, which on this worker may write', async (tool) => {
    await expect(tryOf(tool)).rejects.toMatchObject({ type: 'not_local', nonRetryable: true });
  });
});

describe('[R2] the activity callTool after many losses', () => {
  const callTool = callToolActivity(partsOf(registryWith()));

  test.each([
    { order: { attemptsBefore: 0, lossesBefore: 9 }, attempt: 1, losses: undefined },
    { order: { attemptsBefore: 0, lossesBefore: 10 }, attempt: 1, losses: 0 },
    { order: { attemptsBefore: 0, lossesBefore: 5 }, attempt: 6, losses: 5 },
    { order: { lossesBefore: 10, retriedAfter: 10 }, attempt: 1, losses: undefined },
    { order: { lossesBefore: 10, retriedAfter: 10 }, attempt: 2, losses: 1 },
    { order: { lossesBefore: 12, givenBackBefore: 3 }, attempt: 1, losses: undefined },
    { order: { lossesBefore: 12, givenBackBefore: 2 }, attempt: 1, losses: 0 },
    { order: {}, attempt: 20, losses: undefined },
  ])('asks for an operator: $order, attempt $attempt of the service', async (row) => {
    const { order, attempt, losses } = row;
    const outcome = await environmentOf({ attempt })
      .run(callTool, { ...toolOrder('echo'), ...order })
      .catch((error: unknown) => error);

    if (losses === undefined) expect(outcome).toMatchObject({ outcome: 'ok' });
    else {
      expect(outcome).toMatchObject({
        type: 'operator_needed',
        nonRetryable: true,
        details: [{ losses }],
      });
    }
  });
});

describe('[R2] the activity callTool on workers that stop in order', () => {
  const callTool = callToolActivity(partsOf(registryWith()));
  const order = { ...toolOrder('wait'), attemptsBefore: 0, lossesBefore: 5 };

  test('tells the next attempt that the service makes how often it was given back', async () => {
    let said: object | undefined;
    for (let attempt = 1; attempt <= 20; attempt++) {
      const environment = environmentOf({
        attempt,
        ...defined({ heartbeatDetails: said }),
      });
      environment.on('heartbeat', (details: object) => (said = details));
      const run = environment.run(callTool, order);
      environment.cancel(
        'WORKER_SHUTDOWN',
        new ActivityCancellationDetails({ workerShutdown: true }),
      );

      await expect(run).rejects.toMatchObject({ type: 'worker_shutdown', nextRetryDelay: 100 });
      expect(said).toEqual({ attempts: 1, givenBack: attempt });
    }
  });

  test('asks for an operator after as many that died', async () => {
    const environment = environmentOf({
      attempt: 10,
      heartbeatDetails: { attempts: 1, givenBack: 4 },
    });

    await expect(environment.run(callTool, order)).rejects.toMatchObject({
      type: 'operator_needed',
      message: 'The call has ended 10 workers.',
      details: [{ losses: 9, givenBack: 4 }],
    });
  });
});

describe('the activity callTool', () => {
  const callTool = callToolActivity(partsOf(registryWith()));

  test('returns the result, the attempt counted', async () => {
    const environment = environmentOf({ attempt: 2 });

    expect(await environment.run(callTool, toolOrder('echo'))).toEqual({
      outcome: 'ok',
      output: 2,
      attempts: 2,
      started: true,
    });
  });

  test('fails an attempt that is to be tried again', async () => {
    const environment = environmentOf({ attempt: 1 });

    await expect(environment.run(callTool, toolOrder('boom'))).rejects.toMatchObject({
      name: 'ApplicationFailure',
      type: 'tool_failed',
      message: 'boom',
      nonRetryable: false,
    });
  });

  test('tells the model after the last attempt', async () => {
    const environment = environmentOf({ attempt: 3 });

    expect(await environment.run(callTool, toolOrder('boom'))).toEqual({
      outcome: 'error',
      error: 'Error: boom',
      attempts: 3,
      started: true,
    });
  });

  test.each([
    {
      order: { ...toolOrder('echo'), agent: 'nobody' },
      message: 'This worker has no agent `nobody`. Start a worker that has it.',
      details: [{ what: 'agent nobody', agent: 'nobody' }],
    },
    {
      order: toolOrder('gone'),
      message: 'this worker has no tool gone for agent tester',
      details: [{ what: 'tool gone', agent: 'tester' }],
    },
  ])('[R4] leaves $details.0.what to a worker that has it', async (lack) => {
    const { order, message, details } = lack;

    await expect(environmentOf().run(callTool, order)).rejects.toMatchObject({
      type: 'not_here',
      message,
      details,
      category: 'BENIGN',
      nonRetryable: true,
    });
  });

  test('returns a canceled call when it is canceled', async () => {
    const environment = environmentOf();
    const run = environment.run(callTool, toolOrder('wait'));

    await waiting.opened;
    environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));

    expect(await run).toEqual({
      outcome: 'canceled',
      error: 'Error: canceled before it finished.',
      attempts: 1,
      started: true,
    });
  });

  test('[row 23] is tried again elsewhere when the worker stops', async () => {
    const environment = environmentOf();
    const run = environment.run(callTool, toolOrder('wait'));

    environment.cancel(
      'WORKER_SHUTDOWN',
      new ActivityCancellationDetails({ workerShutdown: true }),
    );

    await expect(run).rejects.toMatchObject({ type: 'worker_shutdown', nonRetryable: false });
  });

  test('[row 23] leaves a `once` call unknown when the worker stops', async () => {
    const environment = environmentOf();
    const run = environment.run(callTool, toolOrder('pay'));

    await paying.opened;
    environment.cancel(
      'WORKER_SHUTDOWN',
      new ActivityCancellationDetails({ workerShutdown: true }),
    );

    expect(await run).toEqual({
      outcome: 'unknown',
      error: 'Error: it is unknown whether pay took effect. Find out before you call it again.',
      attempts: 1,
      started: true,
    });
  });
});

describe('[row 31] the activity judgeAnswer', () => {
  test('returns the verdicts', async () => {
    const judgeAnswer = judgeAnswerActivity(
      registryWith({ name: 'accept', validate: () => ({ accepted: true }) }),
    );

    expect(
      await environmentOf().run(
        judgeAnswer,
        judgeOrder({ answers: ['x'], validators: ['accept'] }),
      ),
    ).toEqual({
      verdicts: [{ kind: 'accepted' }],
      sections: [],
      validators: [{ validator: 'accept', accepted: true }],
      attempts: 1,
    });
  });

  test('fails an attempt in which a validator threw', async () => {
    const judgeAnswer = judgeAnswerActivity(
      registryWith({
        name: 'broken',
        validate: () => {
          throw new Error('no database');
        },
      }),
    );

    await expect(
      environmentOf().run(judgeAnswer, judgeOrder({ answers: ['x'], validators: ['broken'] })),
    ).rejects.toMatchObject({
      type: 'validator_failed',
      message: 'validator broken: no database',
      nonRetryable: false,
    });
  });

  test.each([
    { name: 'canceled', cause: { cancelRequested: true }, failure: { name: 'CancelledFailure' } },
    {
      name: 'a stopped worker',
      cause: { workerShutdown: true },
      failure: { type: 'worker_shutdown', nonRetryable: false },
    },
  ])('ends as $name', async ({ cause, failure }) => {
    const judgeAnswer = judgeAnswerActivity(
      registryWith({ name: 'slow', validate: (_, { signal }) => untilAborted(signal) }),
    );
    const environment = environmentOf();
    const run = environment.run(judgeAnswer, judgeOrder({ answers: ['x'], validators: ['slow'] }));

    environment.cancel('CANCELLED', new ActivityCancellationDetails(cause));

    await expect(run).rejects.toMatchObject(failure);
  });

  test.each([
    { lack: { agent: 'nobody' }, what: 'agent nobody' },
    { lack: { answers: ['x'], validators: ['gone'] }, what: 'validator gone' },
  ])('[R4] leaves $what to a worker that has it', async ({ lack, what }) => {
    const judgeAnswer = judgeAnswerActivity(registryWith());

    await expect(environmentOf().run(judgeAnswer, judgeOrder(lack))).rejects.toMatchObject({
      type: 'not_here',
      details: [{ what }],
    });
  });
});
