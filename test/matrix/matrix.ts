/** The whole matrix: what is killed at which moments of which scenarios, and how that is played. */
import { openStage, type Stage } from '../support/stage.ts';
import { startKillableServer, type KillableServer } from './killable-server.ts';
import { playJob, playUndisturbed, type Job, type JobOutcome, type Undisturbed } from './job.ts';
import { POINTS, type Point, type Victim } from './moments.ts';
import { MATRIX_SCENARIOS, type MatrixScenario } from './scenarios.ts';

/** A row of the matrix: one scenario, and what happens to it. */
export interface MatrixRow {
  readonly scenario: MatrixScenario;
  readonly victim: Victim;
  readonly points: readonly Point[];
  readonly trouble?: NonNullable<Job['trouble']>;
  /** With keys and blobs. Default false. */
  readonly isProtected?: boolean;
  /** Kills at so many of its moments only, spread over the run; default: at all. */
  readonly atMost?: number;
}

/** All rows, in the order of the page. */
export const MATRIX_ROWS: readonly MatrixRow[] = [
  ...MATRIX_SCENARIOS.map((scenario) => ({ scenario, victim: 'worker' as const, points: POINTS })),
  ...MATRIX_SCENARIOS.map((scenario, index) => ({
    scenario,
    victim: 'server' as const,
    // A server dies as a whole, so the points differ less: each scenario has one of them.
    points: POINTS.filter((_, place) => place === index % POINTS.length),
  })),
  ...MATRIX_SCENARIOS.flatMap((scenario) =>
    scenario.handsOver === true
      ? [
          { scenario, victim: 'worker' as const, points: ['after'], trouble: 'full disk' } as const,
          { scenario, victim: 'worker', points: ['write'], trouble: 'jumping clock' } as const,
        ]
      : [],
  ),
];

/** How many moments a job has: with more, one run would be killed very often, and last long. */
const MOMENTS_OF_A_JOB = 12;

/**
 * The jobs of a row. Neighbouring moments go to different jobs, since the events that one workflow task
 * records can be met by one kill only.
 */
export function jobsOf(
  { scenario, victim, points, trouble, isProtected = false, atMost = Infinity }: MatrixRow,
  all: readonly string[],
): readonly Job[] {
  const every = Math.max(1, all.length / atMost);
  const moments = all.filter((_, index) => Math.floor(index % every) === Math.floor(every / 2));
  const parts = Math.ceil(moments.length / MOMENTS_OF_A_JOB);
  return points.flatMap((point) =>
    Array.from({ length: parts }, (_, part) => ({
      scenario,
      victim,
      point,
      isProtected,
      moments: moments.filter((_moment, index) => index % parts === part),
      ...(trouble === undefined ? {} : { trouble }),
    })),
  );
}

/** How many jobs run at once: they mostly wait, for heartbeats and for tasks that time out. */
export interface Lanes {
  readonly worker: number;
  /** Each has a server of its own. */
  readonly server: number;
}

/** Who hears what came of a job, and of a row when all its jobs have ended. */
export interface MatrixListener {
  readonly onJob?: (outcome: JobOutcome) => void;
  readonly onRow: (outcomes: readonly JobOutcome[]) => void;
}

/** Plays rows, their jobs side by side. */
export async function playRows(
  rows: readonly MatrixRow[],
  lanes: Lanes,
  { onJob, onRow }: MatrixListener,
): Promise<void> {
  const shared = new Servers();
  const calm = new Map<MatrixScenario, Undisturbed>();
  try {
    const scenarios = [...new Set(rows.map(({ scenario }) => scenario))];
    await inLanes(scenarios, lanes.worker, () => async (scenario) => {
      const { stage } = await shared.of(scenario);
      calm.set(scenario, await playUndisturbed({ stage }, scenario));
    });
    const jobs = rows.flatMap((row) => {
      const ends: JobOutcome[] = [];
      const all = jobsOf(row, calm.get(row.scenario)?.moments ?? []);
      const onEnd = (outcome: JobOutcome): void => {
        onJob?.(outcome);
        if (ends.push(outcome) === all.length) onRow(ends);
      };
      return all.map((job) => ({ ...job, onEnd }));
    });
    const play = async (job: OpenJob, servers: Servers): Promise<void> => {
      const { stage, server } = await servers.of(job.scenario);
      const place = { stage, server: { pid: server.pid(), restart: () => server.restart() } };
      job.onEnd(await playJob(place, job, calm.get(job.scenario) as Undisturbed));
    };
    await inLanes(
      jobs.filter(({ victim }) => victim === 'worker'),
      lanes.worker,
      () => (job) => play(job, shared),
    );
    await inLanes(
      jobs.filter(({ victim }) => victim === 'server'),
      lanes.server,
      () => {
        const own = new Servers();
        return Object.assign((job: OpenJob) => play(job, own), { close: () => own.close() });
      },
    );
  } finally {
    await shared.close();
  }
}

interface OpenJob extends Job {
  readonly onEnd: (outcome: JobOutcome) => void;
}

/** One lane: plays jobs one after another. */
type Lane<Job> = ((job: Job) => Promise<void>) & { readonly close?: () => Promise<void> };

async function inLanes<Job>(
  jobs: readonly Job[],
  lanes: number,
  open: () => Lane<Job>,
): Promise<void> {
  const waiting = [...jobs];
  await Promise.all(
    Array.from({ length: Math.min(lanes, jobs.length) }, async () => {
      const lane = open();
      try {
        for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await lane(job);
      } finally {
        await lane.close?.();
      }
    }),
  );
}

interface OpenServer {
  readonly server: KillableServer;
  readonly stage: Stage;
}

/** A server for each kind of scenario, started when first used. */
class Servers {
  private readonly open = new Map<boolean, Promise<OpenServer>>();

  of(scenario: MatrixScenario): Promise<OpenServer> {
    const handsOver = scenario.handsOver === true;
    const known = this.open.get(handsOver) ?? start(handsOver);
    this.open.set(handsOver, known);
    return known;
  }

  async close(): Promise<void> {
    for (const opened of this.open.values()) {
      const { server, stage } = await opened;
      await stage.close();
      await server.stop();
    }
  }
}

async function start(handsOver: boolean): Promise<OpenServer> {
  const server = await startKillableServer(handsOver);
  return { server, stage: await openStage(server) };
}
