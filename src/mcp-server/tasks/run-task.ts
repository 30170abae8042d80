/**
 * Runs as tasks of the extension `io.modelcontextprotocol/tasks`: the id of a task is that of its run.
 * Pure. A run that did not succeed is a completed task whose result is an error; `failed` is for
 * errors of the protocol only.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { defined } from '../../core/base/defined.ts';
import { isJsonObject, type JsonObject } from '../../core/base/json.ts';
import { clip } from '../../core/text/cut.ts';
import type { RunSummary } from '../../client/run-list.ts';
import { viewValue, type SeenRun } from '../runs/run-view.ts';
import { resultOf } from '../tools/tool.ts';
import { inputRequestOf, type InputRequest } from './task-input.ts';

/** The name of the extension, in the capabilities of clients and servers. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** How often a client should ask. */
const POLL_INTERVAL_MS = 1_000;

/** What every answer about a task has. */
interface TaskBase {
  readonly taskId: string;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** The service keeps runs as long as its retention says, which no client has to know. */
  readonly ttlMs: null;
  readonly pollIntervalMs: number;
}

/** A task as `tasks/get` shows it. */
export type RunTask = TaskBase &
  (
    | { readonly status: 'working' | 'cancelled' }
    | {
        readonly status: 'input_required';
        readonly inputRequests: { readonly [item: string]: InputRequest };
      }
    | { readonly status: 'completed'; readonly result: CallToolResult }
  );

/** What a task is made of. */
export interface TaskParts {
  readonly summary: RunSummary;
  /** Undefined: no worker answers for the run now. */
  readonly view: SeenRun | undefined;
  /** Whether the client can open pages for people. */
  readonly opensPages: boolean;
  /** False: the server takes no answers, so it asks for none. */
  readonly takesAnswers: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The answer to a call whose client takes a task: what is known without asking a worker. */
export function createdTask({ id, startedAt }: RunSummary, now: number): JsonObject {
  return {
    resultType: 'task',
    // The SDK checks every result of a call, and a call's result has content.
    content: [],
    taskId: id,
    status: 'working',
    createdAt: startedAt.toISOString(),
    lastUpdatedAt: isoOf(now),
    ttlMs: null,
    pollIntervalMs: POLL_INTERVAL_MS,
  };
}

/** A run as a task. */
export function taskOf(parts: TaskParts): RunTask {
  const { summary, view, now } = parts;
  const base = {
    taskId: summary.id,
    createdAt: summary.startedAt.toISOString(),
    lastUpdatedAt: isoOf(now),
    ttlMs: null,
    pollIntervalMs: POLL_INTERVAL_MS,
  };
  if (view === undefined) return { ...base, status: 'working', statusMessage: NO_WORKER };
  if (view.kind === 'live') return { ...base, ...liveTask(parts, view) };
  const closed = { ...base, lastUpdatedAt: (summary.closedAt ?? new Date(now)).toISOString() };
  if (view.kind === 'ended' && view.step.status === 'canceled') {
    const statusMessage = view.step.message;
    return { ...closed, status: 'cancelled', ...defined({ statusMessage }) };
  }
  const value = viewValue(summary.id, view);
  const isSuccess = isJsonObject(value['step']) && value['step']['status'] === 'success';
  // A result within a task is not encoded by the SDK, which writes its type otherwise.
  const result = { resultType: 'complete', ...resultOf(value, !isSuccess) } as CallToolResult;
  return { ...closed, status: 'completed', result };
}

type LiveTask =
  | { readonly status: 'working'; readonly statusMessage?: string }
  | Pick<Extract<RunTask, { readonly status: 'input_required' }>, 'status' | 'inputRequests'>;

function liveTask(
  { opensPages, takesAnswers }: TaskParts,
  { status, pending }: Extract<SeenRun, { readonly kind: 'live' }>,
): LiveTask {
  const requests = pending.flatMap((item) => {
    const request = inputRequestOf(item, opensPages);
    return request === undefined ? [] : [[item.id, request] as const];
  });
  if (requests.length > 0 && takesAnswers) {
    return { status: 'input_required', inputRequests: Object.fromEntries(requests) };
  }
  const waitsFor = status.waitsFor.join(', ');
  const statusMessage = waitsFor === '' ? undefined : clip(waitsFor, MAX_STATUS_MESSAGE);
  return { status: 'working', ...defined({ statusMessage }) };
}

const MAX_STATUS_MESSAGE = 200;

const NO_WORKER = 'No worker answers for the run. It waits and loses nothing.';

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
