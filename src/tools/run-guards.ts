/** Asks the guards of an agent about a text. Knows nothing of Temporal, as `run-judge.ts` does. */
import { isBlocked } from '../core/base/blocked.ts';
import { defined } from '../core/base/defined.ts';
import { isPlainObject, utf8Length } from '../core/base/json.ts';
import { INLINE_SIZES } from '../core/base/size-limits.ts';
import type { GuardVerdict } from '../core/contract/judgement.ts';
import { cut } from '../core/text/cut.ts';
import { HIDE_NOTHING } from '../core/text/hide.ts';
import { redactedErrorText } from '../core/text/redact.ts';
import { wellFormedText } from '../core/text/well-formed.ts';
import type { Guard, GuardDecision, ReportContext } from '../define/definition/definitions.ts';
import { attempt } from './attempt.ts';
import { asCaller } from './caller.ts';
import type { JudgeOptions, JudgeRun } from './judge-run.ts';

/** UTF-8 bytes of the reason of a block. */
const MAX_REASON_BYTES = 1_024;

/** What guards are asked about, and by whom. */
export interface GuardedText {
  readonly text: string;
  /** The guards that the run began with, in the order in which they are asked. */
  readonly names: readonly string[];
  /** The guards of this worker. */
  readonly guards: readonly Guard[];
  readonly context: (signal: AbortSignal) => ReportContext;
}

type Stop = Exclude<JudgeRun, { readonly kind: 'judged' }>;

/** The verdict of the guards; each sees what the one before has written. Never rejects. */
export async function runGuards(
  { text, names, guards, context }: GuardedText,
  options: JudgeOptions,
): Promise<GuardVerdict | Stop> {
  const { hide = HIDE_NOTHING } = options;
  let verdict: GuardVerdict = { kind: 'passed' };
  for (const name of names) {
    const guard = guards.find((one) => one.name === name);
    if (guard === undefined) return notHere(name);
    const seen: string = verdict.kind === 'rewritten' ? verdict.text : text;
    const decision = await ask(guard, seen, context, options);
    if ('kind' in decision) return decision;
    if ('block' in decision) {
      const reason = cut(wellFormedText(hide(decision.block)), MAX_REASON_BYTES);
      return { kind: 'blocked', guard: name, reason };
    }
    if ('rewrite' in decision && decision.rewrite !== seen) {
      verdict = { kind: 'rewritten', guard: name, text: wellFormedText(hide(decision.rewrite)) };
    }
  }
  return verdict;
}

/** A run keeps its specification during an upgrade, while this worker may lack the guard. */
function notHere(name: string): Stop {
  const what = `guard ${name}`;
  return { kind: 'not_here', what, message: `${what}: this worker does not have it` };
}

async function ask(
  guard: Guard,
  text: string,
  context: GuardedText['context'],
  options: JudgeOptions,
): Promise<GuardDecision | Stop> {
  const { run, readContext, hide } = options;
  const name = `guard ${guard.name}`;
  const threw = (error: unknown): Stop => {
    return { kind: 'threw', message: `${name}: ${redactedErrorText(error, hide)}` };
  };
  const ended = await attempt(async (signal) => {
    const own = defined({ context: await readContext?.() });
    const info = { ...context(signal), ...own, text };
    return asCaller({ name, run }, () => guard.check(info));
  }, options);
  switch (ended.kind) {
    case 'returned': {
      const decision = readDecision(ended.value);
      return typeof decision === 'string' ? threw(new Error(decision)) : decision;
    }
    case 'threw':
      return isBlocked(ended.error) ? { block: ended.error.message } : threw(ended.error);
    default:
      return { kind: 'stopped' };
  }
}

/** The decision, or what is wrong with it. */
function readDecision(value: unknown): GuardDecision | string {
  const { pass, block, rewrite } = isPlainObject(value) ? value : {};
  const given = [pass, block, rewrite].filter((field) => field !== undefined);
  if (given.length === 1 && pass === true) return { pass };
  if (given.length === 1 && typeof block === 'string') return { block };
  if (given.length !== 1 || typeof rewrite !== 'string') {
    return 'it gave no decision, expected { pass: true }, { block: reason } or { rewrite: text }';
  }
  const bytes = utf8Length(rewrite);
  if (bytes <= INLINE_SIZES.start) return { rewrite };
  return `it wrote a text of ${bytes} bytes, at most ${INLINE_SIZES.start} are allowed`;
}
