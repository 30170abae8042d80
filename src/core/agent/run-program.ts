/**
 * A program of an iteration, from its text to its report: read, checked as a whole, run to its end or to
 * a hand-over. Asynchronous, like `work.ts`, of which it is a part; the machine itself is not, and
 * what is pure stands in `program/`.
 *
 * I1  Nothing of a program runs while anything is found wrong with it; all of it is told at once.
 * I2  Whatever ends a program, its effects are awaited and recorded before `agent:program:after`.
 * I3  A cancel, a breach or an interrupt ends the program, not this function: the report says what had
 *     happened by then, and whoever asked for the program leaves behind it, as behind calls.
 */
import {
  advance,
  cancelMachine,
  changedDefinitions,
  EMPTY_MEMORY,
  fuelUsed,
  memoryWithJournal,
  notesOf,
  programStatus,
  restore,
  snapshot,
  startMachine,
  type Advance,
  type Machine,
  type Outcome,
} from '../../lisp.ts';
import { byteSize, type Json } from '../json.ts';
import type { Numbers } from '../stats/stats.ts';
import { cut } from '../text/cut.ts';
import { refusedText } from '../toolchain/call-texts.ts';
import { leaving } from './ending.ts';
import type { Host } from './host.ts';
import { makeRoom } from './make-room.ts';
import type { KeptTurn } from './kept-turn.ts';
import { readAndCheck } from './program/check-program.ts';
import { createEffects, type Effects, type KeptEffects } from './program/effects.ts';
import {
  endProgram,
  isOutOfFuel,
  warningTexts,
  type EndingProgram,
} from './program/end-of-program.ts';
import { MAX_SNAPSHOT_BYTES, type KeptProgram } from './program/kept-program.ts';
import type { ProgramError, ProgramReport, ProgramView } from './program/report.ts';
import {
  budgetOf,
  fuelFor,
  ownFuel,
  programData,
  programSpecOf,
  toolFaces,
} from './program/world.ts';
import type { OpenCount } from './open-count.ts';
import { isInterrupted, isStopped, type Run } from './run.ts';

/** A program to run. */
export interface ProgramOrder {
  readonly source: string;
  /** `{iteration}.p`; one program of a run has it. */
  readonly programId: string;
  /** What the model wrote beside it, for people who approve a call. Default: nothing. */
  readonly reasoning?: string;
  /** How far an earlier link came with it. */
  readonly kept?: KeptProgram;
  /** Makes the turn of it, so that it can be handed over in its middle. Absent: it stays to its end. */
  readonly keep?: (program: KeptProgram) => KeptTurn;
}

/** UTF-8 bytes of a source that its event carries. */
const MAX_SHOWN_BYTES = 2 * 1024;

/** A program on its way. */
interface Running {
  readonly run: Run;
  readonly host: Host;
  readonly open: OpenCount;
  readonly order: ProgramOrder;
  readonly since: number;
  readonly warnings: readonly string[];
  /** Whether the run leaves it less fuel than its own limit. */
  readonly isShort: boolean;
}

/** Runs a program within the limits. Throws only to leave for a hand-over, or because its memory ends the run. */
export async function runProgram(
  run: Run,
  host: Host,
  open: OpenCount,
  order: ProgramOrder,
): Promise<ProgramReport> {
  open.count += 1;
  try {
    return order.kept === undefined
      ? await beginProgram(run, host, open, order)
      : await goOnWith(run, host, open, { ...order, kept: order.kept });
  } finally {
    open.count -= 1;
  }
}

