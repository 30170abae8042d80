/** A Step as what the next run works with. */
import { isPlainObject, type Json, type JsonObject } from '../json.ts';
import type { Step, StepStatus } from './step.ts';

/** What a Step gives to the next run, or why it gives nothing. */
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

/** Whether `value` is the Step of a run; data of a user's own may well have some of its fields. */
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

/** The context that a Step is: the fields of an object, anything else as `input`. */
export function contextOfStep(step: Step): Piped {
  const { runId, agent, status, reason, message, value } = step;
  if (status !== 'success') {
    const said = message === undefined ? '' : `: ${message}`;
    return {
      kind: 'failed',
      message: `upstream \`${agent}\` ended with ${reason}${said}`,
      details: {
        upstream: { runId, agent, status, reason, ...(message === undefined ? {} : { message }) },
      },
    };
  }
  const context = isPlainObject(value) ? (value as JsonObject) : { input: value };
  return { kind: 'context', context, contextDescriptions: textsIn(step.fieldDescriptions) };
}

function textsIn(descriptions: JsonObject): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(descriptions).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, text] as const] : [],
    ),
  );
}
