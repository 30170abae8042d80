/**
 * The end of a program: its report, what is recorded, and what the run keeps. Pure.
 *
 * I1  Memory that is larger than allowed is never kept; the memory from before is kept instead.
 * I2  A canceled program is not at fault: it leaves no `data/fail`.
 */
import { defined } from '../base/defined.ts';
import * as lisp from '../../lisp.ts';
import { byteSize, type Json } from '../base/json.ts';
import { cut } from '../text/cut.ts';
import type { EventBody } from '../contract/events.ts';
import type { ProgramSpec } from '../contract/spec.ts';
import type {
  ProgramError,
  ProgramProgress,
  ProgramReport,
  ProgramState,
  ProgramView,
} from '../contract/report.ts';

/** UTF-8 bytes that an event carries of an error, and of the values of forms. */
const MAX_SHOWN_BYTES = 2 * 1024;

/** UTF-8 bytes that are kept of the source of a program that has ended. */
const MAX_KEPT_SOURCE_BYTES = 64 * 1024;

/** UTF-8 bytes of hidden texts that a run keeps, the newest: its state has to stay small. */
const MAX_HIDDEN_BYTES = 64 * 1024;

/** What is known of a program when it ends. */
export interface EndingProgram {
  readonly programId: string;
  readonly source: string;
  readonly since: number;
  readonly spec: ProgramSpec;
  /** What programs before it left; absent: nothing. */
  readonly before: ProgramState | undefined;
  readonly outcome: lisp.Outcome | { readonly kind: 'unstarted'; readonly error: ProgramError };
  /** The memory before it, with its journal; used only when its own memory is too large. */
  readonly withJournal: () => lisp.ProgramMemory;
  readonly isCanceled: boolean;
  readonly changed: readonly lisp.ChangedDefinition[];
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly done: ProgramReport['done'];
  /** Texts of hidden fields that its children gave. */
  readonly hidden: readonly string[];
  readonly fuel: number;
  readonly calls: number;
  readonly status?: lisp.ProgramStatus;
}

/** The end of a program: for the model, for the record, for the run. */
export interface EndedProgram {
  readonly report: ProgramReport;
  readonly event: Extract<EventBody, { readonly type: 'agent:program:after' }>;
  readonly state: ProgramState;
  /** Set when its memory ends the run. */
  readonly exceeded?: string;
}

/** Judges the memory of a program that ended, and reports it. */
export function endProgram(ending: EndingProgram): EndedProgram {
  const { outcome, spec, before } = ending;
  const memoryBefore = before?.memory ?? lisp.EMPTY_MEMORY;
  const memory = outcome.kind === 'unstarted' ? memoryBefore : outcome.memory;
  const bytes = byteSize(memory as unknown as Json);
  const isUnchanged = (): boolean => JSON.stringify(memory) === JSON.stringify(memoryBefore);
  if (bytes <= spec.memoryLimitBytes || memory === memoryBefore || isUnchanged()) {
    return endedWith(ending, reportOf(ending, memory), memory);
  }
  const cause = `the definitions have ${bytes} bytes, at most ${spec.memoryLimitBytes} are allowed`;
  const error: ProgramError = {
    reason: 'memory_limit_exceeded',
    phase: 'end',
    message: `memory_limit_exceeded: ${cause}. What the program defined was not kept. Keep less: select fields, or keep ids and look the rest up again.`,
  };
  // The journal stays if it fits, so that what it lists is not done again.
  const journal = ending.withJournal();
  const kept =
    byteSize(journal as unknown as Json) <= spec.memoryLimitBytes ? journal : memoryBefore;
  const undone: EndingProgram = { ...ending, outcome: { kind: 'unstarted', error }, changed: [] };
  const ended = endedWith(undone, reportOf(undone, kept), kept);
  return spec.memoryStrategy === 'strict' ? { ...ended, exceeded: `${cause}.` } : ended;
}

