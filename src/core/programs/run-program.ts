/**
 * A program of an iteration, from its text to its report: read, checked as a whole, run to its end
 * or to a hand-over.
 *
 * I1  A program with a problem does not run at all; all its problems are reported at once.
 * I2  Whatever ends a program, its effects are awaited and recorded before `agent:program:after`.
 * I3  A cancel, a breach or an interrupt ends the program but does not throw: the report says what
 *     had happened by then, and the caller leaves the iteration, as it does after calls.
 */
import {
  advanceSlice,
  cancelMachine,
  EMPTY_MEMORY,
  fuelUsed,
  programStatus,
  restore,
  snapshot,
  startMachine,
  type Advance,
  type Machine,
  type Sliced,
  overrunMachine,
} from '../../lisp.ts';
import { defined } from '../base/defined.ts';
import { byteSize, type Json } from '../base/json.ts';
import type { Numbers } from '../contract/stats.ts';
import { cut } from '../text/cut.ts';
import { refusedText } from '../toolchain/call-texts.ts';
import { ensureBudget } from '../run/ensure-budget.ts';
import { readAndCheck } from './check-program.ts';
import { closeProgram } from './close-program.ts';
import { createEffects, type Effects, type KeepEffects } from './effects.ts';
import { warningTexts } from './end-program.ts';
import { MAX_SNAPSHOT_BYTES, type KeptProgram } from '../run/kept-program.ts';
import type { ProgramError, ProgramReport, ProgramView } from '../contract/report.ts';
import { isOver, type ProgramOrder, type RunningProgram } from './program-context.ts';
import { toolsOfProgram } from '../tool-search/stubs.ts';
import { budgetOf, fuelFor, ownFuel, programData, programSpecOf, toolFaces } from './world.ts';
import type { Iteration } from '../run/iteration.ts';
import type { Run } from '../run/run.ts';

/** UTF-8 bytes of a source that its event carries. */
const MAX_SHOWN_BYTES = 2 * 1024;

/** Runs a program within the limits. Throws only to hand over, or if its memory ends the run. */
export async function runProgram(
  iteration: Iteration,
  order: ProgramOrder,
): Promise<ProgramReport> {
  const { open } = iteration;
  open.count += 1;
  try {
    return order.kept === undefined
      ? await beginProgram(iteration, order)
      : await resumeProgram(iteration, order, order.kept);
  } finally {
    open.count -= 1;
  }
}

async function beginProgram({ run, open }: Iteration, order: ProgramOrder): Promise<ProgramReport> {
  const { programId, source } = order;
  const since = run.host.now();
  if (run.mustLeave()) return notBegun(order, CANCELED);
  const budget = ensureBudget(run, needsOf(run));
  if (budget !== undefined) {
    await budget;
    if (run.mustLeave()) return notBegun(order, CANCELED);
  }
  const crossed =
    run.wouldCross(['agent:code_executions']) ?? run.wouldCross(['agent:program_steps']);
  if (crossed?.limit.onReach === 'refuse') {
    const message = refusedText(crossed.key, crossed.limit.max).replace(/^Error: /, '');
    const error: ProgramError = { reason: 'refused', phase: 'check', message };
    run.record({
      type: 'agent:program:after',
      programId,
      outcome: 'refused',
      steps: 0,
      calls: 0,
      error: { reason: error.reason, message },
    });
    return notBegun(order, error);
  }
  if (crossed !== null) {
    run.breach(crossed);
    return notBegun(order, CANCELED);
  }
  run.record({
    type: 'agent:program:before',
    programId,
    source: cut(source, MAX_SHOWN_BYTES),
  });
  const tools = toolFaces({ tools: toolsOfProgram(run.state, source) });
  const checked = await readAndCheck(run, source, tools);
  const { fuel, isShort } = fuelFor(programSpecOf(run.state.head.spec), run.state);
  const warnings = checked.kind === 'program' ? warningTexts(source, checked.warnings) : [];
  const running: RunningProgram = { run, open, order, since, warnings, isShort };
  if (checked.kind === 'refused') return closeProgram(running, { unstarted: checked.error });
  if (isOver(running)) return closeProgram(running, { unstarted: CANCELED });
  const { state } = run;
  const machine = startMachine(checked.program, {
    data: programData(state),
    memory: state.program?.memory ?? EMPTY_MEMORY,
    limits: { ...programSpecOf(state.head.spec).limits, fuel },
    tools,
  });
  return drive(running, machine);
}

