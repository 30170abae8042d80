/**
 * A job of the matrix: one scenario, run after run, killed at one point of each of its moments, until
 * there is none left. What comes of the runs is compared with a run that nothing happened to.
 */
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../src/core/base/defined.ts';
import { errorText } from '../../src/core/base/error-text.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { MatrixWorker } from '../support/fixtures/serve-matrix.ts';
import type { Stage } from '../support/stage.ts';
import { hasEffects, repeatsIn, type Repeats } from './effects.ts';
import {
  momentsOf,
  sharedMs,
  type Note,
  type Point,
  type TimedNote,
  type Victim,
} from './moments.ts';
import type { MatrixScenario } from './scenarios.ts';
import { newProtection, protectionFor } from './protected.ts';
import { keepServing, type RestartServer, type Serving } from './serving.ts';
import { spansDiffer, spansIn, type PlayedSpans } from './spans.ts';
import { sumsOf, sumsDiffer, type Sums } from './sums.ts';

/** Where jobs run: a stage on a server, and that server when it is to be killed. */
export interface JobPlace {
  readonly stage: Stage;
  readonly server?: { readonly pid: number; readonly restart: RestartServer };
}

/** What to kill, and where. */
export interface Job {
  readonly scenario: MatrixScenario;
  readonly victim: Victim;
  readonly point: Point;
  readonly moments: readonly string[];
  readonly trouble?: MatrixWorker['trouble'];
  /** With keys and blobs; what comes of the run is the same. Default false. */
  readonly isProtected?: boolean;
}

/** What a run comes to that nothing happens to, and the moments that it has. */
export interface Undisturbed {
  readonly sums: Sums;
  readonly spans: PlayedSpans;
  readonly moments: readonly string[];
}

/** What came of a job. */
export interface JobOutcome extends Repeats {
  readonly scenario: string;
  readonly victim: Victim;
  readonly point: Point;
  readonly trouble?: MatrixWorker['trouble'];
  readonly kills: number;
  /** Moments at which nothing was killed, because no run came by. */
  readonly unmet: readonly string[];
  readonly runs: number;
  /** Why each lost run counts as lost. */
  readonly lost: readonly string[];
  /** Where statistics and spans differ from those of the undisturbed run. */
  readonly unequal: readonly string[];
  /** From each kill to the next thing that the run did, in ms. */
  readonly progressMs: readonly number[];
}

/** A run that does nothing for so long is lost: several times what any recovery takes. */
const LOST_AFTER_MS = 180_000;
/** Runs in a row that meet no moment; more would not, either. */
const IDLE_RUNS = 2;

/** Plays `scenario` once without a kill. */
export async function playUndisturbed(
  { stage }: JobPlace,
  scenario: MatrixScenario,
): Promise<Undisturbed> {
  const notes: Note[] = [];
  const work = await workOf(stage, { scenario, point: 'before', moments: [] });
  const serving = await keepServing(work, { onNote: (note) => notes.push(note) });
  try {
    const runs = await scenario.play(everloopOf(stage, work), `${work.prefix}.1`);
    const sums = await sumsOf(runs);
    const spans = spansIn(work.effectsDir, work.prefix).get('1') ?? [];
    return { sums, spans, moments: momentsOf(notes) };
  } finally {
    await serving.stop();
  }
}

/** What a worker of a job is told: a queue, folders and ids of its own. */
export async function workOf(
  { address, namespace, folder }: Stage,
  job: Pick<Job, 'scenario' | 'point' | 'moments' | 'trouble' | 'isProtected'>,
): Promise<MatrixWorker> {
  const { scenario, point, moments, trouble, isProtected = false } = job;
  const effectsDir = await mkdtemp(join(folder, 'matrix-'));
  const archiveDir = join(effectsDir, 'archive');
  await mkdir(archiveDir);
  const prefix = `${scenario.name}-${randomUUID()}`;
  return {
    address,
    namespace,
    taskQueue: prefix,
    archiveDir,
    effectsDir,
    scenario: scenario.name,
    prefix,
    point,
    moments,
    ...defined({ trouble, secured: isProtected ? newProtection(effectsDir) : undefined }),
  };
}

/** The client of a job; on a full disk it has no archive to read. */
export function everloopOf(
  stage: Stage,
  { taskQueue, archiveDir, trouble, secured }: MatrixWorker,
): Everloop {
  const readDir = trouble === 'full disk' ? undefined : archiveDir;
  return stage.everloopOf(taskQueue, readDir, secured && protectionFor(secured));
}

