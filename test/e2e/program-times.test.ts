/** Time, ends and limits in the middle of programs, on a real server. */
import { mkdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { startPlainServer } from '../support/aimock.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { SurveyWorker } from '../support/fixtures/serve-survey.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { enteredCalls, surveyAgent, writing } from '../support/survey.ts';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { LimitsInput } from '../../src/core/contract/input.ts';

let stage: Stage;
const workers = fixtureProcesses<SurveyWorker>('serve-survey');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

describe('a program that sleeps [row 29]', () => {
  /** Long enough that a busy machine sees it, and has another worker, before it is over. */
  const NAP_MS = 25_000;

  it.runIf(RUNS_ALL)(
    'wakes at its time, whatever became of its worker [row 23]',
    { timeout: 180_000 },
    async () => {
      const { address, namespace, folder } = stage;
      const storeDir = await mkdtemp(join(folder, 'nap-'));
      const taskQueue = `nap-${randomUUID()}`;
      const work: SurveyWorker = {
        address,
        namespace,
        taskQueue,
        storeDir,
        archiveDir: folder,
        latencyMs: 5,
        napMs: NAP_MS,
      };
      const victim = await workers.start(work);
      const run = await stage.everloopOf(taskQueue).start('napper', { task: 'Nap.' });
      await eventually(
        'the short nap to be over',
        () => enteredCalls(storeDir).length === 2,
        30_000,
      );
      const view = await eventually('the long nap', async () => {
        const { status } = (await run.program()) ?? {};
        return status?.state === 'waiting' && status;
      });
      const nap = view.effects.find(({ kind, state }) => kind === 'sleep' && state === 'waiting');
      expect(nap).toMatchObject({ id: '2/1/1', until: (nap?.since ?? 0) + NAP_MS });

      await victim.kill('SIGKILL');
      await workers.start(work);
      const step = await run.result();

      expect(step.value).toEqual({ before: 51, naps: [21, 51] });
      expect(enteredCalls(storeDir).map(({ callId }) => callId)).toEqual([
        '1.p1',
        '1.p2/0/2',
        '1.p2/1/2',
      ]);
      const late = (await run.events()).find(
        (event) => event.type === 'agent:tool_call:after' && event.callId === '1.p2/1/2',
      );
      expect(late?.at).toBeGreaterThanOrEqual(nap?.until ?? Infinity);
      await stage.replay(run);
    },
  );
});

/** An agent whose tool holds an HTTP call open until it is ended. */
function caller(url: string): AgentDefinition {
  const fetchPage = defineTool({
    name: 'fetch_page',
    description: 'Fetches a page.',
    parameters: z.object({ page: z.int() }),
    effect: 'read',
    execute: async ({ page }, { signal }) => (await fetch(`${url}/${page}`, { signal })).text(),
  }) as ToolDefinition;
  return defineAgent({
    name: 'caller',
    mode: 'lisp',
    model: {
      id: 'caller/model',
      model: writing([
        '(pmap (fn [n] [(tool/fetch_page {:page n}) (tool/fetch_page {:page (+ n 100)})]) (range 12))',
      ]),
    },
    tools: [fetchPage],
    program: { parallel: 4 },
  });
}

/** How many activities a run scheduled, and how many of them came to an end. */
async function activitiesOf(
  run: RunHandle,
): Promise<{ readonly scheduled: number; readonly ended: number }> {
  const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  const all = events ?? [];
  return {
    scheduled: all.filter((event) => event.activityTaskScheduledEventAttributes != null).length,
    ended: all.filter(
      (event) =>
        event.activityTaskCompletedEventAttributes != null ||
        event.activityTaskCanceledEventAttributes != null ||
        event.activityTaskFailedEventAttributes != null,
    ).length,
  };
}

describe('a cancel in the middle of a program [row 2] [row 29]', () => {
  it('ends the open calls of its tools, and leaves no activity', { timeout: 180_000 }, async () => {
    const open = new Set<string>();
    const asked: string[] = [];
    const server = await startPlainServer((request, response) => {
      const page = request.url ?? '';
      asked.push(page);
      open.add(page);
      response.on('close', () => open.delete(page));
    });
    try {
      const { everloop } = await stage.serve([caller(server.url)]);
      const run = await everloop.start('caller', { task: 'Fetch.' });
      await eventually('four open pages', () => open.size === 4, 30_000);

      await run.cancel('never mind');
      const step = await run.result();

      expect(step).toMatchObject({ status: 'canceled', reason: 'canceled', message: 'never mind' });
      expect(asked.toSorted()).toEqual(['/0', '/1', '/2', '/3']);
      await eventually('the pages to be closed', () => open.size === 0);
      const { raw } = await stage.client.workflow.getHandle(run.id).describe();
      expect(raw.pendingActivities ?? []).toEqual([]);
      // The model, the four calls; a check of literal arguments would be local.
      expect(await activitiesOf(run)).toEqual({ scheduled: 5, ended: 5 });
      const events = await run.events();
      expect(hasNoGap(events)).toBe(true);
      expect(bodiesOf(events, 'agent:tool_call:after').map(({ outcome }) => outcome)).toEqual(
        Array.from({ length: 4 }, () => 'canceled'),
      );
      expect(bodiesOf(events, 'agent:program:after')).toMatchObject([
        { outcome: 'canceled', error: { reason: 'canceled' } },
      ]);
      await stage.replay(run);
    } finally {
      await server.stop();
    }
  });
});

describe('a limit in the middle of a program [row 29] [row 40]', () => {
  const PROBES = '(mapv (fn [n] (tool/probe {:station n :part 1})) (range 10))';
  const AT_ONCE = '(pmap (fn [n] (tool/probe {:station n :part 1})) (range 10))';

  interface LimitCase {
    readonly name: string;
    readonly programs: readonly string[];
    readonly limits?: LimitsInput;
    /** Once the program sleeps, the deadline is moved to two seconds from then. */
    readonly isLateWhenItSleeps?: boolean;
    readonly options?: Partial<AgentOptions>;
    /** What the Step has to hold. */
    readonly step: object;
    /** How many calls began. */
    readonly began: number;
    /** How the programs ended. */
    readonly ends: readonly object[];
  }

  const CASES: readonly LimitCase[] = [
    {
      name: 'tool calls, one after another [row 43]',
      programs: [PROBES],
      limits: { toolCalls: 4 },
      step: { status: 'limit_exceeded', reason: 'agent:tool_calls', usage: { toolCalls: 4 } },
      began: 4,
      ends: [{ outcome: 'canceled', calls: 4 }],
    },
    {
      name: 'tool calls, at once [row 43]',
      programs: [AT_ONCE],
      limits: { toolCalls: 4 },
      step: { status: 'limit_exceeded', reason: 'agent:tool_calls', usage: { toolCalls: 4 } },
      began: 4,
      ends: [{ outcome: 'canceled', calls: 4 }],
    },
    {
      name: 'calls of one program',
      programs: [PROBES, '(return (:reason data/fail))'],
      options: { program: { toolCalls: 6 } },
      step: { status: 'success', value: 'tool_call_limit_exceeded' },
      began: 6,
      ends: [
        { outcome: 'error', calls: 6, error: { reason: 'tool_call_limit_exceeded' } },
        { outcome: 'returned', calls: 0 },
      ],
    },
    {
      name: 'fuel of one program',
      programs: [
        `(def rows ${PROBES})\n(loop [n 0] (if (< n 9000) (recur (inc n)) n))`,
        '(return (:reason data/fail))',
      ],
      options: { program: { fuel: 5_000 } },
      step: { status: 'success', value: 'fuel_exceeded' },
      began: 10,
      ends: [
        { outcome: 'error', calls: 10, steps: 5_000, error: { reason: 'fuel_exceeded' } },
        { outcome: 'returned', calls: 0 },
      ],
    },
    {
      name: 'steps of all programs',
      programs: [PROBES, '(loop [n 0] (tool/probe {:station n :part 1}) (recur (inc n)))'],
      limits: { programSteps: 600 },
      step: { status: 'limit_exceeded', reason: 'agent:program_steps', iterations: 2 },
      began: 24,
      ends: [
        { outcome: 'value', calls: 10 },
        { outcome: 'error', error: { reason: 'fuel_exceeded' } },
      ],
    },
    {
      name: 'time, in a sleep [row 46]',
      programs: ['(tool/probe {:station 1 :part 1}) (sleep 600000)'],
      limits: { wallClockMs: 600_000 },
      isLateWhenItSleeps: true,
      step: { status: 'limit_exceeded', reason: 'agent:wall_clock_ms' },
      began: 1,
      ends: [{ outcome: 'canceled', calls: 1 }],
    },
  ];

  const storeOf = (index: number): string => join(stage.folder, `limits-${index}`);
  let everloop: Everloop;
  beforeAll(async () => {
    const agents = CASES.map(({ programs, options = {} }, index) => {
      mkdirSync(storeOf(index));
      const place = { storeDir: storeOf(index), latencyMs: 5 };
      return surveyAgent(place, undefined, programs, { ...options, name: `limited-${index}` });
    });
    ({ everloop } = await stage.serve(agents));
  });

  it.each(CASES.map((one, index) => [one.name, one, index] as const))(
    'on %s',
    async (_name, one, index) => {
      const before = enteredCalls(storeOf(index)).length;
      const startedAt = Date.now();
      const run = await everloop.start(`limited-${index}`, {
        task: 'Survey.',
        ...(one.limits === undefined ? {} : { limits: one.limits }),
      });
      if (one.isLateWhenItSleeps === true) {
        await eventually('a sleep', async () => (await run.program())?.status?.state === 'waiting');
        await run.adjust({ wallClockMs: Date.now() - startedAt + 2_000 });
      }

      const step = await run.result();

      expect(step).toMatchObject(one.step);
      const events = await run.events();
      expect(bodiesOf(events, 'agent:program:after')).toMatchObject(one.ends);
      expect(hasNoGap(events)).toBe(true);
      expect(enteredCalls(storeOf(index)).slice(before)).toHaveLength(one.began);
      await stage.replay(run);
    },
  );
});
