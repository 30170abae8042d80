/** The attempts of tool calls and of judgements: what a failure does to what was tried. */
import { defined } from '../base/defined.ts';
import { unreachable } from '../base/unreachable.ts';
import type { JudgeOutcome } from '../contract/host-outcome.ts';
import type { ToolResult } from '../contract/outcome.ts';
import type { ToolSpec } from '../contract/spec.ts';
import {
  canceledCallText,
  nowhereText,
  toolErrorText,
  toolTimeoutText,
  unknownOutcomeText,
} from '../toolchain/call-texts.ts';
import {
  isRepeatedByService,
  judgeRetryMs,
  lossPauseMs,
  MAX_JUDGE_ATTEMPTS,
  maxToolAttempts,
  toolRetryMs,
} from './attempts.ts';
import type { AttemptFailure } from './failure.ts';
import { type NextAttempt, type Tried, stepAfter, type CallKind } from './table.ts';

/** What comes after the failure of an attempt of a tool. `isLocal`: it was a local read. */
export function afterToolFailure(
  tool: ToolSpec,
  tried: Tried,
  failure: AttemptFailure,
  isLocal = false,
): NextAttempt<ToolResult> {
  const kind: CallKind = isLocal ? 'local' : tool.effect;
  const before = withLosses(tried, failure);
  const now = { ...before, attempts: before.attempts + 1 };
  const step = stepAfter(kind, failure.kind);
  switch (step) {
    case 'stop':
      return end(stoppedTool(tool, tried, failure));
    case 'move':
      return { kind: 'again', tried, inMs: 0, waitsFor: 'a task with more room' };
    case 'elsewhere':
      return { kind: 'elsewhere' };
    case 'operator':
      return { kind: 'operator', tried: before };
    case 'repeat':
      return lost(before, failure);
    case 'retry': {
      const of = maxToolAttempts(tool);
      if (now.attempts >= of) return end(failedTool(tool, now, failure, isLocal));
      const inMs = toolRetryMs(tool, now.attempts);
      return { kind: 'again', tried: now, inMs, failure: { message: failure.message, of } };
    }
    case 'unknown': {
      const error = unknownOutcomeText(tool.name);
      return end({ outcome: 'unknown', error, ...ran(now) });
    }
    case 'unbegun': {
      const { lack, message } = failure;
      const error =
        lack === undefined ? toolErrorText(message) : nowhereText(lack.what, lack.agent);
      return end({ outcome: 'error', error, ...unbegun(now) });
    }
    case 'error':
    case 'wait':
      return end(failedTool(tool, now, failure, isLocal));
    default:
      return unreachable(step);
  }
}

/** What comes after the failure of an attempt to judge. */
export function afterJudgeFailure(
  tried: Tried,
  failure: AttemptFailure,
): NextAttempt<JudgeOutcome> {
  const { message } = failure;
  const before = withLosses(tried, failure);
  const now = { ...before, attempts: before.attempts + 1 };
  const step = stepAfter('judgement', failure.kind);
  if (step === 'stop') return end({ kind: 'aborted' });
  if (step === 'elsewhere') return { kind: 'elsewhere' };
  if (step === 'repeat') return lost(before, failure);
  const of = MAX_JUDGE_ATTEMPTS;
  if (step !== 'retry' || now.attempts >= of) return end({ kind: 'failed', message });
  return { kind: 'again', tried: now, inMs: judgeRetryMs(now.attempts), failure: { message, of } };
}

/** The result of a tool call, with what was lost before it. */
export function toolEnd(result: ToolResult, { losses }: Tried): ToolResult {
  return { ...result, ...lossesOf(losses + (result.losses ?? 0)) };
}

function end<Outcome>(outcome: Outcome): NextAttempt<Outcome> {
  return { kind: 'end', outcome };
}

/** An attempt that was lost: another one follows. */
function lost(before: Tried, { kind }: AttemptFailure): NextAttempt<never> {
  const givenBack = before.givenBack + (kind === 'given_back' ? 1 : 0);
  const now = { ...before, losses: before.losses + 1, givenBack };
  return { kind: 'again', tried: now, inMs: lossPauseMs(now.losses) };
}

/** What was tried, with what the activity says of losses before its last attempt. */
function withLosses(tried: Tried, { losses = 0, givenBack = 0 }: AttemptFailure): Tried {
  if (losses + givenBack === 0) return tried;
  return { ...tried, losses: tried.losses + losses, givenBack: tried.givenBack + givenBack };
}

function failedTool(
  tool: ToolSpec,
  now: Tried,
  { message, isTimeout, isExhausted }: AttemptFailure,
  isLocal: boolean,
): ToolResult {
  const { name, timeoutMs } = tool;
  const error = isTimeout === true ? toolTimeoutText(name, timeoutMs) : toolErrorText(message);
  // The worker has made the attempts of a local read.
  const own = isExhausted === true ? maxToolAttempts(tool) : 1;
  const attempts = isLocal ? own : now.attempts;
  return { outcome: 'error', error, ...ran(now), attempts };
}

/**
 * The result of a call that was stopped. What was lost may have taken effect, unless the tool only
 * reads or is `once` and never began.
 */
function stoppedTool(
  { name, effect }: ToolSpec,
  tried: Tried,
  { kind }: AttemptFailure,
): ToolResult {
  const { attempts, losses } = tried;
  const isWaiting = kind === 'left';
  const isUnbegun = isWaiting || kind === 'unstarted';
  const canceled = { outcome: 'canceled', error: canceledCallText } as const;
  const unknown = { outcome: 'unknown', error: unknownOutcomeText(name) } as const;
  switch (effect) {
    case 'once':
      // The service may have lost an attempt that began.
      return isUnbegun && (isWaiting || !isRepeatedByService(losses))
        ? { ...canceled, ...unbegun(tried) }
        : { ...unknown, ...ran(tried) };
    case 'idempotent':
      if (losses > 0) return { ...unknown, ...ran(tried) };
      return { ...canceled, ...(isUnbegun && attempts === 0 ? unbegun(tried) : ran(tried)) };
    case 'read':
      return { ...canceled, ...(isUnbegun && attempts + losses === 0 ? unbegun : ran)(tried) };
  }
}

type Attempts = Pick<ToolResult, 'attempts' | 'started' | 'losses'>;

function ran({ attempts, losses }: Tried): Attempts {
  return { attempts: Math.max(1, attempts), started: true, ...lossesOf(losses) };
}

function unbegun({ losses }: Tried): Attempts {
  return { attempts: 0, started: false, ...lossesOf(losses) };
}

function lossesOf(losses: number): { readonly losses?: number } {
  return defined({ losses: losses === 0 ? undefined : losses });
}
