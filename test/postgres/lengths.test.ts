/**
 * Ids on a database whose columns have 255 characters: those of that length work in all forms that are
 * made from them, and longer ones, or such as a database cannot store, are refused by the client.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { asker, worker } from '../support/tree-agents.ts';
import { NAMESPACES } from './cluster.ts';

/** The columns of ids. */
const MOST = 255;

/** Of a refusal: no question to the service takes so long, and a stuck one takes thirty times as long. */
const AT_ONCE_MS = 1_000;

let stages: readonly Stage[] = [];
let served: Served;
let handover: Served;
beforeAll(async () => {
  const { address } = inject('temporal');
  const [stock, handing] = await Promise.all(
    Object.values(NAMESPACES).map((namespace) => openStage({ address, namespace })),
  );
  if (stock === undefined || handing === undefined) throw new Error('Expected two namespaces.');
  stages = [stock, handing];
  const middle = asker(worker(1), 2, 'middle');
  const agents = [...peopleAgents(), worker(12, 'long'), asker(middle, 2, 'boss')];
  served = await stock.serve(agents);
  handover = await handing.serve(agents);
});
afterAll(async () => {
  for (const stage of stages) await stage.close();
});

/** An id of so many characters that no other run has. */
function idOf(characters: number, letter = 'i'): string {
  return `${randomUUID()}-`.padEnd(characters, letter);
}

async function statusOf(run: RunHandle): Promise<string> {
  return (await run.result()).status;
}

describe('an id of 255 characters', () => {
  it('is that of a run', async () => {
    const run = await served.everloop.start('long', { task: 'Go', id: idOf(MOST) });

    expect(await statusOf(run)).toBe('success');
  });

  it('is that of a tree, whose runs below end as well', async () => {
    const id = idOf(MOST);
    const run = await served.everloop.start('boss', { task: 'Go', id });

    expect(await statusOf(run)).toBe('success');
    // Itself, two below it, and two below each of these.
    const states = (await run.tree()).map(({ state }) => state);
    expect(states).toEqual(Array.from({ length: 7 }, () => 'completed'));
  });

  it('is that of a run which hands over', async () => {
    const run = await handover.everloop.start('long', { task: 'Go', id: idOf(MOST) });

    expect(await statusOf(run)).toBe('success');
    const events = await run.events();
    expect(events.some(({ type }) => type === 'agent:execution:handover')).toBe(true);
  });

  it('may be forked, also with a fork id of that length', async () => {
    const source = await served.everloop.start('boss', { task: 'Go', id: idOf(MOST) });
    await source.result();
    const forks = await Promise.all([
      served.everloop.fork({ run: source.id, at: 'start' }, { effects: 'run' }),
      served.everloop.fork({ run: source.id, at: 'start' }, { effects: 'run', id: idOf(MOST) }),
    ]);

    expect(await Promise.all(forks.map(statusOf))).toEqual(['success', 'success']);
  });

  it('may have characters of several bytes', async () => {
    const run = await served.everloop.start('boss', { task: 'Go', id: idOf(MOST, 'é') });

    expect(await statusOf(run)).toBe('success');
  });
});

describe('an id that the database cannot store', () => {
  it.each([
    { name: '256 characters', id: idOf(MOST + 1) },
    { name: '1,000 characters', id: idOf(1_000) },
    { name: 'NUL', id: `${randomUUID()}\0end` },
    { name: 'an escape', id: `${randomUUID()}\u001B[0m` },
    { name: 'the end of a line', id: `${randomUUID()}\nend` },
  ])('is refused at once, by the client: $name', async ({ id }) => {
    const { everloop } = served;
    const began = performance.now();
    const refusals = await Promise.all(
      [
        everloop.start('long', { task: 'Go', id }),
        everloop.schedules.create(id, { agent: 'long', task: 'Go', cron: '0 0 1 1 *' }),
        everloop.fork({ run: 'none', at: 'start' }, { effects: 'run', id }),
      ].map((made) =>
        made.then(
          () => 'made',
          (error: unknown) => (isUsageError(error) ? error.code : String(error)),
        ),
      ),
    );

    expect(refusals).toEqual(['invalid_input', 'invalid_input', 'invalid_input']);
    expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
  });
});

describe('text that the database cannot store', () => {
  it('is a task and an answer like others', async () => {
    const run = await served.everloop.start('asker', { task: 'a\0b', context: { x: 'n\0' } });
    const item = await expect
      .poll(async () => (await run.pending())[0]?.id)
      .toBeDefined()
      .then(async () => (await run.pending())[0]);
    await run.answer(item?.id ?? '', 'yes\0no');

    expect(await statusOf(run)).toBe('success');
  });
});
