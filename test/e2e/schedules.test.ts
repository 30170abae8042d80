/** Schedules on a real server: what they start, when, and what their runs are told. */
import { isUsageError } from '../../src/core/base/usage-error.ts';
import { Client } from '@temporalio/client';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createNightly, lookAtNightly, steerNightly } from '../../examples/docs/schedules.ts';
import { createEverloop, type Everloop } from '../../src/client/everloop-client.ts';
import type { ScheduleHandle } from '../../src/client/schedule-handle.ts';
import type {
  ScheduleOptions,
  ScheduleOverlap,
} from '../../src/client/schedules/schedule-options.ts';
import { textOf, type Message } from '../../src/core/base/message.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { forgetRun } from '../../src/worker/retention/forget-run.ts';
import { knownRuns } from '../../src/worker/retention/known-runs.ts';
import { startOrFindServer } from '../../src/worker/server/embedded-server.ts';
import { cli } from '../cli/cli-fixture.ts';
import { openBareStage } from '../support/bare-namespace.ts';
import { cliProgram } from '../support/builds.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { act, answer, searchTool } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { CLI_FOLDER, startTestServer } from '../support/test-server.ts';

/** How the next runs of `moody` end; each test of it sets it anew. */
let mood: 'good' | 'greedy' | 'broken' = 'good';

/** What `moody` was told, in order. */
const told: string[] = [];

/** Says what it was asked. */
const named = (name: string): AgentDefinition =>
  defineAgent({
    name,
    mode: 'chat',
    model: { id: 'e', model: async ({ messages }) => lastText(messages) },
  });
const echo = named('echo');

/** Succeeds, reaches a limit, or fails. */
const moody = defineAgent({
  name: 'moody',
  mode: 'react',
  limits: { modelCalls: 1 },
  tools: [searchTool()],
  model: {
    id: 'd',
    model: async ({ messages }) => {
      told.push(/<<.*>>/.exec(messages.map(textOf).join('\n'))?.[0] ?? 'nothing');
      if (mood === 'broken') throw Object.assign(new Error('Bad request'), { statusCode: 400 });
      return mood === 'greedy' ? act('more') : answer('fine');
    },
  },
});

function lastText(messages: readonly Message[]): string {
  const last = messages.at(-1);
  const text = last === undefined ? '' : textOf(last);
  return /# Task\n([^]*)/.exec(text)?.[1] ?? text;
}

let stage: Stage;
let served: Served;
let everloop: Everloop;
const made: ScheduleHandle[] = [];
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([echo, moody, ...peopleAgents()]);
  ({ everloop } = served);
});
afterAll(async () => {
  for (const schedule of made) await schedule.delete().catch(() => undefined);
  await stage?.close();
});

async function create(options: Partial<ScheduleOptions> = {}, id: string = randomUUID()) {
  const base = { agent: 'echo', task: 'Hi', cron: '0 0 1 1 *' };
  const schedule = await everloop.schedules.create(`sched-${id}`, { ...base, ...options });
  made.push(schedule);
  return schedule;
}

/** The id of the run that a command in a process of its own starts. */
async function triggeredElsewhere(id: string, env: NodeJS.ProcessEnv): Promise<string> {
  const argv = [...cliProgram(), 'schedule', 'trigger', id, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, argv, {
    env: { ...process.env, ...env },
  });
  return (JSON.parse(stdout) as { readonly run: string }).run;
}

/** A client of the real service, which says nothing of one schedule. */
function withoutSchedule(id: string): Stage['client'] {
  const { connection, options } = stage.client;
  const service = stage.client.workflowService;
  const workflowService = new Proxy(service, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (name !== 'describeSchedule' || typeof member !== 'function') return member;
      return (request: { readonly scheduleId: string }, ...rest: readonly unknown[]) => {
        if (request.scheduleId === id) throw new Error('the workflow is stuck');
        return Reflect.apply(member, target, [request, ...rest]) as unknown;
      };
    },
  });
  const withService = new Proxy(connection, {
    get: (target, name) =>
      name === 'workflowService' ? workflowService : (Reflect.get(target, name) as unknown),
  });
  return new Client({ connection: withService, namespace: options.namespace });
}

const EACH_2S = { cron: null, every: '2s' } as const;

