/** Ids of our own, those of children, and long ones: on a server, by every way in which a run begins. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { idProblem } from '../../src/core/base/ids.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { threeLevels } from '../support/tree-agents.ts';

let stage: Stage;
let served: Served;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([threeLevels(1, 0, 0)]);
});
afterAll(() => stage?.close());

const tail = randomUUID().slice(0, 8);
const RESERVED: readonly string[] = [
  `~rate:model-${tail}`,
  `~tenant:t${tail}`,
  `acme:~callbacks-${tail}`,
  `clerk-${tail}/~moment-1`,
  `clerk-${tail}/1.6`,
  `clerk-${tail}/1.p2/0/1`,
  `rate:model-${tail}`,
  `tenant:t${tail}`,
  `acme:two-${tail}`,
];
const UNFIT: readonly string[] = [
  'a\0b',
  'a\u2028b',
  'a ',
  'x'.repeat(256),
  'temporal-sys-scheduler:nightly',
  'nightly-2026-11-28T12:00:00Z',
];

const WAYS: readonly (readonly [name: string, start: (id: string) => Promise<unknown>])[] = [
  ['a start', (id) => served.everloop.start('top', { task: 'Go', id })],
  ['a start of a tenant', (id) => served.everloop.start('top', { task: 'Go', id, tenant: 'rate' })],
  ['a fork', async (id) => served.everloop.fork({ run: await ended() }, { id, effects: 'run' })],
  ['an eval', (id) => served.everloop.evaluate({ tasks: [], variants: [] } as never, { id })],
  [
    'a schedule',
    (id) => served.everloop.schedules.create(id, { agent: 'top', task: 'Go', every: '1h' }),
  ],
  ['a conversation', async (id) => served.everloop.conversation('top', { id: `${id}/1.1` })],
];

let source: Promise<string> | undefined;
async function ended(): Promise<string> {
  source ??= served.everloop.start('top', { task: 'Go' }).then(async (run) => {
    await run.result();
    return run.id;
  });
  return source;
}

describe('an id that is not for users', () => {
  it.each(WAYS)('is refused for %s, and nothing begins', async (_way, start) => {
    for (const id of [...RESERVED, ...UNFIT]) {
      await expect(start(id), JSON.stringify(id)).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });

  it.each(RESERVED)('ends a run that another client starts as %s', async (workflowId) => {
    const run = await stage.client.workflow.start('agent', {
      workflowId,
      taskQueue: served.taskQueue,
      args: [{ v: 1, agent: 'top', task: { text: 'Go' } }],
    });
    await expect(run.result()).rejects.toMatchObject({
      cause: { type: 'invalid_input', details: [{ reason: 'invalid_input', iterations: 0 }] },
    });
  });

  it.each(['rate', 'tenant'])('is asked of a workflow `%s`', async (type) => {
    for (const workflowId of [`orders-${randomUUID()}`, `acme:${randomUUID()}`]) {
      const { taskQueue } = served;
      const run = await stage.client.workflow.start(type, { workflowId, taskQueue, args: [{}] });
      await expect(run.result()).rejects.toMatchObject({ cause: { type: 'invalid_input' } });
    }
  });
});

it.each([255, 200, 160, 120])(
  'a tree whose root has an id of %i characters runs, and its runs are found',
  async (length) => {
    const id = `${randomUUID()}-${'r'.repeat(255)}`.slice(0, length);
    const run = await served.everloop.start('top', { task: 'Go', id });
    expect(await run.result()).toMatchObject({ status: 'success' });

    const tree = await run.tree();
    expect(tree.map(({ path }) => path)).toEqual(['top', 'top/1/middle', 'top/1/middle/1/leaf']);
    expect(tree.map((one) => idProblem(one.id))).toEqual([undefined, undefined, undefined]);
    const leaf = await run.child('1.1/1.1');
    expect(leaf.id).toBe(tree[2]?.id);
    expect(await leaf.result()).toMatchObject({ agent: 'leaf', status: 'success' });
    expect((await run.child(String(tree[2]?.id))).id).toBe(leaf.id);
    expect(await leaf.at('start')).toMatchObject({ run: leaf.id });
    const fork = await served.everloop.fork({ run: leaf.id }, { effects: 'run' });
    expect(idProblem(fork.id)).toBeUndefined();
    expect(await fork.result()).toMatchObject({ agent: 'leaf' });
    await stage.replay(run);
    await stage.replay(leaf);
  },
  60_000,
);
