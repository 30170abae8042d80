/**
 * Errors of programs: the reasons, problems found before the run, faults that end the run, and the
 * texts that a model reads about both.
 */
import { excerpt, type Span } from './source.ts';
import type { Json } from './json.ts';

/** Every reason for which a program is refused or fails. */
export type Reason =
  | 'parse_error'
  | 'invalid_form'
  | 'duplicate_key'
  | 'unbound_var'
  | 'unknown_tool'
  | 'invalid_tool_args'
  | 'arity_error'
  | 'type_error'
  | 'arithmetic_error'
  | 'not_callable'
  | 'destructure_error'
  | 'runtime_error'
  | 'java_type_error'
  | 'java_arity_error'
  | 'java_domain_error'
  | 'invalid_java_string'
  | 'tool_error'
  | 'tool_denied'
  | 'ask_timeout'
  | 'pmap_error'
  | 'pcalls_error'
  | 'fuel_exceeded'
  | 'time_exceeded'
  | 'loop_limit_exceeded'
  | 'depth_exceeded'
  | 'size_exceeded'
  | 'tool_call_limit_exceeded'
  | 'not_json'
  | 'canceled'
  | 'snapshot_version';

/** An error in the source, found before the program runs. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
  readonly span: Span;
  readonly hint?: string;
}

/** The error of a program that failed. Plain JSON. */
export interface LispError {
  readonly reason: string;
  readonly phase: 'read' | 'check' | 'run' | 'end';
  readonly message: string;
  readonly span?: Span;
  readonly details?: Json;
  readonly problems?: readonly Problem[];
}

/** Reasons that end the whole program; neither `attempt` nor a parallel branch stops them. */
const STOPS: ReadonlySet<string> = new Set([
  'fuel_exceeded',
  'time_exceeded',
  'loop_limit_exceeded',
  'depth_exceeded',
  'size_exceeded',
  'tool_call_limit_exceeded',
  'canceled',
  'snapshot_version',
]);

/** Whether `reason` ends the whole program. */
export function isStop(reason: string): boolean {
  return STOPS.has(reason);
}

/**
 * Thrown by builtins and compiled code to end the program. It never reaches the host: the machine
 * catches it and turns it into a {@link LispError}.
 */
export class Fault {
  readonly reason: string;
  readonly message: string;
  readonly details: Json | undefined;
  /**
   * Whether `attempt` catches it. True only for failures outside the program, such as those of
   * tools.
   */
  readonly recoverable: boolean;
  /** The place in the source. The machine sets the running call when it is missing. */
  span: Span | undefined;
  /** The running functions, innermost first; set where the fault is first caught. */
  trace: readonly string[] | undefined;

  constructor(
    reason: string,
    message: string,
    options: { details?: Json; span?: Span; recoverable?: boolean } = {},
  ) {
    this.reason = reason;
    this.message = message;
    this.details = options.details;
    this.recoverable = options.recoverable ?? false;
    this.span = options.span;
    this.trace = undefined;
  }
}

/** Thrown by `return` and `fail`: ends the program with a value. */
export class ProgramExit<V> {
  readonly kind: 'returned' | 'failed';
  readonly value: V;

  constructor(kind: 'returned' | 'failed', value: V) {
    this.kind = kind;
    this.value = value;
  }
}

const MAX_LISTED = 10;

/** The report to a model about problems found before the program ran. */
export function explainProblems(source: string, problems: readonly Problem[]): string {
  const found =
    problems.length === 1 ? '1 problem was found' : `${problems.length} problems were found`;
  const lines = [`${found} before the program ran. Nothing was executed.`, ''];
  for (const [index, problem] of problems.slice(0, MAX_LISTED).entries()) {
    lines.push(`${index + 1}. ${explainProblem(source, problem)}`);
  }
  if (problems.length > MAX_LISTED) lines.push(`and ${problems.length - MAX_LISTED} more.`);
  return lines.join('\n');
}

/** One problem with its place, hint and excerpt. */
export function explainProblem(source: string, problem: Problem): string {
  const { line, column } = problem.span;
  const hint = problem.hint === undefined ? '' : ` ${problem.hint}`;
  const head = `${problem.reason} at line ${line}, column ${column}: ${problem.message}${hint}`;
  return `${head}\n${excerpt(source, problem.span)}`;
}

/** An error with its place and excerpt; the whole report for problems found before the run. */
export function explainError(source: string, error: LispError): string {
  if (error.problems !== undefined && error.phase === 'check') {
    return explainProblems(source, error.problems);
  }
  const { span } = error;
  if (span === undefined) return `${error.reason}: ${error.message}`;
  const [first = '', ...advice] = error.message.split('\n');
  const head = `${error.reason} at line ${span.line}, column ${span.column}: ${first}`;
  return [head, excerpt(source, span), ...advice].join('\n');
}