function endedWith(
  { programId, source, since, isCanceled, status }: EndingProgram,
  report: ProgramReport,
  memory: lisp.ProgramMemory,
): EndedProgram {
  const { outcome, error, notes, hidden, fuel: steps, calls } = report;
  const shown = defined({
    error: error && { reason: error.reason, message: cut(error.message, MAX_SHOWN_BYTES) },
  });
  const ending = isCanceled ? ('canceled' as const) : outcome;
  const progress = status && progressOf(status);
  const last: ProgramView = {
    programId,
    source: cut(source, MAX_KEPT_SOURCE_BYTES),
    since,
    ...defined({ status }),
    outcome: ending,
    ...shown,
  };
  const failure =
    error === undefined || isCanceled
      ? undefined
      : { reason: error.reason, message: error.message };
  return {
    report,
    event: {
      type: 'agent:program:after',
      programId,
      outcome: ending,
      steps,
      calls,
      ...shown,
      ...defined({ progress }),
    },
    state: {
      memory,
      notes,
      ...defined({ failure, hidden: hidden.length === 0 ? undefined : hidden }),
      last,
    },
  };
}

function progressOf({
  forms,
  fuelLimit,
  notes,
  counts: { done, failed },
}: lisp.ProgramStatus): ProgramProgress {
  const finished = forms.flatMap(({ preview }) => preview ?? []);
  let bytes = 0;
  const previews = finished.filter((preview) => (bytes += byteSize(preview)) <= MAX_SHOWN_BYTES);
  return { finished: finished.length, previews, fuelLimit, notes, done, failed };
}

function reportOf(ending: EndingProgram, memory: lisp.ProgramMemory): ProgramReport {
  const { outcome, programId, notes, warnings, changed, done, fuel, calls, spec } = ending;
  const base = {
    programId,
    notes,
    warnings,
    stored: Object.keys(memory.bindings).toSorted(),
    plan: memory.plan,
    hidden: knownHidden(ending),
    fuel,
    calls,
  };
  switch (outcome.kind) {
    case 'value':
    case 'returned':
    case 'failed': {
      const { jsonWarnings, ...value } = valueOf(outcome.value, spec);
      const kept = outcome.kind === 'failed' ? { changed: [], done } : { changed, done: [] };
      const all = [...warnings, ...jsonWarnings];
      return { ...base, warnings: all, outcome: outcome.kind, ...value, ...kept };
    }
    case 'error':
    case 'unstarted': {
      const error = outcome.kind === 'error' ? explained(ending, outcome) : outcome.error;
      return { ...base, outcome: 'error', preview: '', isEmpty: true, error, changed: [], done };
    }
  }
}

function explained(
  { source }: EndingProgram,
  { error }: Extract<lisp.Outcome, { readonly kind: 'error' }>,
): ProgramError {
  const { reason, phase, details } = error;
  const message = lisp.explainError(source, error);
  return { reason, phase, message, ...defined({ details }) };
}

function valueOf(
  value: lisp.Value,
  { sizes }: ProgramSpec,
): Pick<ProgramReport, 'value' | 'notJson' | 'preview' | 'isEmpty'> & {
  readonly jsonWarnings: readonly string[];
} {
  const isEmpty =
    value === null || (typeof value === 'object' && 'kind' in value && value.kind === 'var');
  const json = lisp.toJson(value, { dashes: 'underscore' });
  return {
    ...(json.ok ? { value: json.json } : { notJson: { path: json.path, message: json.message } }),
    preview: isEmpty
      ? ''
      : lisp.printValue(value, 'preview', { total: sizes.resultChars, hides: true }),
    isEmpty,
    jsonWarnings: json.ok ? json.warnings : [],
  };
}

/** What must be hidden from now on; a text that comes again counts as new. */
function knownHidden({ before, hidden }: EndingProgram): readonly string[] {
  const known = before?.hidden ?? [];
  if (hidden.length === 0) return known;
  const all = [...known.filter((text) => !hidden.includes(text)), ...hidden];
  let bytes = 0;
  const first = all.findLastIndex((text) => (bytes += byteSize(text)) > MAX_HIDDEN_BYTES);
  return all.slice(first + 1);
}

/** The warnings of the checks, with place and excerpt. */
export function warningTexts(source: string, warnings: readonly lisp.Problem[]): readonly string[] {
  return warnings.map((warning) => lisp.explainProblem(source, warning));
}

/** Whether a machine ended because it used its fuel. */
export function isOutOfFuel(outcome: lisp.Outcome): boolean {
  return outcome.kind === 'error' && outcome.error.reason === 'fuel_exceeded';
}
