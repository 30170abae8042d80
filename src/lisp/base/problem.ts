/**
 * What can be wrong with a program: the reasons, problems found before it runs, faults that end it
 * while it runs, and the text in which a model reads either.
 */
import { excerpt, type Span } from './source.ts';
import type { Json } from './json.ts';

/** Every reason with which a program can be refused or end. */
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
  | 'loop_limit_exceeded'
  | 'depth_exceeded'
  | 'size_exceeded'
  | 'tool_call_limit_exceeded'
  | 'not_json'
  | 'canceled'
  | 'snapshot_version';

/** Something wrong with a place in the source, found before anything runs. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
  readonly span: Span;
  readonly hint?: string;
}

/** How a program ended badly. Plain JSON. */
export interface LispError {
  readonly reason: string;
  readonly phase: 'read' | 'check' | 'run' | 'end';
  readonly message: string;
  readonly span?: Span;
  readonly details?: Json;
  readonly problems?: readonly Problem[];
}

/** Reasons that end the whole program and pass through `attempt` and parallel branches alike. */
const STOPS: ReadonlySet<string> = new Set([
  'fuel_exceeded',
  'loop_limit_exceeded',
  'depth_exceeded',
  'size_exceeded',
  'tool_call_limit_exceeded',
  'canceled',
  'snapshot_version',
]);

/** Whether `reason` is a limit or an end from outside, which no program can catch. */
export function isStop(reason: string): boolean {
  return STOPS.has(reason);
}

/**
 * What builtins and compiled code throw to end the program. It never crosses the interface of the
 * ring: the machine catches it and turns it into a {@link LispError}.
 */
export class Fault {
  readonly reason: string;
  readonly message: string;
  readonly details: Json | undefined;
  /** Whether `attempt` may recover from it: only what went wrong outside the program. */
  readonly recoverable: boolean;
  /** Where; the machine fills in the running call when the thrower does not know. */
  span: Span | undefined;
  /** The functions that were running, innermost first; filled in where it is first caught. */
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

/** What `return` and `fail` throw: it ends the program, not with a fault but with a value. */
export class ProgramEnd<V> {
  readonly kind: 'returned' | 'failed';
  readonly value: V;

  constructor(kind: 'returned' | 'failed', value: V) {
    this.kind = kind;
    this.value = value;
  }
}

const MAX_LISTED = 10;

/** The report of problems found before the program ran, as a model reads it. */
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

/** An error with its place and excerpt, or the whole report when it was found before running. */
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
