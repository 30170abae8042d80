/**
 * Runs programs of the language without an agent: there are no tools and no people to ask. Each
 * program can use the definitions of earlier ones. The only effect is `sleep`, which waits in real
 * time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../core/base/defined.ts';
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

/** How a program ended: `returned` and `failed` are `return` and `fail`, `refused` never began. */
export type ProgramEnding = 'value' | 'returned' | 'failed' | 'error' | 'refused';

/** The result of one program; the document of `--json`. */
export interface LispReport {
  readonly status: ProgramEnding;
  /** The value as JSON; null if there is none, or it has no JSON form. */
  readonly value: Json;
  /** The value as the language prints it; null if there is none. */
  readonly printed: string | null;
  /** Why there is no value, with position and excerpt; null if there is one. */
  readonly error: { readonly reason: string; readonly text: string } | null;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly fuelUsed: number;
}

/** Options of a session. */
export interface SessionOptions {
  /** The data that programs read as `data/…`. */
  readonly data: JsonObject;
  /** Units of fuel for each program; default: that of the language. */
  readonly fuel?: number;
}

/** Runs programs one after another. */
export interface LispSession {
  /** Runs one program to its end. Rejects only when aborted. */
  run(source: string, signal: AbortSignal): Promise<LispReport>;
}

/** Added to a problem about a tool. */
const NO_TOOLS =
  'A program that runs on its own has no tools and no one to ask. ' +
  'Give it what it needs with `--data`, and read it as `data/name`.';

/** Node's timers take little more than this; longer waits use several. */
const MAX_TIMER_MS = 2_000_000_000;

/** A session without definitions. */
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
      const input: MachineInput = { data, memory, limits: defined({ fuel }), tools: [] };
      const ended = await finish(read.program, input, signal);
      memory = ended.outcome.memory;
      return { ...reportOf(source, ended.outcome), ...ended.counted, warnings };
    },
  };
}

/** Whether `source` is the beginning of a program, with a form that is still open. */
export function isUnfinished(source: string): boolean {
  const read = readProgram(source);
  return !read.ok && read.problem.message.startsWith('Unclosed');
}

function problemsText(source: string, problems: readonly Problem[]): string {
  const text = explainProblems(source, problems);
  const asks = problems.some(({ reason }) => reason === 'unknown_tool');
  return asks ? `${text}\n\n${NO_TOOLS}` : text;
}

function refused(reason: string, text: string, warnings: readonly string[]): LispReport {
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
): Pick<LispReport, 'status' | 'value' | 'printed' | 'error'> {
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

/** An effect that the program waits for, and its end. */
interface Waiting {
  readonly request: EffectRequest;
  readonly until: number;
}

/** Runs a program to its end and answers its requests. */
async function finish(
  program: Program,
  input: MachineInput,
  signal: AbortSignal,
): Promise<{
  readonly outcome: Outcome;
  readonly counted: Pick<LispReport, 'notes' | 'fuelUsed'>;
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
  return { id, ok: false, reason: 'tool_error', message: NO_TOOLS };
}

async function sleepUntil(until: number, signal: AbortSignal): Promise<void> {
  for (let left = until - Date.now(); left > 0; left = until - Date.now()) {
    await sleep(Math.min(left, MAX_TIMER_MS), undefined, { signal });
  }
}
