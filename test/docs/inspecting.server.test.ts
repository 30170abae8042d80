/** docs/inspecting.md: its code is that of examples which run here, against a real server. */
import { randomUUID } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  listToday,
  lookAt,
  lostAttempts,
  readPages,
  showPrograms,
} from '../../examples/docs/inspecting.ts';
import { connect } from '../../src/client/connect.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { LinkHistory } from '../../src/client/reading/histories.ts';
import type { RunPage } from '../../src/client/run-list.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

const NO_PAGE: RunPage = { runs: [], cursor: null };

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

test('docs/inspecting.md quotes its examples', () => {
  expect(blocksOf('inspecting')).toEqual(regionsOf('inspecting'));
});

test('an ended run is read by pages, without a worker, from the archive in the data folder [R15]', async () => {
  // An event has the first 2 KB of a program.
  const long = `; ${'a long note '.repeat(500)}\n(return (inc a))`;
  const { model } = scriptedModel(['```clojure\n(def a 1)\n```', `\`\`\`clojure\n${long}\n\`\`\``]);
  const agent = defineAgent({ name: 'clerk', mode: 'lisp', model: { id: 'm', model } });
  const { everloop, archiveDir, stop } = await stage.serve([agent]);
  const run = await everloop.start('clerk', { task: 'Go' });
  const step = await run.result();
  const events = await run.events();
  await stop();
  const dataDir = join(stage.folder, 'data');
  await mkdir(dataDir);
  await symlink(archiveDir, join(dataDir, 'archive'));
  const { address, namespace } = stage;
  const other = await connect({ address, namespace, dataDir, env: {} });

  try {
    const shown: AgentEvent[] = [];
    await readPages(other, run.id, (page) => shown.push(...page));

    expect(shown).toEqual(events);
    expect(await other.attach(run.id).stats()).toEqual(step.stats);
    const lines: string[] = [];
    await showPrograms(other.attach(run.id), (line) => lines.push(line));
    expect(lines).toEqual([
      '1.p value, 1 forms done: (def a 1)',
      `2.p returned, 1 forms done: ${long}`,
    ]);
    expect(await other.attach(run.id).program()).toMatchObject({
      programId: '2.p',
      source: long,
      outcome: 'returned',
    });
    expect(await other.attach(run.id).program({ id: '3.p' })).toBeNull();
    await expect(other.attach(run.id).program({ id: '3' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    const [began] = bodiesOf(events, 'agent:execution:before');
    const view = await other.attach(run.id).view();
    expect(view.limits).toEqual(began?.limits);
    expect(view.budgets).toContainEqual(
      expect.objectContaining({ key: 'agent:children', max: 100, used: 0, free: 100 }),
    );
  } finally {
    await other.close();
  }
});

test('a run that waits is seen whole: its reply, its calls, its limits, its attempts', async () => {
  const { everloop } = await stage.serve(peopleAgents());
  const id = `view-${randomUUID()}`;
  const run = await everloop.start('clerk', { id, task: 'Pay the bill', limits: { toolCalls: 9 } });
  await eventually('the run to wait', async () => (await run.pending()).length === 3);
  const lines: string[] = [];

  await lookAt(run, (line) => lines.push(line));

  // The transcript has the reply when its iteration ends.
  expect(await run.transcript()).toEqual([]);
  expect(lines).toEqual([
    'waiting, 3 wait',
    expect.stringMatching(/^agent:/),
    ...lines.slice(2, -4),
    expect.stringContaining('<thinking>Three at once.</thinking>'),
    '1.1 ask_user waiting',
    '1.2 pay waiting',
    '1.3 build waiting',
  ]);
  expect(lines.join('\n')).toMatch(/^agent:tool_calls: \d of 9$/m);
  expect(await run.current()).toMatchObject({
    iteration: 1,
    reply: { model: 'm', kind: 'calls', finishReason: 'stop' },
    calls: [{}, { args: { amount: 50 } }, {}],
  });
  const view = await run.view();
  const status = await run.status();
  expect(view).toMatchObject({
    agent: 'clerk',
    path: 'clerk',
    status: { version: status.version },
  });
  expect(view.pending).toEqual(await run.pending());
  expect(view.limits).toContainEqual(expect.objectContaining({ key: 'agent:tool_calls', max: 9 }));
  const [began] = bodiesOf(await run.events({ limit: 1 }), 'agent:execution:before');
  expect(began?.limits).toEqual(view.limits);
  expect(await run.attempts()).toMatchObject([
    { kind: 'model', name: 'm', iteration: 1, outcome: 'ok', worker: expect.stringMatching(/@/) },
    { kind: 'tool', name: 'build', callId: '1.3', outcome: 'ok' },
  ]);
  expect(await lostAttempts(run)).toEqual([]);
  expect(await run.attempts({ from: 2 })).toEqual([]);
  expect(await run.links()).toMatchObject([{ status: 'RUNNING', closedAt: null }]);
  const { request, isPartial } = await run.scratchpad();
  expect(isPartial).toBe(false);
  expect(request).toMatchObject({ agent: 'clerk', iteration: 2 });
  expect(request.messages.map(textOf).join('\n')).toContain('Pay the bill');
  expect(await everloop.workers()).toMatchObject([
    { identity: expect.stringContaining(`${process.pid}@`), takes: ['workflows', 'activities'] },
  ]);

  const { limits } = await run.adjust({ toolCalls: 20 });
  await run.cancel();
  const step = await run.result();
  expect(await run.current()).toBeNull();
  expect(await run.view()).toMatchObject({
    status: { state: 'ended', step: { status: 'canceled' } },
    stats: step.stats,
    pending: [],
    limits,
    budgets: expect.arrayContaining([
      expect.objectContaining({ key: 'agent:tool_calls', max: 20, reserved: 0 }),
    ]),
  });
  const [link] = await run.links();
  expect(link).toMatchObject({ status: 'COMPLETED', executionId: step.trace.executionId });
  expect(link?.bytes).toBeGreaterThan(1_000);
  const histories: LinkHistory[] = [];
  for await (const history of run.histories()) histories.push(history);
  expect(histories).toMatchObject([
    {
      executionId: step.trace.executionId,
      history: { events: expect.arrayContaining([expect.objectContaining({ eventId: '1' })]) },
    },
  ]);
});

test('runs are listed page by page, and counted', async () => {
  const { everloop } = await stage.serve(peopleAgents());
  const since = new Date();
  const prefix = `pages-${randomUUID()}`;
  const runs = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => everloop.start('asker', { id: `${prefix}-${n}`, task: 'Ask' })),
  );
  await eventually('all to wait', async () => {
    const { waiting } = await everloop.counts({ idPrefix: prefix, since });
    return waiting === 5;
  });
  const only = { idPrefix: prefix, agent: 'asker', state: 'waiting', limit: 2 } as const;

  const pages = [await everloop.listPage(only)];
  for (let { cursor } = pages[0] ?? NO_PAGE; cursor !== null;) {
    const page = await everloop.listPage({ ...only, cursor });
    pages.push(page);
    ({ cursor } = page);
  }

  const ids = pages.flatMap((page) => page.runs.map(({ id }) => id));
  expect(ids.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
  expect(pages.every((page) => page.runs.length <= 2)).toBe(true);
  expect(pages[0]?.runs[0]).toMatchObject({ parent: null, root: ids[0] });
  expect(await everloop.counts({ agent: 'asker', idPrefix: prefix })).toMatchObject({
    running: 0,
    waiting: 5,
    completed: 0,
  });
  const shown: string[] = [];
  const head = await listToday(everloop, since, (page) => shown.push(...page.map(({ id }) => id)));
  expect(shown).toEqual(expect.arrayContaining(ids));
  expect(head).toMatch(/^\d+ at work, \d+ wait for people, \d+ failed$/);
  expect((await everloop.list({ idPrefix: prefix, since: Date.now() + 60_000 })).length).toBe(0);
  const { items, more } = await everloop.inbox({ limit: 1 });
  expect(new Set(items.map(({ run }) => run)).size).toBeLessThanOrEqual(1);
  expect(more).toBeGreaterThanOrEqual(4);
  await expect(everloop.listPage({ cursor: 'next, please' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  await Promise.all(runs.map((run) => run.cancel('', { force: true })));
});
