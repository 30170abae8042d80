/** The tries of an eval, in order, how each is started, and the row that comes of it. */
import { canonicalJson, isPlainObject, type Json, type JsonObject } from '../base/json.ts';
import { defined } from '../base/defined.ts';
import type { SpawnInput, SpawnRequest, SpawnResult } from '../children/spawn.ts';
import type { EvalPart, EvalPlan, EvalRow, EvalVariant } from './eval-plan.ts';
import type { ChildSummary } from '../contract/step.ts';
import { usageOf } from '../run/step-of.ts';
import { EMPTY_STATS } from '../contract/stats.ts';
import { clip } from '../text/cut.ts';

/** One try: a part with a variant. */
export interface Try {
  readonly part: EvalPart;
  readonly variant: EvalVariant;
  readonly time: number;
}

/** All tries: the parts in order, for each its variants, each so often. */
export function triesOf({ parts, variants, times }: EvalPlan): readonly Try[] {
  const all = Array.from({ length: times }, (_, index) => index + 1);
  return parts.flatMap((part) =>
    variants.flatMap((variant) => all.map((time) => ({ part, variant, time }))),
  );
}

/** What names a try in its eval. */
export function tryKey({
  part,
  variant,
  time,
}: Pick<EvalRow, 'part' | 'variant' | 'time'>): string {
  return JSON.stringify([part, variant, time]);
}

/** How a try is started: a fork of a moment, or a run with a task. */
export function requestOf({ part, variant }: Try, { effects }: EvalPlan): SpawnRequest {
  const { model, limits, instructions, definition, edits, agent = part.agent } = variant;
  const chosen = defined({ model, limits });
  if ('task' in part) {
    const { task, context } = part;
    return { agent, input: { task, ...defined({ context }), ...chosen } };
  }
  const fork: NonNullable<SpawnInput['fork']> = {
    source: { workflowId: part.run },
    at: part.at,
    effects,
    ...defined({ edits, definition, instructions }),
  };
  return { agent, input: { fork, ...chosen } };
}

/** What a judge is asked about an answer; undefined if there is none to judge. */
export function judgeRequest(
  judge: string,
  { part }: Try,
  result: SpawnResult,
): SpawnRequest | undefined {
  if (result.kind !== 'value') return undefined;
  const { expected } = part;
  // A prompt shows its own task under that name, so what was asked has another.
  const asked = 'task' in part ? part.task : (part.asked ?? `What run ${part.run} was to do`);
  const context: JsonObject = { asked, answer: result.value, ...defined({ expected }) };
  const words = 'Judge the answer. Say whether it does what the task asks, and is right.';
  return { agent: judge, input: { task: words, context } };
}

/** Characters of an answer in a row. */
const MAX_ANSWER = 200;

/** The row of a try that has ended; `judged` is the end of its judge. */
export function rowOf(
  { part, variant, time }: Try,
  result: SpawnResult,
  judged: SpawnResult | undefined,
  ends: readonly ChildSummary[],
): EvalRow {
  const id =
    result.kind === 'failed'
      ? result.failure.id
      : result.kind === 'value'
        ? result.step.trace.workflowId
        : null;
  const usage = ends.findLast(({ childId }) => childId === id)?.usage ?? usageOf(EMPTY_STATS);
  const { status, reason } = endOf(result);
  const verdict = judged === undefined ? undefined : verdictOf(judged);
  const isExpected =
    result.kind === 'value' &&
    (part.expected === undefined || isEqual(result.value, part.expected));
  const value = result.kind === 'value' ? result.value : result.text;
  return {
    part: part.name,
    variant: variant.name,
    time,
    run: id,
    status,
    reason,
    passed: verdict === undefined ? isExpected : verdict.passed,
    ...defined({ score: verdict?.score }),
    turns: result.kind === 'value' ? result.step.iterations : usage.modelCalls,
    tokens: usage.totalTokens,
    costMicroUsd: usage.costMicroUsd,
    durationMs: usage.durationMs,
    answer: clip(typeof value === 'string' ? value : JSON.stringify(value), MAX_ANSWER),
  };
}

function endOf(result: SpawnResult): Pick<EvalRow, 'status' | 'reason'> {
  switch (result.kind) {
    case 'value':
      return { status: result.step.status, reason: result.step.reason };
    case 'failed':
      return { status: result.failure.status, reason: result.failure.reason };
    case 'refused':
      return { status: 'limit_exceeded', reason: result.breach.key };
  }
}

/** Texts are equal without the space around them. */
function isEqual(value: Json, expected: Json): boolean {
  if (typeof value === 'string' && typeof expected === 'string')
    return value.trim() === expected.trim();
  return canonicalJson(value) === canonicalJson(expected);
}

/** A judge answers with true or false, a number from 0 to 1, or an object with them. */
function verdictOf(judged: SpawnResult): { readonly passed: boolean; readonly score?: number } {
  if (judged.kind !== 'value') return { passed: false };
  const { value } = judged;
  const { passed, score } = isPlainObject(value) ? value : { passed: value, score: value };
  const number = typeof score === 'number' && score >= 0 && score <= 1 ? score : undefined;
  const said = typeof passed === 'string' ? /^\s*(?:true|yes|pass(?:ed)?)\b/i.test(passed) : passed;
  const isPassed = typeof said === 'boolean' ? said : (number ?? 0) >= PASS_SCORE;
  return { passed: isPassed, ...defined({ score: number }) };
}

const PASS_SCORE = 0.5;
