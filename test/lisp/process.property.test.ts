/**
 * Laws that need other processes: the same program elsewhere does the same (M1), a program goes on
 * in another process from a snapshot at every effect (M2), and nothing of the engine that could tell
 * two processes apart is reached (M6).
 */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { EffectRequest, EffectResult } from '../../src/lisp.ts';
import { extent, extentOf } from '../support/extent.ts';
import { conformanceCases } from './support/conformance-cases.ts';
import { evaluate, type Evaluated } from './support/evaluate.ts';
import { runProgram, standardAnswer, type Observed } from './support/host.ts';
import { startOther, type OtherProcess } from './support/other-process.ts';
import type { RunAnswer, StepAnswer } from './support/program-process.ts';
import { program } from './support/programs.ts';

/** Starting processes and running hundreds of programs in them takes a while on a busy machine. */
const TIMEOUT_MS = 120_000;

const ELSEWHERE: readonly Readonly<Record<string, string>>[] = [
  { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
];

const SOURCES = extentOf(conformanceCases().map(({ expression }) => expression));

/** Each of them with what it is here. */
const HERE = SOURCES.map((source) => ({ source, answer: plain(evaluate(source)) }));

const others: OtherProcess[] = [];
afterAll(() => {
  for (const other of others) other.close();
});

function start(env: Readonly<Record<string, string>>): OtherProcess {
  const other = startOther(env);
  others.push(other);
  return other;
}

/** Runs a program whose every step is made by another process than the step before. */
async function runAcross(
  processes: readonly OtherProcess[],
  source: string,
): Promise<{ readonly observed: Observed; readonly blocks: number }> {
  const requests: EffectRequest[] = [];
  const here = (round: number): OtherProcess => processes[round % processes.length] as OtherProcess;
  let step = await here(0).ask<StepAnswer>({ do: 'start', source });
  let open: readonly EffectRequest[] = [];
  for (let round = 1; step.kind === 'blocked'; round++) {
    const { saved, abandon } = step;
    requests.push(...step.requests);
    open = [...open.filter(({ id }) => !abandon.includes(id)), ...step.requests];
    const results: readonly EffectResult[] = open.map(standardAnswer);
    open = [];
    step = await here(round).ask<StepAnswer>({ do: 'continue', saved, results });
    if (step.kind === 'finished') {
      const sorted = requests.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      return { observed: { ...step.observed, requests: sorted }, blocks: round };
    }
  }
  return { observed: step.observed, blocks: 0 };
}

/** What each of {@link SOURCES} is in another process. */
function evaluatedIn(other: OtherProcess): Promise<typeof HERE> {
  return Promise.all(
    SOURCES.map(async (source) => {
      const answer = await other.ask<Evaluated>({ do: 'evaluate', source });
      return { source, answer };
    }),
  );
}

/** An answer as it comes out of JSON. */
function plain<Answer>(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer)) as Answer;
}

describe('programs in other processes', () => {
  test.each(ELSEWHERE)(
    'M1: the same requests, value, notes, fuel and snapshot bytes under %j',
    { timeout: TIMEOUT_MS },
    async (env) => {
      const here = start({ TZ: 'UTC', LANG: 'C', LC_ALL: 'C' });
      const there = start(env);
      for (const source of fc.sample(program, { seed: 5, numRuns: extent(80, 8) })) {
        const [answer, expected] = await Promise.all(
          [there, here].map((one) => one.ask<RunAnswer>({ do: 'run', source })),
        );

        expect(answer, source).toEqual(expected);
      }

      expect(await evaluatedIn(there)).toEqual(HERE);
    },
  );

  test(
    'M2: a snapshot at every effect, restored in another process, changes nothing',
    {
      timeout: TIMEOUT_MS,
    },
    async () => {
      const processes = [start({}), start({})];
      let blocks = 0;
      await fc.assert(
        fc.asyncProperty(program, async (source) => {
          const across = await runAcross(processes, source);
          blocks += across.blocks;

          expect(across.observed).toEqual(plain(runProgram(source)));
        }),
        { numRuns: extent(120, 12) },
      );

      expect(blocks).toBeGreaterThan(extent(200, 20));
    },
  );

  test(
    'M6: no clock, chance, locale, engine evaluator or RegExp is reached',
    {
      timeout: TIMEOUT_MS,
    },
    async () => {
      const poisoned = start({ POISONED: '1' });

      expect(await evaluatedIn(poisoned)).toEqual(HERE);

      await fc.assert(
        fc.asyncProperty(program, async (source) => {
          const { observed } = await poisoned.ask<RunAnswer>({ do: 'run', source });

          expect(observed).toEqual(plain(runProgram(source, { snapshots: true })));
        }),
        { numRuns: extent(80, 8) },
      );
    },
  );
});
