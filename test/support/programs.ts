/** Runs that run programs, one an iteration, without a model: what a mode would do with them is not here. */
import type { AgentOptions } from '../../src/activities/agent-options.ts';
import type { ProgramReport } from '../../src/core/agent/program/report.ts';
import type { Next } from '../../src/core/agent/work.ts';
import type { Reply } from '../../src/core/model/model.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import { startRun, type RunOptions, type StartedRun } from './runs.ts';

const SILENCE: Reply = {
  parts: [],
  calls: [],
  finishReason: 'stop',
  usage: noUsage,
  usageKnown: false,
  model: 'm',
};

/** A run of programs, and what each came to. */
export interface ProgramRun extends StartedRun {
  readonly reports: readonly ProgramReport[];
}

/** Starts a run that runs `sources` in turn, one an iteration, and ends with the last value. */
export function startPrograms(
  sources: readonly string[],
  options: RunOptions & { readonly agent?: Partial<AgentOptions> } = {},
): ProgramRun {
  const reports: ProgramReport[] = [];
  const next: Next = async (work) => {
    const kept = work.run.state.turn?.program;
    const report = await work.program({
      source: sources[work.iteration - 1] ?? '',
      programId: `${work.iteration}.p`,
      reasoning: 'because',
      ...(kept === undefined ? {} : { kept }),
      keep: (program) => ({
        reply: SILENCE,
        startedAt: work.startedAt,
        calls: { results: [], begun: [] },
        program,
      }),
    });
    reports.push(report);
    work.leaveIfAsked();
    return work.iteration < sources.length
      ? { kind: 'continue' }
      : { kind: 'end', value: report.value ?? null };
  };
  return { ...startRun([], { next, ...options }), reports };
}