async function beginProgram(
  run: Run,
  host: Host,
  open: OpenCount,
  order: ProgramOrder,
): Promise<ProgramReport> {
  const { programId, source } = order;
  const since = host.now();
  if (isStopped(run, host) || isInterrupted(host)) return notBegun(order, CANCELED);
  const room = makeRoom(run, host, needsOf(run));
  if (room !== undefined) {
    await room;
    if (isStopped(run, host) || isInterrupted(host)) return notBegun(order, CANCELED);
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
  run.record({ type: 'agent:program:before', programId, source: cut(source, MAX_SHOWN_BYTES) });
  const tools = toolFaces(run.state.head.spec);
  const checked = await readAndCheck(run.state, host, source, tools);
  const { fuel, isShort } = fuelFor(programSpecOf(run.state.head.spec), run.state);
  const warnings = checked.kind === 'program' ? warningTexts(source, checked.warnings) : [];
  const running: Running = { run, host, open, order, since, warnings, isShort };
  if (checked.kind === 'refused') return close(running, { unstarted: checked.error });
  if (isOver(running)) return close(running, { unstarted: CANCELED });
  const { state } = run;
  const machine = startMachine(checked.program, {
    data: programData(state),
    memory: state.program?.memory ?? EMPTY_MEMORY,
    limits: { ...programSpecOf(state.head.spec).limits, fuel },
    tools,
  });
  return drive(running, machine);
}

/** What a program may need of the limits of ancestors: all the fuel that it may use. */
function needsOf({ state }: Run): Numbers {
  const fuel = ownFuel(programSpecOf(state.head.spec));
  return { 'agent:code_executions': 1, 'agent:program_steps': fuel };
}

const CANCELED: ProgramError = {
  reason: 'canceled',
  phase: 'run',
  message: 'canceled: The program was canceled before it began. Nothing was executed.',
};

/** A program that nobody let begin: nothing is recorded of it. */
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

/** Goes on with a program that an earlier link kept in its middle. */
async function goOnWith(
  run: Run,
  host: Host,
  open: OpenCount,
  order: ProgramOrder & { readonly kept: KeptProgram },
): Promise<ProgramReport> {
  const { kept } = order;
  const { since, warnings, isShort } = kept;
  const running: Running = { run, host, open, order, since, warnings, isShort };
  const machine = restore(kept.snapshot);
  return drive(running, machine, kept);
}

/** Runs a machine to its end, through all its effects. */
async function drive(running: Running, begun: Machine, kept?: KeptProgram): Promise<ProgramReport> {
  const { run, host, open, order } = running;
  let machine = begun;
  const codeId = programStatus(machine).codeId;
  const isLost = kept !== undefined && codeId !== kept.snapshot.program;
  const effects = createEffects(
    {
      run,
      host,
      open,
      programId: order.programId,
      reasoning: order.reasoning ?? '',
      isGivenUp: () => open.isOver === true,
      keep: keeper(running, () => machine),
    },
    isLost ? undefined : kept,
  );
  run.watchProgram(() => viewOf(running, machine));
  try {
    let step = tick(running, machine, effects, []);
    while (step.kind === 'blocked') {
      ({ machine } = step);
      effects.drop(step.abandon);
      effects.request(step.requests);
      effects.begin();
      if (!effects.isOver()) await effects.next();
      const results = effects.take();
      step = effects.isOver() ? cancelMachine(machine) : tick(running, machine, effects, results);
    }
    ({ machine } = step);
    effects.drop(step.abandon);
    await effects.settle();
    return close(running, { machine, outcome: step.outcome, effects, lost: isLost ? kept : null });
  } finally {
    run.watchProgram(null);
  }
}

function tick(
  { run, host }: Running,
  machine: Machine,
  effects: Effects,
  results: ReturnType<Effects['take']>,
): Advance {
  const now = host.now();
  const budget = budgetOf(run.state, now, { calls: effects.calls() });
  return advance(machine, { now, budget, results });
}

/** Makes the turn to leave with; none when it is too large. */
function keeper(
  { run, host, order, since, warnings, isShort }: Running,
  machine: () => Machine,
): ((kept: KeptEffects) => KeptTurn | null) | undefined {
  const { keep, programId } = order;
  if (keep === undefined) return undefined;
  return (effects) => {
    const saved = snapshot(machine());
    if (byteSize(saved as unknown as Json) > MAX_SNAPSHOT_BYTES) return null;
    // The machine goes on being used if the turn stays, so a copy of it says what would be left.
    const ended = cancelMachine(restore(saved));
    const left = ended.kind === 'finished' ? ended.outcome.memory : undefined;
    const before = run.state.program?.memory ?? EMPTY_MEMORY;
    const hasNews = left !== undefined && JSON.stringify(left) !== JSON.stringify(before);
    const turn = keep({
      programId,
      snapshot: saved,
      since,
      warnings,
      isShort,
      fuel: fuelUsed(machine()),
      ...effects,
      ...(hasNews ? { memory: left } : {}),
    });
    return host.fitsHandover({ ...run.state, turn }) ? turn : null;
  };
}

function viewOf({ order, since }: Running, machine: Machine): ProgramView {
  const { programId, source } = order;
  return { programId, source, since, status: programStatus(machine) };
}

/** How a program ended. */
type End =
  | { readonly unstarted: ProgramError }
  | {
      readonly machine: Machine;
      readonly outcome: Outcome;
      readonly effects: Effects;
      /** Set when its machine could not be restored: then `machine` knows nothing of it. */
      readonly lost: KeptProgram | null;
    };

/** Records the end of a program, and ends the run where the limits say so. */
function close(running: Running, end: End): ProgramReport {
  const { run, order } = running;
  const ended = endProgram(endingOf(running, end));
  run.record(ended.event, { program: ended.state });
  if ('outcome' in end && isOutOfFuel(end.outcome) && running.isShort) {
    const crossed = run.wouldCross(['agent:program_steps']);
    if (crossed !== null) run.breach(crossed);
  }
  if (ended.exceeded !== undefined) {
    const cause = `program ${order.programId}: ${ended.exceeded}`;
    throw leaving({ kind: 'failed', code: 'memory_limit_exceeded', cause });
  }
  return ended.report;
}

function endingOf(running: Running, end: End): EndingProgram {
  const { run, order, since, warnings } = running;
  const { program: before, head } = run.state;
  const base = {
    programId: order.programId,
    source: order.source,
    since,
    spec: programSpecOf(head.spec),
    before,
    warnings,
  };
  const memoryBefore = before?.memory ?? EMPTY_MEMORY;
  if ('unstarted' in end) {
    return {
      ...base,
      outcome: { kind: 'unstarted', error: end.unstarted },
      withJournal: () => memoryBefore,
      isCanceled: end.unstarted.reason === 'canceled',
      changed: [],
      notes: [],
      done: [],
      hidden: [],
      fuel: 0,
      calls: 0,
    };
  }
  const { machine, outcome, effects, lost } = end;
  const isCanceled = outcome.kind === 'error' && outcome.error.reason === 'canceled';
  const told = { ...base, warnings: [...warnings, ...effects.edits], isCanceled };
  if (lost !== null) {
    const memory = lost.memory ?? memoryBefore;
    return {
      ...told,
      outcome: { ...outcome, memory },
      withJournal: () => memory,
      changed: [],
      notes: [],
      done: lost.done,
      hidden: lost.hidden ?? [],
      fuel: lost.fuel,
      calls: lost.calls,
    };
  }
  return {
    ...told,
    outcome: isCanceled && !isStopped(run, running.host) ? interrupted(outcome) : outcome,
    withJournal: () => memoryWithJournal(machine),
    changed:
      outcome.kind === 'value' || outcome.kind === 'returned'
        ? changedDefinitions(machine, { total: base.spec.sizes.resultChars, hides: true })
        : [],
    notes: notesOf(machine),
    done: effects.done(),
    hidden: effects.hidden(),
    fuel: fuelUsed(machine),
    calls: effects.calls(),
    status: programStatus(machine),
  };
}

/** Nobody wants the run to end: a person has something to say first. */
function interrupted(outcome: Outcome): Outcome {
  if (outcome.kind !== 'error') return outcome;
  const message = 'The program was canceled before it finished: a new message came.';
  return { ...outcome, error: { ...outcome.error, message } };
}

function isOver({ run, host, open }: Running): boolean {
  return isStopped(run, host) || isInterrupted(host) || open.isOver === true;
}
