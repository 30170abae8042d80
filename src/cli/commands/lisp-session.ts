/**
 * Programs of the language on their own: no agent, no tools, nobody to ask. Each program has the
 * definitions of those before it; the only effect here is `sleep`, which really waits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject } from '../../core/base/json.ts';
import {
  advance,
  checkProgram,
  EMPTY_MEMORY,
  explainError,
  explainProblem,
  explainProblems,
  fuelUsed,
  notesOf,
  printValue,
  readProgram,
  startMachine,
  toJson,
  type EffectRequest,
  type EffectResult,
  type MachineInput,
  type Outcome,
  type Problem,
  type Program,
  type ProgramMemory,
  type World,
} from '../../lisp.ts';

/** How a program ended: with a value, by `return` or `fail`, with an error, or before it began. */
export type ProgramEnding = 'value' | 'returned' | 'failed' | 'error' | 'refused';

/** What came of one program; the document of `--json`. */
export interface ProgramReport {
  readonly status: ProgramEnding;
  /** The value as JSON; null when there is none, or when it has no JSON form. */
  readonly value: Json;
  /** The value as the language writes it; null when there is none. */
  readonly printed: string | null;
  /** Why there is no value, with place and excerpt; null when there is one. */
  readonly error: { readonly reason: string; readonly text: string } | null;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly fuelUsed: number;
}

/** What a session works with; fixed while it lasts. */
export interface SessionOptions {
  /** What programs read as `data/…`. */
  readonly data: JsonObject;
  /** Units of fuel for each program; the language's default unless given. */
  readonly fuel?: number;
}

/** Runs programs one after another. */
export interface LispSession {
  /** Runs one program to its end. Never rejects for what the program does, only when aborted. */
  run(source: string, signal: AbortSignal): Promise<ProgramReport>;
}

/** Said below a problem that asks for more than there is here. */
const NOTHING_AROUND =
  'A program that runs on its own has no tools and nobody to ask. ' +
  'Give it what it needs with `--data`, and read it as `data/name`.';

/** Node's timers take no more than this; longer waits are several. */
const MAX_TIMER_MS = 2_000_000_000;

/** A session in which nothing is defined yet. */
export function createSession({ data, fuel }: SessionOptions): LispSession {
  let memory: ProgramMemory = EMPTY_MEMORY;
  return {
    async run(source, signal) {
      const read = readProgram(source);
      if (!read.ok) {
        const { reason } = read.problem;
        return refused(reason, explainProblem(source, read.problem), []);
      }
      const world: World = {
        tools: [],
        memory: Object.keys(memory.bindings),
        dataKeys: Object.keys(data),
        asking: false,
      };
      const checked = checkProgram(read.program, world);
      const warnings = checked.warnings.map((warning) => explainProblem(source, warning));
      const [first] = checked.problems;
      if (first !== undefined) {
        return refused(first.reason, problemsText(source, checked.problems), warnings);
      }
      const limits = fuel === undefined ? {} : { fuel };
      const input: MachineInput = { data, memory, limits, tools: [] };
      const ended = await finish(read.program, input, signal);
      memory = ended.outcome.memory;
      return { ...reportOf(source, ended.outcome), ...ended.counted, warnings };
    },
  };
}

/** Whether `source` is the beginning of a program: something in it is still open. */
export function isUnfinished(source: string): boolean {
  const read = readProgram(source);
  return !read.ok && read.problem.message.startsWith('Unclosed');
}

function problemsText(source: string, problems: readonly Problem[]): string {
  const text = explainProblems(source, problems);
  const asks = problems.some(({ reason }) => reason === 'unknown_tool');
  return asks ? `${text}\n\n${NOTHING_AROUND}` : text;
}

function refused(reason: string, text: string, warnings: readonly string[]): ProgramReport {
  return {
    status: 'refused',
    value: null,
    printed: null,
    error: { reason, text },
    warnings,
    notes: [],
    fuelUsed: 0,
  };
}

function reportOf(
  source: string,
  outcome: Outcome,
): Pick<ProgramReport, 'status' | 'value' | 'printed' | 'error'> {
  if (outcome.kind === 'error') {
    const { error } = outcome;
    const text = explainError(source, error);
    return { status: 'error', value: null, printed: null, error: { reason: error.reason, text } };
  }
  const json = toJson(outcome.value);
  return {
    status: outcome.kind,
    value: json.ok ? json.json : null,
    printed: printValue(outcome.value, 'readable'),
    error: null,
  };
}

/** An effect that the program waits for, and until when. */
interface Waiting {
  readonly request: EffectRequest;
  readonly until: number;
}

/** Starts a program and answers its requests until it has ended. */
async function finish(
  program: Program,
  input: MachineInput,
  signal: AbortSignal,
): Promise<{
  readonly outcome: Outcome;
  readonly counted: Pick<ProgramReport, 'notes' | 'fuelUsed'>;
}> {
  let machine = startMachine(program, input);
  let waiting: readonly Waiting[] = [];
  let results: readonly EffectResult[] = [];
  for (;;) {
    const now = Date.now();
    const step = advance(machine, { now, budget: {}, results });
    ({ machine } = step);
    if (step.kind === 'finished') {
      const counted = { notes: [...notesOf(machine)], fuelUsed: fuelUsed(machine) };
      return { outcome: step.outcome, counted };
    }
    waiting = [
      ...waiting.filter(({ request }) => !step.abandon.includes(request.id)),
      ...step.requests.map((request) => ({ request, until: now + durationOf(request) })),
    ];
    const until = Math.min(...waiting.map((one) => one.until));
    await sleepUntil(until, signal);
    results = waiting.filter((one) => one.until <= until).map(({ request }) => answerTo(request));
    waiting = waiting.filter((one) => one.until > until);
  }
}

function durationOf(request: EffectRequest): number {
  return request.kind === 'sleep' ? request.ms : 0;
}

function answerTo(request: EffectRequest): EffectResult {
  const { id } = request;
  if (request.kind === 'sleep') return { id, ok: true, value: null };
  return { id, ok: false, reason: 'tool_error', message: NOTHING_AROUND };
}

async function sleepUntil(until: number, signal: AbortSignal): Promise<void> {
  for (let left = until - Date.now(); left > 0; left = until - Date.now()) {
    await sleep(Math.min(left, MAX_TIMER_MS), undefined, { signal });
  }
}
