/** What is wrong with a start, or with a loop: a clear error, a Step, and nothing hangs. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { StartOptions } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { AGENT_WORKFLOW } from '../../src/core/contract/messages.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { TEST_LOOPS } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { abortOf } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

const NEWER_HANDOVER = fileURLToPath(
  new URL('../support/fixtures/workflows/newer-handover.ts', import.meta.url),
);

const NEWER_READER = fileURLToPath(
  new URL('../support/fixtures/workflows/newer-reader.ts', import.meta.url),
);

let stage: Stage;
let served: Served;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const model = { id: 'm', model: async () => '<answer>done</answer>' };
  served = await stage.serve([
    defineAgent({ name: 'tester', mode: 'react', model }),
    defineAgent({ name: 'writer', mode: 'react', model }),
  ]);
});
afterAll(() => stage.close());

/** Starts the workflow as any other client of the service could. */
async function startRaw(...args: readonly unknown[]): Promise<RunHandle> {
  const { workflowId } = await stage.client.workflow.start(AGENT_WORKFLOW, {
    workflowId: `raw-${randomUUID()}`,
    taskQueue: served.taskQueue,
    args: [...args],
  });
  return served.everloop.attach(workflowId);
}

function ended({ status, reason, message, iterations, value }: Step): object {
  return { status, reason, message, iterations, value };
}

function cyclic(): JsonObject {
  const context: { [key: string]: Json } = {};
  context['self'] = context;
  return context;
}

function failed(reason: string, message: string): object {
  return { status: 'error', reason, message, iterations: 0, value: null };
}

const good = { v: 1, agent: 'tester', task: { text: 'Go' } };
const VERSION = (got: string): string =>
  `Expected version \`v\` of the input to be 1, got ${got}. Start runs with a client of this version.`;
const AGENT = (got: string): string =>
  `Expected \`agent\` to be the name of an agent, got ${got}. Name one.`;
const TASK = (got: string): string =>
  `Expected \`task\` to be { text, media? }, got ${got}. Say what the agent should do.`;
const NO_OBJECT = (got: string): string =>
  `Expected the input of a run to be an object, got ${got}. Start runs with a client of Everloop.`;

describe('a payload of another client fails the run as `invalid_input`', () => {
  it.each<[name: string, args: readonly unknown[], message: string]>([
    ['no payload', [], NO_OBJECT('none')],
    ['null', [null], NO_OBJECT('null')],
    ['a number', [5], NO_OBJECT('5')],
    ['a text', ['Go'], NO_OBJECT('"Go"')],
    ['a list', [[good]], NO_OBJECT(JSON.stringify([good]))],
    ['an empty object', [{}], [VERSION('none'), AGENT('none'), TASK('none')].join('\n')],
    [
      'numbers for texts',
      [{ v: '1', agent: 5, task: 7 }],
      [VERSION('"1"'), AGENT('5'), TASK('7')].join('\n'),
    ],
    [
      'nulls',
      [{ v: 1, agent: null, task: { text: null } }],
      [AGENT('null'), 'Expected `task.text` to be a text, got null. Change it.'].join('\n'),
    ],
    [
      'an empty task',
      [{ ...good, task: { text: ' ' } }],
      'Expected a task with text or media, got an empty one. Say what the agent should do.',
    ],
    [
      'an unfit context',
      [{ ...good, context: [1] }],
      'Expected `context` to be a JSON object, got [1]. Write it as { name: value }.',
    ],
    [
      'an unfit history',
      [{ ...good, history: [{ role: 'system', text: 'x' }] }],
      'Expected `history` to be a list of { role: \'user\' or \'assistant\', text }, got [{"role":"system","text":"x"}]. Change it.',
    ],
    [
      'unfit limits',
      [{ ...good, limits: 5 }],
      "Expected `limits` to be 'unlimited' or an object, got 5. Write it as `{ iterations: 20 }`.",
    ],
    [
      'a forged hand-over',
      [{ v: 1, kind: 'handover', state: { v: 1 } }],
      [AGENT('none'), TASK('none')].join('\n'),
    ],
    [
      'a model that nobody has',
      [{ ...good, model: 'gpt' }],
      'Expected a model that the worker has (m), got `gpt`. Add an entry for it.',
    ],
  ])('%s', async (_name, args, message) => {
    const run = await startRaw(...args);
    // What such a workflow is nobody knows before its end.
    await eventually('the end', async () => {
      const { status } = await stage.client.workflow.getHandle(run.id).describe();
      return status.name === 'FAILED';
    });

    const step = await run.result();

    expect(ended(step)).toEqual(failed('invalid_input', message));
    expect(await run.status()).toMatchObject({ state: 'ended', step });
    await stage.replay(run);
  });
});

