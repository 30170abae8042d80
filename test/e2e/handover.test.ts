/** A chain of many links is one run: for those who send, who read and who list. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { external } from '../../src/define/tool/external.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { Archive } from '../../src/activities/archive-transcript.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { inputSignal } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { extent, RUNS_ALL } from '../support/extent.ts';
import { act, answer, bodiesOf, gate, hasNoGap, searchTool, type Gate } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';
import { asker } from '../support/tree-agents.ts';

/** Eight make a link. */
const ITERATIONS = extent(100, 30);
const LAST_INPUT_AT = ITERATIONS - 10;

let stage: Stage;
beforeAll(async () => {
  stage = await openHandoverStage(60);
});
afterAll(() => stage?.close());

/** An agent that searches in each iteration and answers in the last, which begins once it may. */
function walker(
  iterations: number,
  mayEnd: () => Promise<unknown> = () => Promise.resolve(),
): AgentDefinition {
  return defineAgent({
    name: 'walker',
    mode: 'react',
    model: {
      id: 'm',
      model: async ({ iteration }) => {
        if (iteration === iterations - 1) await mayEnd();
        return iteration < iterations ? act(`step ${iteration}`) : answer();
      },
    },
    tools: [searchTool()],
    limits: 'unlimited',
  });
}

describe(`a run of ${ITERATIONS} iterations over many links [row 6]`, () => {
  it(
    'loses no input, takes none twice and can be read back whole [row 8]',
    { timeout: 400_000 },
    async () => {
      const started = gate<RunHandle>();
      const sent = {
        updates: Promise.resolve(),
        signals: Promise.resolve(),
        positions: [] as number[],
      };
      const send = async (name: string): Promise<void> => {
        const run = await started.opened;
        sent.updates = sent.updates.then(async () => {
          const id = `update-${name}`;
          const taken =
            (await run.send(`update ${name}`, { id })) ?? (await run.send(name, { id }));
          if (taken !== null) sent.positions.push(taken);
        });
        sent.signals = sent.signals.then(() =>
          stage.client.workflow
            .getHandle(run.id)
            .signal(inputSignal, { id: `signal-${name}`, kind: 'queue', text: `signal ${name}` }),
        );
        await Promise.all([sent.updates, sent.signals]);
      };
      const sending: Promise<void>[] = [];
      const heard = new Set<number>();
      const onEvent = ({ type, iteration }: AgentEvent): void => {
        const isDue = iteration % 2 === 0 && iteration <= LAST_INPUT_AT && !heard.has(iteration);
        if (type !== 'agent:iteration:before' || !isDue) return;
        heard.add(iteration);
        sending.push(send(String(iteration)));
      };
      // What was accepted before its last iteration is read there.
      const agent = walker(ITERATIONS, () => Promise.all(sending));
      const served = await stage.serve([agent], { listeners: [onEvent] });
      const run = await served.everloop.start('walker', { task: 'Walk far' });
      started.open(run);

      const step = await run.result();

      expect(step).toMatchObject({ status: 'success', value: 'done', iterations: ITERATIONS });
      expect(step.trace.unreadInputs).toEqual([]);
      const events = await run.events();
      const inputs = bodiesOf(events, 'agent:input');
      const idsOf = (way: string): readonly string[] =>
        inputs.map(({ inputId }) => inputId).filter((id) => id.startsWith(way));
      const wanted = (way: string): readonly string[] =>
        Array.from({ length: LAST_INPUT_AT / 2 }, (_, index) => `${way}-${2 * index + 2}`);
      expect(idsOf('update')).toEqual(wanted('update'));
      expect(idsOf('signal')).toEqual(wanted('signal'));
      expect(inputs.map(({ position }) => position)).toEqual(inputs.map((_, index) => index + 1));
      expect(sent.positions).toEqual(
        inputs.flatMap(({ inputId, position }) => (inputId.startsWith('update') ? [position] : [])),
      );

      const handovers = bodiesOf(events, 'agent:execution:handover');
      expect(handovers.length).toBeGreaterThanOrEqual(extent(12, 3));
      expect(handovers.map((event) => event.run)).toEqual(handovers.map((_, index) => index + 1));
      expect(hasNoGap(events)).toBe(true);
      expect(bodiesOf(events, 'agent:execution:before')).toHaveLength(1);
      expect(bodiesOf(events, 'agent:execution:after')).toHaveLength(1);

      const transcript = await run.transcript();
      expect(transcript.map(({ index }) => index)).toEqual(transcript.map((_, index) => index));
      expect(transcript).toHaveLength(ITERATIONS + inputs.length);
      const byQueries = stage.everloopOf(served.taskQueue).attach(run.id);
      expect(await byQueries.events()).toEqual(events);
      expect(await byQueries.transcript()).toEqual(transcript);
      const last = extent(500, 100);
      expect(await run.events({ from: events.length - last })).toEqual(events.slice(-last));

      const listed = await eventually('the run in the list', async () => {
        const own = (await served.everloop.list()).filter(({ id }) => id === run.id);
        return own[0]?.status === 'COMPLETED' && own;
      });
      expect(listed).toMatchObject([{ id: run.id, agent: 'walker', task: 'Walk far' }]);
      await stage.replay(run);
    },
  );
});