/** Whether `folder` holds a blob, whose file is named by its digest. */
function hasBlobs(folder: string): boolean {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.some((name) => /[0-9a-f]{64}$/.test(name));
}

/** Kills at all moments of `job`. */
export async function playJob(
  place: JobPlace,
  job: Job,
  undisturbed: Undisturbed,
): Promise<JobOutcome> {
  const { scenario, victim, point, trouble } = job;
  const { stage, server } = place;
  const work = await workOf(stage, job);
  const progress = new Progress();
  const serving = await keepServing(work, {
    onNote: (note) => progress.onNote(note),
    ...defined({ server: victim === 'server' ? server : undefined }),
  });
  const everloop = everloopOf(stage, work);
  const lost: string[] = [];
  const unequal: string[] = [];
  let runs = 0;
  try {
    for (let idle = 0; serving.left.size > 0 && idle < IDLE_RUNS && lost.length === 0;) {
      runs += 1;
      const before = serving.left.size;
      const id = `${work.prefix}.${runs}`;
      const end = await endOf(scenario, everloop, id, { serving, progress });
      if (typeof end === 'string') lost.push(`${id}: ${end}`);
      else
        unequal.push(
          ...sumsDiffer(await sumsOf(end), undisturbed.sums).map((text) => `${id}: ${text}`),
        );
      idle = serving.left.size < before ? 0 : idle + 1;
    }
  } finally {
    await serving.stop();
  }
  // Without calls, nothing is large.
  if (work.secured && hasEffects(work.effectsDir) && !hasBlobs(work.secured.blobDir)) {
    unequal.push(`${work.prefix}: nothing was stored as a blob`);
  }
  for (const [play, spans] of spansIn(work.effectsDir, work.prefix)) {
    if (lost.some((text) => text.startsWith(`${work.prefix}.${play}:`))) continue;
    unequal.push(
      ...spansDiffer(spans, undisturbed.spans).map((text) => `${work.prefix}.${play}: ${text}`),
    );
  }
  return {
    scenario: scenario.name,
    victim,
    point,
    ...defined({ trouble }),
    kills: job.moments.length - serving.left.size,
    unmet: [...serving.left],
    runs,
    lost,
    unequal,
    progressMs: progress.times,
    ...repeatsIn(work.effectsDir),
  };
}

/** The ended runs of a scenario, or why it is lost. */
async function endOf(
  scenario: MatrixScenario,
  everloop: Everloop,
  id: string,
  { serving, progress }: { readonly serving: Serving; readonly progress: Progress },
): Promise<readonly RunHandle[] | string> {
  progress.begin();
  const over = new AbortController();
  try {
    const runs = await Promise.race([
      scenario.play(everloop, id),
      serving.ended,
      progress.stall(over.signal),
    ]);
    const steps = await Promise.all(runs.map((run) => run.result()));
    const bad = steps.filter(({ status }) => status !== 'success');
    return bad.length === 0 ? runs : bad.map(reasonOf).join('; ');
  } catch (error) {
    return errorText(error);
  } finally {
    over.abort();
    progress.end();
  }
}

function reasonOf({ status, reason, message }: Step): string {
  return `${status} (${reason}) ${message ?? ''}`.trim();
}

/** When a run last did something, and how long each kill kept it from that. */
class Progress {
  readonly times: number[] = [];
  private killedAt: number | null = null;
  private lastAt = 0;

  begin(): void {
    this.killedAt = null;
    this.lastAt = sharedMs();
  }

  /** After its end a run goes on no more. */
  end(): void {
    this.killedAt = null;
  }

  onNote({ kind, at }: TimedNote): void {
    this.lastAt = at;
    if (kind === 'kill') this.killedAt = at;
    else if (this.killedAt !== null) {
      this.times.push(at - this.killedAt);
      this.killedAt = null;
    }
  }

  /** Rejects when nothing happens for too long. */
  async stall(signal: AbortSignal): Promise<never> {
    for (;;) {
      await sleep(1_000, undefined, { signal });
      const idleMs = sharedMs() - this.lastAt;
      if (idleMs > LOST_AFTER_MS) {
        throw new Error(`nothing happened for ${Math.round(idleMs / 1_000)} s`);
      }
    }
  }
}