describe('a start through the client', () => {
  const start = (agent: string, options: StartOptions): Promise<RunHandle> =>
    served.everloop.start(agent, options);

  it('of an unknown agent fails with the names of those that exist', async () => {
    const run = await start('testre', { task: 'Go' });

    expect(ended(await run.result())).toEqual(
      failed(
        'agent_not_found',
        'Expected an agent that the worker has (tester, writer), got `testre`. Did you mean `tester`?',
      ),
    );
    await stage.replay(run);
  });

  it.each<[name: string, options: StartOptions, message: string]>([
    [
      'an empty task',
      { task: ' ' },
      'Expected a task with text or media, got an empty one. Say what to do.',
    ],
    [
      '5 MB',
      { task: 'x'.repeat(5_000_000) },
      'Expected a start of at most 1500000 bytes, got 5000091. Put large data behind a tool.',
    ],
    [
      'a cycle',
      { task: 'Go', context: cyclic() },
      'Expected a start that nests at most 200 levels, got a deeper one, or a cycle. Put such data behind a tool.',
    ],
    [
      'a task that is no text',
      { task: 5 as never },
      'Expected `task` to be a text or { text, media? }, got 5. Say what to do.',
    ],
    [
      'a task of media without a text',
      { task: { media: [] } as never },
      'Expected `task` to be a text or { text, media? }, got {"media":[]}. Say what to do.',
    ],
    [
      'a Map, which JSON would lose',
      { task: 'Go', context: { rows: [1, new Map()] } as never },
      'Expected a start to be plain JSON, got Map at `context.rows[1]`. Write it as JSON.',
    ],
    [
      'a bigint',
      { task: 'Go', context: { id: 1n } as never },
      'Expected a start to be plain JSON, got bigint at `context.id`. Write it as JSON.',
    ],
    [
      'an empty id',
      { task: 'Go', id: '' },
      'Expected the id of a run to be text of 1 to 255 characters, got "". Choose another.',
    ],
    [
      'an id that the service does not take',
      { task: 'Go', id: 'ü'.repeat(501) },
      `Expected the id of a run to be text of 1 to 255 characters, got "${'ü'.repeat(199)}…. Choose another.`,
    ],
  ])('with %s is refused before anything is sent', async (_name, options, message) => {
    await expect(start('tester', options)).rejects.toMatchObject({
      code: 'invalid_input',
      message,
    });
  });

  it('without the name of an agent is refused before anything is sent', async () => {
    await expect(start('', { task: 'Go' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'Expected the name of an agent, got "". Name one.',
    });
  });

  it('with a context that is no object fails the run', async () => {
    const run = await start('tester', { task: 'Go', context: [1] as never });

    expect(ended(await run.result())).toEqual(
      failed(
        'invalid_input',
        'Expected `context` to be a JSON object, got [1]. Write it as { name: value }.',
      ),
    );
  });

  it('under an id in use fails, or attaches, also when that run has ended', async () => {
    const id = `taken-${randomUUID()}`;
    const first = await start('tester', { task: 'Go', id });
    const step = await first.result();

    await expect(start('tester', { task: 'Go', id })).rejects.toMatchObject({
      code: 'id_in_use',
      message: `Expected a free run id, got \`${id}\`, which another run has. Choose another id, or start with \`ifExists: 'attach'\`.`,
    });
    const attached = await start('tester', { task: 'Another', id, ifExists: 'attach' });

    expect(await attached.result()).toEqual(step);
  });

  it('does not attach to the run of another agent', async () => {
    const id = `taken-${randomUUID()}`;
    await start('tester', { task: 'Go', id });

    await expect(start('writer', { task: 'Go', id, ifExists: 'attach' })).rejects.toMatchObject({
      code: 'id_in_use',
      message: `Expected run \`${id}\` to be of agent \`writer\`, got one of \`tester\`. Choose another id.`,
    });
  });
});

const echo: ModelFunction = async () => 'hm';
const MODELS: { readonly [agent: string]: ModelFunction } = {
  'bad-deadline': async (_request, { signal }) => {
    await abortOf(signal);
    return '';
  },
};

/** What the first failed workflow task of the newest link of a run says, once there is one. */
function refusalOf(run: RunHandle): Promise<string> {
  return eventually('a refused task', async () => {
    const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
    const failed = events?.map((event) => event.workflowTaskFailedEventAttributes);
    return failed?.find((one) => one != null)?.failure?.message ?? undefined;
  });
}

describe('what only a newer worker understands', () => {
  it('[R5] a hand-over of a newer version waits for a worker that does', async () => {
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      model: { id: 'm', model: async () => '<answer>done</answer>' },
    });
    const old = await stage.serve([agent], { workflowsPath: NEWER_HANDOVER });

    const run = await old.everloop.start('tester', { task: 'Go' });
    expect(await refusalOf(run)).toBe(
      'Refused: hand-over of version 2, this worker (0.1.0) reads 1. A newer worker takes it.',
    );
    const { status } = await stage.client.workflow.getHandle(run.id).describe();
    expect(status.name).toBe('RUNNING');
    await old.stop();
    const { taskQueue } = old;
    await stage.serve([agent], { workflowsPath: NEWER_READER, taskQueue });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
  });

  it('[R5] an input of a newer version waits, until somebody ends the run by force', async () => {
    const run = await startRaw({ ...good, v: 2 });

    expect(await refusalOf(run)).toBe(
      'Refused: input of version 2, this worker (0.1.0) reads 1. A newer worker takes it.',
    );
    await run.cancel('no such worker', { force: true });

    await expect(run.result()).rejects.toMatchObject({ code: 'no_step' });
  });

  it('ends by a plain cancel, too, once its task has failed again and again', async () => {
    const run = await startRaw({ ...good, v: 2 });
    await eventually('four failures', async () => {
      const { raw } = await stage.client.workflow.getHandle(run.id).describe();
      return (raw.pendingWorkflowTask?.attempt ?? 0) > 3;
    });

    await run.cancel('no such worker');

    await expect(run.result()).rejects.toMatchObject({ code: 'no_step' });
  });
});