describe('a schedule', () => {
  it('starts runs by the clock, which know when they were due and how the last one ended', async () => {
    const schedule = await create({
      task: 'At {{schedule.time}} of {{schedule.date}} by {{schedule.id}}: {{previous.status}} {{where}}',
      context: { where: 'here' },
      previous: true,
    });
    await schedule.update(EACH_2S);
    const { recent } = await eventually('two runs', async () => {
      const view = await schedule.describe();
      return view.recent.length >= 2 && view;
    });
    await schedule.pause('enough');

    const values: string[] = [];
    for (const { run, time, startedAt } of recent.slice(0, 2)) {
      expect(run).toBe(`${schedule.id}-${time.toISOString().replace('.000Z', 'Z')}`);
      expect(startedAt.getTime()).toBeGreaterThanOrEqual(time.getTime());
      const step = await everloop.attach(run).result();
      const day = time.toISOString().slice(0, 10);
      expect(step.value).toContain(`At ${time.toISOString()} of ${day} by ${schedule.id}:`);
      expect(step.trace.schedule).toMatchObject({ id: schedule.id, time: time.toISOString() });
      values.push(JSON.stringify(step.value).replaceAll('"', ''));
      await stage.replay(everloop.attach(run));
    }
    expect(values[0]).toMatch(/:  here$/);
    expect(values[1]).toMatch(/: success here$/);
    const runs = await eventually('the runs in the list', async () => {
      const all = await schedule.runs();
      return all.length >= 2 && all;
    });
    expect(runs.at(-1)).toMatchObject({ schedule: schedule.id, agent: 'echo' });
    expect(await schedule.describe()).toMatchObject({ paused: true, note: 'enough' });
  });

  it('meets a run that waits for a person as its overlap policy says', async () => {
    const policies: readonly ScheduleOverlap[] = [
      'skip',
      'buffer-one',
      'buffer-all',
      'cancel-other',
      'terminate-other',
      'allow-all',
    ];
    const schedules = await Promise.all(
      policies.map((overlap) => create({ agent: 'asker', overlap })),
    );
    await Promise.all(schedules.map((schedule) => schedule.update(EACH_2S)));
    const [skip, one, all, cancel, terminate, allow] = schedules;
    if (!skip || !one || !all || !cancel || !terminate || !allow) throw new Error('six');

    const held = await eventually('skipped starts', async () => {
      const { heldBy } = await skip.describe();
      return (
        (heldBy?.waits === true && heldBy.since !== null && heldBy.skipped >= 2 && heldBy) || false
      );
    });
    const started = async (schedule: ScheduleHandle): Promise<number> =>
      (await schedule.describe()).started;
    await eventually('others to start', async () => {
      const counts = await Promise.all([cancel, terminate, allow].map(started));
      return counts.every((count) => count >= 2);
    });
    expect(await Promise.all([skip, one, all].map(started))).toEqual([1, 1, 1]);
    await eventually('runs beside each other', async () => {
      return (await allow.runs({ running: true })).length >= 2;
    });
    const [first] = (await cancel.describe()).recent;
    expect(await everloop.attach(first?.run ?? '').result()).toMatchObject({ status: 'canceled' });
    await eventually('the terminated run', async () => {
      const runs = await terminate.runs({ state: 'terminated' });
      return runs.length > 0;
    });

    // The answer lets the next one start; what was buffered starts too.
    const run = everloop.attach(held.run);
    const [item] = await run.pending();
    await run.answer(item?.id ?? '', 'this one');
    await run.result();
    await eventually('a start after the answer', async () => (await started(skip)) >= 2);
    const [buffered] = (await one.describe()).running;
    const waits = everloop.attach(buffered ?? '');
    await waits.answer((await waits.pending())[0]?.id ?? '', 'this one');
    await eventually('the buffered start', async () => (await started(one)) >= 2);
    await Promise.all(schedules.map((schedule) => schedule.delete()));
    for (const schedule of schedules) {
      for (const { id } of await schedule.runs({ running: true })) {
        await everloop.attach(id).cancel().catch(unlessEnded);
      }
    }
  });

  it('is triggered, backfilled with the times of May, changed and deleted', async () => {
    const schedule = await create({ task: 'It is {{schedule.date}}', cron: '0 6 * * *' });
    const triggered = await schedule.trigger();
    expect((await triggered?.result())?.value).toContain('It is 20');
    expect(await schedule.backfill({ from: '2026-05-01', until: '2026-05-03' })).toBe(2);
    const values = await eventually('the runs of May', async () => {
      const { recent } = await schedule.describe();
      return (
        recent.length >= 3 && recent.map(({ run }) => run).filter((run) => run.includes('-05-'))
      );
    });
    expect(values).toEqual([
      `${schedule.id}-2026-05-01T06:00:00Z`,
      `${schedule.id}-2026-05-02T06:00:00Z`,
    ]);
    const steps = await Promise.all(values.map((run) => everloop.attach(run).result()));
    expect(steps.map(({ value }) => value)).toEqual(['It is 2026-05-01', 'It is 2026-05-02']);

    await schedule.update({ timeZone: 'Europe/Vienna', task: 'New {{schedule.date}}' });
    await schedule.update({ cron: '30 23 * * *', overlap: 'allow-all', catchupWindow: '10m' });
    expect(await schedule.describe()).toMatchObject({
      times: { cron: ['30 23 * * *'], every: [], calendars: 0 },
      task: 'New {{schedule.date}}',
      timeZone: 'Europe/Vienna',
      overlap: 'allow-all',
      catchupWindowMs: 600_000,
    });
    // 23:30 in Vienna is 21:30 of UTC in summer: the day is that of Vienna.
    await schedule.backfill({ from: '2026-05-04T21:30:00Z', until: '2026-05-04T21:30:01Z' });
    const late = everloop.attach(`${schedule.id}-2026-05-04T21:30:00Z`);
    const step = await eventually('the run of the evening', () =>
      late.result().catch(() => undefined),
    );
    expect(step.value).toBe('New 2026-05-04');
    expect((await schedule.next(2)).map((time) => time.toISOString().slice(16))).toHaveLength(2);
    await expect(
      schedule.backfill({ from: '2020-01-01', until: '2026-01-01' }),
    ).rejects.toMatchObject({
      code: 'schedule_time',
      message:
        'Expected fewer than 1000 times from 2020-01-01T00:00:00.000Z to 2026-01-01T00:00:00.000Z, got 1000 or more. Take a shorter range.',
    });

    await schedule.pause();
    expect(await schedule.trigger()).not.toBeNull();
    await schedule.resume('go on');
    expect(await schedule.describe()).toMatchObject({ paused: false, note: 'go on' });
    await schedule.delete();
    await expect(schedule.describe()).rejects.toMatchObject({
      code: 'schedule_not_found',
      message: `Expected the id of a schedule, got \`${schedule.id}\`, which none has. List the schedules to find it.`,
    });
  });

  it('gives each of many triggers at once a run of its own', async () => {
    const schedule = await create({ overlap: 'allow-all' });
    // Callers that share nothing: each is a client of its own.
    const others = [1, 2, 3].map(() =>
      createEverloop({ client: stage.client, taskQueue: served.taskQueue }).schedules.attach(
        schedule.id,
      ),
    );
    const runs = await Promise.all(
      Array.from({ length: 12 }, (_, at) => (others[at % 3] ?? schedule).trigger()),
    );

    const ids = runs.map((run) => run?.id);
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(12);
    const started = runs.flatMap((run) => run ?? []);
    const steps = await Promise.all(started.map((run) => run.result()));
    expect(new Set(steps.map(({ runId }) => runId)).size).toBe(12);
    expect(steps.map(({ value }) => value)).toEqual(Array<string>(12).fill('Hi'));
    await eventually('all starts', async () => (await schedule.describe()).started === 12);
    expect(steps.map(({ trace }) => trace.schedule?.id)).toEqual(Array(12).fill(schedule.id));
  });

  it('is triggered by processes that share nothing, each with a run of its own', async () => {
    const schedule = await create({ overlap: 'allow-all' });
    const env = { TEMPORAL_ADDRESS: stage.address, TEMPORAL_NAMESPACE: stage.namespace };
    const said = await Promise.all(
      Array.from({ length: 4 }, () => triggeredElsewhere(schedule.id, env)),
    );

    expect(new Set(said).size).toBe(4);
    for (const id of said) expect((await everloop.attach(id).result()).value).toBe('Hi');
  });

  it('starts one run of two triggers at once, and says so, where runs do not overlap', async () => {
    for (const overlap of ['skip', 'buffer-all'] as const) {
      const schedule = await create({ agent: 'asker', overlap });
      const runs = await Promise.all([schedule.trigger(), schedule.trigger(), schedule.trigger()]);

      const started = runs.flatMap((run) => run ?? []);
      expect(started).toHaveLength(1);
      await schedule.delete();
      for (const { id } of await schedule.runs({ running: true })) {
        await everloop.attach(id).cancel().catch(unlessEnded);
      }
    }
  });

  it('is not hidden in the list by one that cannot be looked at', async () => {
    const good = await create();
    const bad = await create();
    const client = withoutSchedule(bad.id);
    const blind = createEverloop({ client, taskQueue: served.taskQueue });
    const listed = await eventually('both in the list', async () => {
      const all = (await blind.schedules.list()).filter(({ id }) => [good.id, bad.id].includes(id));
      return all.length === 2 && all;
    });

    expect(listed.find(({ id }) => id === good.id)).toMatchObject({ agent: 'echo' });
    expect(listed.find(({ id }) => id === bad.id)).toEqual({
      id: bad.id,
      problem: expect.stringContaining('the workflow is stuck') as string,
    });
  });

  it('keeps all changes of two writers', async () => {
    const schedule = await create();
    await Promise.all([
      schedule.update({ cron: '5 5 * * *' }),
      schedule.update({ task: 'Other' }),
      schedule.update({ overlap: 'allow-all' }),
    ]);

    expect(await schedule.describe()).toMatchObject({
      times: { cron: ['5 5 * * *'] },
      task: 'Other',
      overlap: 'allow-all',
    });
  });

  it('tells a run of success, a limit and a failure before it', async () => {
    const task =
      '<<{{previous.status}} {{previous.reason}} {{previous.value}}>> {{previous.endedAt}}';
    const options = { agent: 'moody', task, previous: true, pauseOnFailure: true };
    const schedule = await create(options);
    const ends: (readonly [string | undefined, boolean])[] = [];
    for (const next of ['good', 'greedy', 'broken', 'good'] as const) {
      mood = next;
      const run = await schedule.trigger();
      const status = (await run?.result())?.status;
      const { paused } = await eventually('the end to be known', async () => {
        const view = await schedule.describe();
        const isOver = view.running.length === 0 && (view.paused || next !== 'broken');
        return isOver && view;
      });
      ends.push([status, paused]);
    }

    expect(ends).toEqual([
      ['success', false],
      ['limit_exceeded', false],
      ['error', true],
      ['success', true],
    ]);
    expect(told).toEqual([
      '<<  >>',
      '<<success answered fine>>',
      '<<limit_exceeded agent:model_calls >>',
      '<<error model_request_refused >>',
    ]);
  });

  it('is due as clocks say on days on which they change', async () => {
    const schedule = await create({ cron: '30 2 * * *', timeZone: 'Europe/Vienna', paused: true });
    const days = async (from: string, until: string): Promise<readonly string[]> =>
      (await schedule.times({ from, until })).map((time) => time.toISOString());

    // There is no 02:30 on 29 March. Of the two on 25 October, the service takes the second.
    expect(await days('2026-03-28', '2026-03-31')).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(await days('2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z')).toEqual([
      '2026-10-25T01:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  it.each<Refused>([
    {
      name: 'cron',
      options: { cron: 'not a cron' },
      message:
        'Expected `cron` of 5 to 7 fields, got `not a cron`. Write it as minute, hour, day of month, month, day of week, such as `0 6 * * MON-FRI`.',
    },
    {
      name: 'a zone',
      options: { timeZone: 'Mars/One' },
      message:
        'Expected `timeZone` to be an IANA name such as Europe/Vienna, got `Mars/One`. Change it.',
    },
    {
      name: 'minutes',
      options: { cron: '61 6 * * *' },
      message:
        'Expected times that the service can read, got `61 6 * * *`: Minute is not in range [0-59]. Change them.',
    },
    {
      name: 'a calendar',
      options: { calendars: [{ hour: 25 }] },
      message:
        "Expected times that the service can read, got `0 0 1 1 *`: Invalid CalendarSpec component for field hour: '25' of type 'number'. Change them.",
    },
  ])(
    'refuses $name that nobody can read, at once and in a change',
    async ({ options, message }) => {
      await expect(create(options)).rejects.toMatchObject({ code: 'schedule_time', message });
      const schedule = await create();
      const changes = { cron: '0 0 1 1 *', ...options };
      await expect(schedule.update(changes)).rejects.toMatchObject({
        code: 'schedule_time',
        message,
      });
    },
  );

  it('refuses an id that another one has', async () => {
    const { id } = await create();

    await expect(create({}, id.replace('sched-', ''))).rejects.toMatchObject({
      code: 'schedule_exists',
      message: `Expected a free schedule id, got \`${id}\`, which another one has. Choose another, or update it.`,
    });
  });

  it('is not believed by a run that it did not start', async () => {
    const id = `sched-${randomUUID()}`;
    const forged = { id: 'nightly', time: '2026-01-01T00:00:00Z', timeZone: 'UTC' };
    await stage.client.workflow.start('agent', {
      workflowId: id,
      taskQueue: served.taskQueue,
      args: [
        {
          v: 1,
          agent: 'echo',
          task: { text: 'Hi {{schedule.id}}' },
          schedule: { timeZone: 'UTC', revision: 'x' },
          scheduled: forged,
        },
      ],
    });

    const step = await everloop.attach(id).result();
    expect(step.value).toBe('Hi {{schedule.id}}');
    expect(step.trace.schedule).toBeUndefined();
    await stage.replay(everloop.attach(id));
  });

  it('[protection] is encrypted with its arguments, and so are its runs', async () => {
    const sentinel = `sentinel-${randomUUID()}`;
    const key = randomBytes(32);
    const protection = protectionOf({ keys: keyRing({ current: 'k1', keys: { k1: key } }) });
    const own = await stage.serve([echo], { protection });
    const schedule = await own.everloop.schedules.create(`sched-${randomUUID()}`, {
      agent: 'echo',
      task: `${sentinel}/{{previous.value}}`,
      context: { word: sentinel },
      previous: true,
      cron: '0 0 1 1 *',
    });
    made.push(schedule);
    const first = await (await schedule.trigger())?.result();
    expect(first?.value).toBe(`${sentinel}/`);
    await eventually('the end to be known', async () => {
      return (await schedule.describe()).running.length === 0;
    });
    const second = await (await schedule.trigger())?.result();
    expect(second?.value).toBe(`${sentinel}/${sentinel}/`);

    const { namespace } = stage;
    const service = stage.client.workflowService;
    const stored = [
      await service.describeSchedule({ namespace, scheduleId: schedule.id }),
      ...(await Promise.all(
        [`temporal-sys-scheduler:${schedule.id}`].map((workflowId) =>
          service.getWorkflowExecutionHistory({ namespace, execution: { workflowId } }),
        ),
      )),
    ];
    for (const answer of stored) expect(readable(answer)).not.toContain(sentinel);
    expect(readable(stored)).toContain('binary/encrypted');
    const blind = createEverloop({ client: stage.client, taskQueue: own.taskQueue });
    expect(await blind.schedules.attach(schedule.id).describe()).toMatchObject({
      agent: '(encrypted)',
      task: '',
    });
    await expect(
      blind.schedules.attach(schedule.id).update({ cron: '1 1 * * *' }),
    ).rejects.toMatchObject({
      code: 'keys_missing',
    });
  });

  it('is in the list, also of a namespace without search attributes', async () => {
    const bare = await openBareStage(stage.address);
    try {
      const own = await bare.serve([echo]);
      const schedule = await own.everloop.schedules.create('nightly', {
        agent: 'echo',
        task: 'Hi',
        cron: ['0 6 * * MON-FRI', '0 9 * * SAT'],
        every: '6h',
      });
      const run = await schedule.trigger();
      expect((await run?.result())?.value).toBe('Hi');
      const [found] = await eventually('the list', async () => {
        const all = await own.everloop.schedules.list();
        return all.length > 0 && all;
      });
      expect(found).toMatchObject({
        id: 'nightly',
        agent: 'echo',
        times: { cron: ['0 6 * * MON-FRI', '0 9 * * SAT'], every: [21_600_000], calendars: 0 },
      });
      await schedule.delete();
      expect(await own.everloop.schedules.list()).toEqual([]);
    } finally {
      await bare.close();
    }
  });

  it('is that of its page, whose code and commands run here', async () => {
    expect(blocksOf('schedules')).toEqual(regionsOf('schedules'));
    const own = await stage.serve([named('clerk')]);
    const nightly = await createNightly(own.everloop);
    made.push(nightly);
    expect(await steerNightly(nightly)).toMatch(/^Digest of \d{4}-\d\d-\d\d\. Yesterday:$/);
    const { runs } = await eventually('the runs of May', async () => {
      const seen = await lookAtNightly(own.everloop);
      return seen.runs.length === 3 && seen;
    });
    expect(runs.map(({ id }) => id)).toContain('nightly-digest-2026-05-05T04:00:00Z');
    expect((await lookAtNightly(own.everloop)).view.times.cron).toEqual(['0 7 * * *']);

    const page = readFileSync('docs/schedules.md', 'utf8');
    const commands = [...page.matchAll(/^npx everloop (.*)$/gm)].map(([, words = '']) => words);
    const said: string[] = [];
    for (const command of commands) {
      const argv = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, one, two]) => one ?? two ?? '',
      );
      const { exitCode, stdout, stderr } = await cli(argv, {
        io: { connect: async () => ({ ...own.everloop, ...HERE }) },
      });
      expect({ command, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
        command,
        exitCode: 0,
        stderr: '',
      });
      said.push(stdout);
    }
    expect(said[5]).toMatch(/^Digest of \d{4}-\d\d-\d\d\n$/);
    expect(said[6]).toBe('Starts 3 runs of schedule weekly.\n');
    expect(said.at(-1)).toBe('Deleted schedule weekly.\n');
  });

  it.runIf(RUNS_ALL)('keeps blobs of the run whose Step the next one reads', async () => {
    const schedule = await create();
    const first = await schedule.trigger();
    await first?.result();
    const blobs = directoryBlobs(join(stage.folder, 'blobs'));
    const places = { client: stage.client, archiveDir: join(stage.folder, 'none'), blobs };
    await expect(forgetRun(places, first?.id ?? '')).rejects.toMatchObject({
      code: 'run_kept',
      message: `Expected a run whose Step no schedule needs, got \`${first?.id}\`, whose Step schedule \`${schedule.id}\` gives to its next run. Wait until that has ended, or delete the schedule.`,
    });
    // The service looks again when it is asked to start the next one.
    const next = await eventually('the next run', async () => (await schedule.trigger()) ?? false);
    expect(next.id).not.toBe(first?.id);
    await next.result();
    const gone = await eventually('the next Step to be the last', () =>
      forgetRun(places, first?.id ?? '').catch((error: unknown) => {
        if (isUsageError(error) && error.code === 'run_kept') return false;
        throw error;
      }),
    );
    expect(gone).toMatchObject({ executions: 1 });
    await eventually('the run to be gone', async () => {
      // What is known is kept for a minute.
      return !(await knownRuns(stage.client, 0).isKnown(first?.id ?? ''));
    });
  });

  it.runIf(RUNS_ALL)('starts what was due while the server was down', async () => {
    const server = await startTestServer();
    const own = await openStage(server);
    try {
      const { everloop: client } = await own.serve([echo]);
      const schedule = await client.schedules.create('clock', {
        agent: 'echo',
        task: '{{schedule.time}}',
        every: '5s',
        overlap: 'buffer-all',
      });
      await eventually('a start', async () => (await schedule.describe()).started > 0);
      if (server.pid === undefined) throw new Error('Expected a server of the test.');
      process.kill(server.pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 7_000));
      const { port } = new URL(`http://${server.address}`);
      const again = await startOrFindServer({
        port: Number(port),
        dataDir: server.dataDir,
        cliDir: CLI_FOLDER,
      });
      try {
        const { recent, missed } = await eventually('starts without a gap', async () => {
          const view = await schedule.describe().catch(() => undefined);
          return view !== undefined && view.recent.length >= 4 && view;
        });
        const times = recent.map(({ time }) => time.getTime());
        expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual(
          times.slice(1).map(() => 5_000),
        );
        expect(missed).toBe(0);
      } finally {
        await schedule.delete();
        await again.stop();
      }
    } finally {
      await own.close();
      await server.stop();
    }
  });
});

/** Options that the service refuses, and in which words. */
interface Refused {
  readonly name: string;
  readonly options: Partial<ScheduleOptions>;
  readonly message: string;
}

const HERE = { address: '', namespace: '', close: () => Promise.resolve() };

/** A policy may have ended a run between the list and the cancel. */
function unlessEnded(error: unknown): void {
  if (!isUsageError(error) || error.code !== 'run_ended') throw error;
}

/** Everything in an answer of the service, bytes as text. Its own `toJSON` would write base64. */
function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, item]) => `${name} ${readable(item)}`)
    .join('\n');
}