describe('a conversation that no link can hand over', () => {
  it('loses its oldest parts, and the run goes on [row 51]', { timeout: 120_000 }, async () => {
    const text = 'text '.repeat(12_000);
    const agent = defineAgent({
      name: 'hoarder',
      mode: 'react',
      model: {
        id: 'm',
        model: async ({ iteration }) => (iteration < 20 ? act(`${iteration} ${text}`) : answer()),
      },
      tools: [searchTool(() => text)],
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('hoarder', { task: 'Collect' });

    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', iterations: 20 });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(bodiesOf(events, 'agent:warning').map(({ code }) => code)).toContain('state_large');
    expect(bodiesOf(events, 'agent:compaction').map(({ strategy }) => strategy)).toContain('mask');
    // The history has all of it.
    expect(await run.transcript()).toHaveLength(20);
    await stage.replay(run);
  });
});

describe('a paused run', () => {
  it('hands over under the weight of its messages, and is paused still', async () => {
    const mayAnswer = gate();
    const agent = defineAgent({
      name: 'walker',
      mode: 'react',
      model: { id: 'm', model: async () => mayAnswer.opened.then(() => act('x')) },
      tools: [searchTool()],
      limits: { iterations: 2 },
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('walker', { task: 'Walk' });
    await run.pause();
    mayAnswer.open();
    await eventually('the pause', async () => (await run.status()).waitsFor.length === 0);

    const sent: string[] = [];
    const later = await eventually('the next link', async () => {
      sent.push(`note-${sent.length + 1}`);
      await run.send('a note', { id: sent.at(-1) ?? '' });
      const status = await run.status();
      return status.link > 1 && status;
    });

    expect(later).toMatchObject({ state: 'paused', iteration: 1 });
    expect(await run.pending()).toMatchObject([{ id: 'pause', kind: 'pause' }]);
    await run.resume();
    expect(await run.result()).toMatchObject({ status: 'limit_exceeded', iterations: 2 });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(bodiesOf(events, 'agent:input').map(({ inputId }) => inputId)).toEqual(sent);
    await stage.replay(run);
  });
});

/** A run whose first hand-over stands still in the archive until `goOn` is opened. */
async function standStill(
  iterations: number,
): Promise<{ readonly run: RunHandle; readonly goOn: Gate }> {
  const { archive, reached, goOn } = slowArchive(`stopped-${iterations}`);
  const { everloop } = await stage.serve([walker(iterations)], { archive });
  const run = await everloop.start('walker', { task: 'Walk' });
  await reached.opened;
  return { run, goOn };
}

/** An archive that opens `reached` when it is first written to, and writes when `goOn` is opened. */
function slowArchive(folder: string): {
  readonly archive: Archive;
  readonly reached: Gate;
  readonly goOn: Gate;
} {
  const reached = gate();
  const goOn = gate();
  const inner = createDirectoryArchive(`${stage.folder}/${folder}`);
  const archive: Archive = {
    ...inner,
    write: async (link, items) => {
      reached.open();
      await goOn.opened;
      await inner.write(link, items);
    },
  };
  return { archive, reached, goOn };
}

describe('a hand-over that takes its time', () => {
  it('puts an adjustment and a pause off to the next link, and knows repeated inputs', async () => {
    const { run, goOn } = await standStill(12);

    const first = await run.send('hello', { id: 'same' });
    const adjusted = await run.adjust({ iterations: 50 });
    const paused = await run.pause();
    const again = await run.send('hello', { id: 'same' });
    goOn.open();
    const later = await eventually('the pause of the next link', async () => {
      const status = await run.status();
      return status.state === 'paused' && status;
    });

    expect([first, again]).toEqual([1, 1]);
    expect(adjusted).toEqual({
      limits: [{ kind: 'exact', key: '$self:agent:iterations', max: 50 }],
      paused: false,
    });
    expect(paused).toEqual({ limits: adjusted.limits, paused: true });
    expect(later).toMatchObject({ link: 2, unreadInputs: 1 });
    expect(await run.send('hello', { id: 'same' })).toBe(1);

    const resumed = await run.resume();
    expect(resumed).toEqual({ limits: adjusted.limits, paused: false });
    const step = await run.result();
    expect(step).toMatchObject({ status: 'success', iterations: 12 });
    const events = await run.events();
    expect(bodiesOf(events, 'agent:input')).toEqual([
      { type: 'agent:input', inputId: 'same', kind: 'queue', position: 1 },
    ]);
    expect(hasNoGap(events)).toBe(true);
    await stage.replay(run);
  });

  it('of a child keeps what its parent says for the next link [row 46] [row 57]', async () => {
    const { archive, reached, goOn } = slowArchive('stopped-child');
    const { everloop } = await stage.serve([asker(walker(12))], { archive });
    const limits = { wallClockMs: 600_000, modelCalls: 40 };
    const run = await everloop.start('asker', { task: 'Go', limits });
    await reached.opened;

    await run.adjust({ wallClockMs: 900_000, modelCalls: 15 });
    const child = everloop.attach(`${run.id}/1.1`);
    await eventually(
      'both messages in the first link',
      async () => {
        const { events } = await stage.client.workflow.getHandle(child.id).fetchHistory();
        const signals = (events ?? []).flatMap(
          ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
        );
        return signals.length === 2;
      },
      30_000,
    );
    goOn.open();
    const step = await run.result();

    const events = await child.events();
    const [handover] = events.filter(({ type }) => type === 'agent:execution:handover');
    const [told] = bodiesOf(events, 'agent:deadlines:changed');
    const [recalled] = bodiesOf(events, 'agent:lease:answered');
    expect(told?.deadlines.map(({ limit }) => limit.max)).toEqual([900_000]);
    expect(recalled?.leases).toMatchObject([{ recalls: 1 }]);
    const first = events.slice(handover?.seq).slice(0, 2);
    expect(first.map(({ type }) => type).toSorted()).toEqual([
      'agent:deadlines:changed',
      'agent:lease:answered',
    ]);
    expect(step).toMatchObject({ status: 'success', usage: { modelCalls: 14 } });
    expect(hasNoGap(events)).toBe(true);
    for (const one of [run, child]) await stage.replay(one);
  });

  it.runIf(RUNS_ALL)('is the same link until the next one begins', async () => {
    const { run, goOn } = await standStill(11);

    const before = await run.status();
    goOn.open();
    await run.result();

    expect(before).toMatchObject({ state: 'running', link: 1 });
    expect((await run.status()).link).toBeGreaterThanOrEqual(2);
  });

  it('does not keep a cancel waiting, and loses nothing by it', async () => {
    const { run, goOn } = await standStill(13);
    await run.send('hello', { id: 'unread' });

    // The archive stands still all the time: who waited for it would wait for ever.
    await run.cancel('now');
    const step = await run.result();

    expect(step).toMatchObject({ status: 'canceled', reason: 'canceled', message: 'now' });
    expect(step.trace.unreadInputs).toEqual(['unread']);
    expect(await run.status()).toMatchObject({ state: 'ended', link: 1 });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(events.slice(-2).map(({ type }) => type)).toEqual([
      'agent:execution:handover',
      'agent:execution:after',
    ]);
    expect(await run.transcript()).toHaveLength(step.iterations);
    goOn.open();
    await stage.replay(run);
  });

  it.runIf(RUNS_ALL)('ends as cancelled when the service cancels it meanwhile', async () => {
    const { run, goOn } = await standStill(14);

    await stage.client.workflow.getHandle(run.id).cancel();
    const step = await run.result();
    goOn.open();

    expect(step).toMatchObject({ status: 'canceled', message: 'canceled through the service' });
    const { status } = await stage.client.workflow.getHandle(run.id).describe();
    expect(status.name).toBe('CANCELLED');
    expect(hasNoGap(await run.events())).toBe(true);
    await stage.replay(run);
  });

  it.runIf(RUNS_ALL)('goes on though the archive fails, and is read by queries then', async () => {
    const archive: Archive = {
      write: () => Promise.reject(new Error('disk full')),
      read: () => Promise.resolve([]),
    };
    const { everloop } = await stage.serve([walker(8)], { archive });

    const run = await everloop.start('walker', { task: 'Walk' });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', iterations: 8 });
    expect(hasNoGap(await run.events())).toBe(true);
    expect(await run.transcript()).toHaveLength(8);
  });
});

it('is due as a tool begins outside work, while another call waits for a person [row 6]', async () => {
  const built = gate();
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    approval: 'always',
    execute: () => 'paid',
  });
  const build = defineTool({
    name: 'build',
    description: 'Builds outside.',
    execute: async () => {
      await built.opened;
      return external();
    },
  });
  const builder = defineAgent({
    name: 'builder',
    mode: 'chat',
    tools: [pay, build],
    model: async ({ iteration }) =>
      iteration === 1
        ? {
            toolCalls: [
              { name: 'pay', args: {} },
              { name: 'build', args: {} },
            ],
          }
        : 'done',
  });
  const { everloop } = await stage.serve([builder]);
  const run = await everloop.start('builder', { task: 'Build.' });
  await eventually('the approval', async () => (await run.pending()).length === 1);
  const { workflow } = stage.client;
  await eventually('a hand-over to be due', async () => {
    await run.send('Go on.');
    return (await workflow.getHandle(run.id).describe()).historyLength > 70;
  });

  built.open();

  await eventually('the next link', async () => (await run.status()).link === 2);
  const items = await run.pending();
  expect(items.map(({ kind }) => kind).toSorted()).toEqual(['approval', 'external']);
  for (const { id, kind } of items) {
    await (kind === 'approval' ? run.decide(id, { approve: true }) : run.answer(id, 'green'));
  }
  expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
  await stage.replay(run);
});