describe('an exception in workflow code', () => {
  it.each([
    ['in an iteration', 'broken-loop', 'loop_error', 'iteration 2: boom', 2],
    [
      'before the first iteration',
      'no-loop',
      'internal',
      'Expected the run to end by itself, got: no loop for this agent',
      0,
    ],
    [
      'in a timer',
      'bad-deadline',
      'internal',
      'iteration 1: Expected the run to end by itself, got: no such limit',
      1,
    ],
  ] as const)(
    '%s becomes a typed failure, not a task that is tried for ever',
    async (_name, agent, reason, message, iterations) => {
      const { everloop } = await stage.serve(
        [
          defineAgent({
            name: agent,
            mode: 'react',
            model: { id: 'm', model: MODELS[agent] ?? echo },
          }),
        ],
        { workflowsPath: TEST_LOOPS },
      );

      const run = await everloop.start(agent, { task: 'Go' });
      const step = await run.result();

      expect(ended(step)).toEqual({ status: 'error', reason, message, iterations, value: null });
      const { status } = await eventually('the end', async () =>
        stage.client.workflow.getHandle(run.id).describe(),
      );
      expect(status.name).toBe('FAILED');
      const history = await stage.client.workflow.getHandle(run.id).fetchHistory();
      expect(
        history.events?.filter((event) => event.workflowTaskFailedEventAttributes != null),
      ).toEqual([]);
      await stage.replay(run, { workflowsPath: TEST_LOOPS });
    },
  );
});
