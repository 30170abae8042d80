/** A Step as the input of another run. */
import { defined } from '../base/defined.ts';
import { isJsonObject, isPlainObject, type Json, type JsonObject } from '../base/json.ts';
import type { Step, StepStatus } from './step.ts';

/** What a Step passes to the next run, or why it passes nothing. */
export type Piped =
  | {
      readonly kind: 'context';
      readonly context: JsonObject;
      readonly contextDescriptions: { readonly [name: string]: string };
    }
  | { readonly kind: 'failed'; readonly message: string; readonly details: Json };

const STATUSES: readonly StepStatus[] = [
  'success',
  'limit_exceeded',
  'canceled',
  'error',
  'compaction_failed',
];

/** Whether `value` is the Step of a run; user data may have some of its fields. */
export function isStep(value: unknown): value is Step {
  return (
    isPlainObject(value) &&
    value['v'] === 1 &&
    typeof value['runId'] === 'string' &&
    typeof value['agent'] === 'string' &&
    STATUSES.includes(value['status'] as StepStatus) &&
    'value' in value &&
    isPlainObject(value['usage']) &&
    isPlainObject(value['stats']) &&
    isPlainObject(value['trace'])
  );
}

/** The context that a Step becomes: the fields of an object, any other value as `input`. */
export function contextOfStep(step: Step): Piped {
  if (step.status !== 'success')
    return { kind: 'failed', ...upstreamFailure({ ...step, id: step.trace.workflowId }) };
  const { value, fieldDescriptions } = step;
  return {
    kind: 'context',
    context: contextOfValue(value),
    contextDescriptions: textsIn(fieldDescriptions),
  };
}

/** A value as named data: the fields of an object, any other value as `input`. */
export function contextOfValue(value: Json): JsonObject {
  return isJsonObject(value) ? value : { input: value };
}

/** A run, or a question to a person, that did not succeed. */
export interface FailedUpstream extends Pick<Step, 'agent' | 'status' | 'reason' | 'message'> {
  /** The id of the run; absent for a question. */
  readonly id?: string;
  /** Absent if it ended without a Step. */
  readonly runId?: string;
}

/** Why no run can follow an unsuccessful one, for people and as data. */
export function upstreamFailure({ id, runId, agent, status, reason, message }: FailedUpstream): {
  readonly message: string;
  readonly details: Json;
} {
  const suffix = message === undefined ? '' : `: ${message}`;
  return {
    message: `upstream \`${agent}\` ended with ${reason}${suffix}`,
    details: { upstream: defined({ id, runId, agent, status, reason, message }) },
  };
}

/** The texts among `descriptions`, which may come from any client. */
export function textsIn(descriptions: JsonObject): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(descriptions).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, text] as const] : [],
    ),
  );
}
