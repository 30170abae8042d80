/**
 * What leaves a workflow, whichever loop issues it: activities, local activities, children, signals,
 * hand-overs. Their sizes are counted here, once, so that each task sends what the service takes; see
 * `task-bytes.ts`. The bundle names this module as that of its interceptors.
 *
 * O1  What the service would refuse is refused here, in words: as the failure of this one call. The
 *     service ends or stops the whole run.
 * O2  Sizes are those of JSON. Encryption adds {@link COMMAND_BYTES} at most, compression adds nothing.
 *     What lies in a blob store counts as a reference, and only the record of the run says whether
 *     there is a store.
 * O3  Signals and deliveries of callbacks never wait: messages of others cause them, in no order that a
 *     loop fixes. What they carry is bounded where it is written.
 */
import {
  ApplicationFailure,
  CancellationScope,
  sleep,
  type ActivityInput,
  type LocalActivityInput,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { CALLBACK_WORKFLOW } from '../../core/contract/callback.ts';
import type { FailureType } from '../../core/base/failure-types.ts';
import { byteSize, type Json } from '../../core/base/json.ts';
import { INLINE_SIZES, type SizeLimits } from '../../core/base/size-limits.ts';
import {
  TASK_BYTES,
  createTaskBytes,
  type TaskTimer,
  type RoomOrder,
  type TaskBytes,
} from './task-bytes.ts';

/** What a command has besides its payload: ids, options, summaries, what encryption adds. */
const COMMAND_BYTES = 1_024;

/** A child also has a memo, details and attributes. */
const CHILD_BYTES = 4_096;

/** What the service gets of a payload that lies in a blob store. */
const REFERENCE_BYTES = 1_024;

/** The service takes 2 MiB; a blob store takes 32 MiB. */
const PAYLOAD_BYTES = { inline: 2_000_000, stored: 32_000_000 } as const;

/**
 * What one execution issues in all, of the 50 MB that its history may have: its results have the rest.
 * Small commands go on after that.
 */
const EXECUTION_BYTES = 36_000_000;
const SMALL_BYTES = 65_536;

/** What a check may return besides the arguments that it was given. */
const CHECK_BYTES = 16_384;

/** What this execution sends. */
export interface Outgoing {
  readonly taskBytes: TaskBytes;
  /** How large the parts of the run may be; those without a blob store until that is known. */
  sizes: SizeLimits;
  /** What was issued of the bytes that an execution has. */
  issued: number;
}

/** A global, which each workflow has for itself, while modules are shared. */
const OUTGOING = '__EVERLOOP_OUTGOING__';

/** What this execution sends, for what counts itself. */
export function outgoing(): Outgoing {
  return Reflect.get(globalThis, OUTGOING) as Outgoing;
}

/** Settles when a task has room for `value`, which ends the execution; null: this one has. */
export function roomForLast(value: unknown): Promise<void> | null {
  const { taskBytes, sizes } = outgoing();
  return taskBytes.take({ bytes: sentBytes([value], sizes) + COMMAND_BYTES });
}

/** Counts what a local activity has returned whose size was not known when it began. */
export function countLoaded(value: unknown): void {
  const { taskBytes, sizes } = outgoing();
  taskBytes.count(sentBytes([value], sizes));
}

/** The interceptors of every workflow of the bundle; the bundler finds them by this name. */
export function interceptors(): WorkflowInterceptors {
  const taskBytes = createTaskBytes(TASK_BYTES, startTaskTimer);
  const own: Outgoing = { taskBytes, sizes: INLINE_SIZES, issued: 0 };
  Reflect.set(globalThis, OUTGOING, own);
  return {
    outbound: [
      {
        scheduleActivity: (input, next) => {
          const bytes = sentBytes(input.args, own.sizes) + COMMAND_BYTES;
          return issue(own, input.args, bytes, () => {
            const onReply = isMainCall(input) ? taskBytes.mark() : () => undefined;
            const result = next(input);
            // What follows a reply in a loop comes with a later task than what came before it.
            result.then(onReply, onReply);
            return result;
          });
        },
        scheduleLocalActivity: (input, next) => {
          const bytes = Math.min(resultBytes(input), own.sizes.stored ?? Infinity) + COMMAND_BYTES;
          return inScope(taskBytes, { bytes, isLocal: true }, () => {
            const result = next(input);
            result.then(taskBytes.endLocal, taskBytes.endLocal);
            return result;
          });
        },
        startChildWorkflowExecution: (input, next) => {
          const { args } = input.options;
          const bytes = sentBytes(args, own.sizes) + CHILD_BYTES;
          if (input.workflowType === CALLBACK_WORKFLOW) {
            taskBytes.count(bytes);
            return next(input);
          }
          return issue(own, args, bytes, () => next(input));
        },
        signalWorkflow: (input, next) => {
          const problem = problemOf(own, input.args, 0);
          if (problem !== null) return Promise.reject(problem);
          taskBytes.count(sentBytes(input.args, own.sizes) + COMMAND_BYTES);
          return next(input);
        },
        continueAsNew: async (input, next) => {
          const room = taskBytes.take({ bytes: sentBytes(input.args, own.sizes) + COMMAND_BYTES });
          if (room !== null) await room;
          return next(input);
        },
      },
    ],
  };
}

/** Issues what `begin` issues with `args`, once a task has room for its `bytes`. */
function issue<Result>(
  own: Outgoing,
  args: readonly unknown[],
  bytes: number,
  begin: () => Promise<Result>,
): Promise<Result> {
  const problem = problemOf(own, args, bytes);
  if (problem !== null) return Promise.reject(problem);
  own.issued += bytes;
  return inScope(own.taskBytes, { bytes }, begin);
}

/** Begins in the scope of the caller, once a task has room. */
function inScope<Result>(
  taskBytes: TaskBytes,
  order: RoomOrder,
  begin: () => Promise<Result>,
): Promise<Result> {
  const scope = CancellationScope.current();
  const canceled = scope.cancellable ? scope.cancelRequested : undefined;
  const room = taskBytes.take({ ...order, canceled });
  return room === null ? begin() : room.then(() => scope.run(begin));
}

/** A timer that no cancel of the run or of a call reaches. */
function startTaskTimer(): TaskTimer {
  const shield = new CancellationScope({ cancellable: false });
  const scope = new CancellationScope({ cancellable: true, parent: shield });
  return { fired: scope.run(() => sleep(1)), cancel: () => scope.cancel() };
}

/** Why `args` are not sent; null when they are. */
function problemOf(
  { sizes, issued }: Outgoing,
  args: readonly unknown[],
  bytes: number,
): ApplicationFailure | null {
  const most = sizes.stored === undefined ? PAYLOAD_BYTES.inline : PAYLOAD_BYTES.stored;
  const largest = Math.max(0, ...args.map(jsonBytes));
  if (largest > most) {
    return tooLarge(`Expected at most ${most} bytes in one message, got ${largest}. ${ADVICE}`);
  }
  const left = EXECUTION_BYTES - issued;
  return bytes <= Math.max(SMALL_BYTES, left)
    ? null
    : tooLarge(`Expected room for ${bytes} bytes in the history of the run, got none. ${ADVICE}`);
}

const ADVICE = 'Send less, put large data behind a tool, or set up external storage.';

function tooLarge(message: string): ApplicationFailure {
  const type = 'message_too_large' satisfies FailureType;
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

/** What the service gets of `values`. */
function sentBytes(values: readonly unknown[], { stored = Infinity }: SizeLimits): number {
  return values.reduce<number>((sum, value) => {
    const bytes = jsonBytes(value);
    return sum + (bytes >= stored ? REFERENCE_BYTES : bytes);
  }, 0);
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : byteSize(value as Json);
}

/** The call whose reply begins the next turn of a loop. */
function isMainCall({ activityType, args: [order] }: ActivityInput): boolean {
  return activityType === 'callModel' && (order as { purpose?: unknown }).purpose === 'reply';
}

/** The most that a local activity returns. */
function resultBytes({ activityType, args }: LocalActivityInput): number {
  const [order] = args;
  switch (activityType) {
    case 'callTool':
    case 'searchTools':
      return (order as { localBytes?: number }).localBytes ?? 0;
    case 'checkLiterals':
      return jsonBytes(order) + CHECK_BYTES;
    default:
      // What loads an agent counts when it has ended; the others return next to nothing.
      return 0;
  }
}
