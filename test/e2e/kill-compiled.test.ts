/**
 * Kill tests of LLM tools and of compiled agents: the worker is killed in the middle of a question to a
 * model, or of a call, of a program that a model writes in the run and of one that was compiled before.
 * What was in flight is done again, what was finished is not. `npm run test:kills` takes all moments.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { CompiledAgent } from '../../src/core/contract/input.ts';
import {
  APPRAISAL,
  APPRAISED,
  appraisedIn,
  APPRAISER,
  appraiser,
  THINGS,
} from '../support/appraisal.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import type { AppraisalWorker } from '../support/fixtures/serve-appraisal.ts';
import { withHiddenValue } from '../support/hidden-values.ts';
import type { KillMoment } from '../support/kill-moments.ts';
import { extent, extentOf } from '../support/extent.ts';
import { hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { programOutcomeOf, type ProgramOutcome } from '../support/survey.ts';

const LATENCY_MS = 25;

/** How a run begins whose program the model writes, and one whose program it wrote before. */
const KINDS = {
  run: (everloop: Everloop) => everloop.start(APPRAISER, { context: { things: THINGS } }),
  'compiled run': (everloop: Everloop) =>
    everloop.runCompiled(compiled, { context: withHiddenValue({ things: THINGS }) }),
} as const;
type Kind = keyof typeof KINDS;

let stage: Stage;
let compiled: CompiledAgent;
const undisturbed = new Map<Kind, ProgramOutcome>();
const workers = fixtureProcesses<AppraisalWorker>('serve-appraisal');

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const storeDir = await mkdtemp(join(stage.folder, 'calm-'));
  const { everloop, stop } = await stage.serve([appraiser({ storeDir, latencyMs: LATENCY_MS })]);
  compiled = await everloop.compileAgent(APPRAISER, {
    context: withHiddenValue({ things: THINGS }),
  });
  for (const kind of ['run', 'compiled run'] as const) {
    undisturbed.set(kind, await programOutcomeOf(await KINDS[kind](everloop)));
  }
  await stop();
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** When the worker dies: what of {@link APPRAISED} is in flight then, and so is done again. */
interface Moment {
  readonly name: string;
  readonly on: KillMoment['on'];
  readonly again: string;
}

const MOMENTS: readonly Moment[] = [
  { name: 'in the question of an LLM tool', on: 'effect begun', again: 'judge 3' },
  { name: 'when its reply has come and nobody knows', on: 'effect done', again: 'judge 4' },
  { name: 'in a call of a tool', on: 'effect begun', again: 'weigh milk' },
  { name: 'in the last question', on: 'effect begun', again: 'judge 5' },
];
const moments = MOMENTS.slice(0, extent(MOMENTS.length, 1));

describe.each(extentOf(['run', 'compiled run'] as const))(
  'a worker that is killed in a %s',
  (kind) => {
    it('has calls and questions to lose', () => {
      const { step, requests } = undisturbed.get(kind) ?? {};

      expect(step).toMatchObject({
        status: 'success',
        value: APPRAISAL,
        // A compiled program has no model: what it asks are its LLM tools.
        usage: { modelCalls: kind === 'run' ? 4 : 3, toolCalls: 6 },
      });
      expect(requests).toHaveLength(6);
    });

    it.each(moments)(
      '$name repeats that and nothing else, and changes nothing [row 23] [row 29] [sub 16]',
      { timeout: 240_000 },
      async ({ on, again }) => {
        const { address, namespace } = stage;
        const storeDir = await mkdtemp(join(stage.folder, 'kill-'));
        const place = {
          address,
          namespace,
          taskQueue: `appraisal-${randomUUID()}`,
          storeDir,
          archiveDir: storeDir,
          latencyMs: LATENCY_MS,
        };
        const nth = APPRAISED.indexOf(again) + 1;
        const victim = await workers.start({ ...place, killAt: { on, nth, delayMs: 0 } });
        const run: RunHandle = await KINDS[kind](stage.everloopOf(place.taskQueue));
        const signal = await victim.ended;
        await workers.start(place);

        const outcome = await programOutcomeOf(run);

        expect(signal).toBe('SIGKILL');
        expect(outcome).toEqual(undisturbed.get(kind));
        expect(appraisedIn(storeDir)).toEqual(APPRAISED.toSpliced(nth, 0, again));
        expect(hasNoGap(await run.events())).toBe(true);
        await stage.replay(run);
      },
    );
  },
);
