/**
 * Which failures of an activity are losses: the attempt ended because its worker was lost, stalled or
 * shut down, or it never began. Neither the provider nor the tool has failed.
 */
import { ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { FailureType } from '../../core/base/failure-types.ts';
import { causeOf } from './call-failures.ts';

/** The failures by which a worker says that the attempt is to be repeated by another one. */
const LOSSES: readonly string[] = [
  'worker_shutdown',
  'transcript_unavailable',
  // The result could not be stored.
  'blob_store_failed',
] satisfies readonly FailureType[];

/** Whether the attempt was lost: its heartbeat stopped, or its worker gave it back. */
export function isLoss(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'HEARTBEAT';
  return cause instanceof ApplicationFailure && LOSSES.includes(cause.type ?? '');
}

/** Whether the worker of a lost attempt stopped in order, so that the call did not end it. */
export function isGivenBack(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure && cause.type === 'worker_shutdown';
}

/**
 * Whether the attempt of a tool was lost. A tool's time-out is answered by its activity, so if the
 * service has to end the activity, its worker has stalled.
 */
export function isToolLoss(error: unknown): boolean {
  const cause = causeOf(error);
  const hasStalled = cause instanceof TimeoutFailure && cause.timeoutType === 'START_TO_CLOSE';
  return hasStalled || isLoss(error);
}

/**
 * Whether a lost attempt of a `once` tool surely did not begin: its worker gave it back, or its last
 * heartbeat does not say that it began.
 */
export function neverBegan(error: unknown): boolean {
  const cause = causeOf(error);
  // The result could not be stored, so the tool ran.
  if (cause instanceof ApplicationFailure && cause.type === 'blob_store_failed') return false;
  if (!(cause instanceof TimeoutFailure)) return isLoss(error);
  const details = cause.lastHeartbeatDetails as { readonly began?: true } | null | undefined;
  return cause.timeoutType === 'HEARTBEAT' && details?.began !== true;
}
