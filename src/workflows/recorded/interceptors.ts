/**
 * Gives all that comes to a workflow its turn (`activations.ts`, `deliveries.ts`), and takes what
 * results of activities record (`recorded.ts`). The bundle of a worker has it for every workflow, also
 * for those of users.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  TimeoutFailure,
  type Next,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { CALLBACK_WORKFLOW } from '../../core/contract/callback.ts';
import { readRecorded } from '../../core/base/recorded.ts';
import { activateInOrder } from './activations.ts';
import { recorded, withFacts } from './recorded.ts';

/** The SDK finds it by this name. */
export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: activateInOrder(
        () => recorded().deliveries.settled(),
        () => recorded().hasEnded(),
      ),
    },
  ],
  inbound: [
    {
      execute: (input, next) => next(input).finally(recorded().end),
      handleSignal: async (input, next) => {
        await untimedTurn();
        return next(input);
      },
      handleUpdate: async (input, next) => {
        await untimedTurn();
        return next(input);
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: async (input, next) => {
        try {
          return opened(await inTurn(next({ ...input, headers: withFacts(input.headers) })));
        } catch (error) {
          throw await timed(error);
        }
      },
      scheduleLocalActivity: async (input, next) => {
        const { local } = recorded().deliveries;
        try {
          return opened(await local(next({ ...input, headers: withFacts(input.headers) })));
        } catch (error) {
          noteFailure(error);
          throw error;
        }
      },
      startTimer: async (input, next) => {
        const { now, advance, noteUntimed, deliveries } = recorded();
        const due = now() + input.durationMs;
        // Only the workflow itself cancels a timer, so a canceled one has come from nowhere.
        await next(input);
        await deliveries.turn();
        noteUntimed();
        advance(due);
      },
      startChildWorkflowExecution: startChildInTurn,
      signalWorkflow: (input, next) => inTurn(next(input)),
    },
  ],
});

const startChildInTurn: Next<
  WorkflowOutboundCallsInterceptor,
  'startChildWorkflowExecution'
> extends (input: infer Input) => infer Result
  ? (input: Input, next: (input: Input) => Result) => Result
  : never = async (input, next) => {
  const [started, completed] = await next(input);
  const isTimed = input.workflowType !== CALLBACK_WORKFLOW;
  const parts = [
    inTurn(started),
    isTimed ? thenClock(inTurn(completed)) : inTurn(completed),
  ] as const;
  // Who awaits them hears of it; a child whose end nobody awaits must not end its parent.
  for (const part of parts) part.catch(() => undefined);
  return [...parts];
};

/** `end` of a child, which brings no time: it may have run for days. */
async function thenClock<Result>(end: Promise<Result>): Promise<Result> {
  await end.then(recorded().readClock, recorded().readClock);
  return end;
}

async function untimedTurn(): Promise<void> {
  const { deliveries, noteUntimed } = recorded();
  await deliveries.turn();
  noteUntimed();
}

/** `call`, which ends when it is its turn. */
async function inTurn<Result>(call: Promise<Result>): Promise<Result> {
  await call.then(untimedTurn, untimedTurn);
  return call;
}

/** The result of an activity without what it has recorded, which is noted. */
function opened(result: unknown): unknown {
  const known = readRecorded(result);
  if (known === null) return result;
  recorded().note(known);
  return known.value;
}

/** `error` of an activity, once it is known when it came. */
async function timed(error: unknown): Promise<unknown> {
  const isKnown = noteFailure(error);
  const isOfService = error instanceof ActivityFailure && error.cause instanceof TimeoutFailure;
  if (!isKnown && isOfService && !isCancellation(error)) await recorded().readClock();
  return error;
}

/** Notes what the failure of an activity has recorded; false: nothing. */
function noteFailure(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure)) return false;
  const known = readRecorded(cause.details?.at(-1));
  if (known !== null) recorded().note(known);
  return known !== null;
}