/** What a program may need of ancestors' limits: all the fuel that it may use. */
function needsOf({ state }: Run): Numbers {
  const fuel = ownFuel(programSpecOf(state.head.spec));
  return { 'agent:code_executions': 1, 'agent:program_steps': fuel };
}

const CANCELED: ProgramError = {
  reason: 'canceled',
  phase: 'run',
  message: 'canceled: The program was canceled before it began. Nothing was executed.',
};

/** The report of a program that was not allowed to begin: nothing is recorded of it. */
function notBegun({ programId }: ProgramOrder, error: ProgramError): ProgramReport {
  return {
    programId,
    outcome: 'error',
    preview: '',
    isEmpty: true,
    error,
    notes: [],
    warnings: [],
    changed: [],
    stored: [],
    done: [],
    plan: {},
    hidden: [],
    fuel: 0,
    calls: 0,
  };
}

/** Resumes a program that an earlier link handed over before its end. */
async function resumeProgram(
  { run, open }: Iteration,
  order: ProgramOrder,
  kept: KeptProgram,
): Promise<ProgramReport> {
  const { since, warnings, isShort } = kept;
  const running: RunningProgram = { run, open, order, since, warnings, isShort };
  const machine = restore(kept.snapshot);
  return drive(running, machine, kept);
}

/** Runs a machine to its end, through all its effects. */
async function drive(
  running: RunningProgram,
  begun: Machine,
  kept?: KeptProgram,
): Promise<ProgramReport> {
  const { run } = running;
  let machine = begun;
  const codeId = programStatus(machine).codeId;
  const isLost = kept !== undefined && codeId !== kept.snapshot.program;
  const keep = keeper(running, () => machine);
  const effects = createEffects(running, keep, isLost ? undefined : kept);
  run.watchProgram({ view: () => viewOf(running, machine), timers: effects.timers });
  try {
    let step = tick(running, machine, effects, []);
    while (step.kind !== 'finished') {
      ({ machine } = step);
      effects.drop(step.abandon);
      effects.request(step.requests);
      effects.begin();
      if (!effects.isOver())
        await (step.kind === 'sliced' ? run.host.computing.endSlice() : effects.next());
      const results = effects.take();
      step = effects.isOver() ? cancelMachine(machine) : tick(running, machine, effects, results);
    }
    ({ machine } = step);
    effects.drop(step.abandon);
    await effects.settle();
    return closeProgram(running, {
      machine,
      outcome: step.outcome,
      effects,
      lost: isLost ? kept : null,
    });
  } finally {
    run.watchProgram(null);
  }
}

function tick(
  { run }: RunningProgram,
  machine: Machine,
  effects: Effects,
  results: ReturnType<Effects['take']>,
): Advance | Sliced {
  const now = run.host.now();
  const budget = budgetOf(run.state, now, { calls: effects.calls() });
  const step = run.host.computing.run('program', () =>
    advanceSlice(machine, { now, budget, results }),
  );
  return step ?? overrunMachine(machine);
}

/** Makes the turn to hand over; none when it is too large. */
function keeper(
  { run, order, since, warnings, isShort }: RunningProgram,
  machine: () => Machine,
): KeepEffects | undefined {
  const { keep, programId } = order;
  if (keep === undefined) return undefined;
  return (effects) => {
    const saved = snapshot(machine());
    if (byteSize(saved as unknown as Json) > MAX_SNAPSHOT_BYTES) return null;
    // The machine is still used if the turn stays, so a copy of it shows what would be left.
    const ended = cancelMachine(restore(saved));
    const left = ended.kind === 'finished' ? ended.outcome.memory : undefined;
    const before = run.state.program?.memory ?? EMPTY_MEMORY;
    const isChanged = left !== undefined && JSON.stringify(left) !== JSON.stringify(before);
    const turn = keep({
      programId,
      snapshot: saved,
      since,
      warnings,
      isShort,
      fuel: fuelUsed(machine()),
      ...effects,
      ...defined({ memory: isChanged ? left : undefined }),
    });
    return run.host.link.fits({ ...run.state, turn }) ? turn : null;
  };
}

function viewOf({ order, since }: RunningProgram, machine: Machine): ProgramView {
  const { programId, source } = order;
  return { programId, source, since, status: programStatus(machine) };
}
