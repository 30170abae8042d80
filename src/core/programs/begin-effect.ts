/** One effect of a program from its request to its end. */
import type { EffectRequest } from '../../lisp.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import type { CallEnd } from '../contract/outcome.ts';
import { resumeCall, startCall } from '../calls/run-call.ts';
import { waitForTime } from '../people/wait-for-person.ts';
import { questionOf } from './effect-results.ts';
import type { KeptEffect } from '../run/kept-program.ts';
import type { EffectEnd } from './open-effects.ts';
import { callIdOf, callOf, type EffectContext } from './program-context.ts';

/** Begins an effect. */
export function beginEffect(
  context: EffectContext,
  effect: KeptEffect,
): Promise<EffectEnd> | EffectEnd {
  const { programId } = context;
  const { request } = effect;
  switch (request.kind) {
    case 'tool':
      return endOfCall(startCall(context, callOf(programId, request)));
    case 'ask': {
      const read = questionOf(request);
      if (read.kind === 'unfit') return read;
      const callId = callIdOf(programId, request.id);
      return askPerson(context, callId, read.question).then(endOfQuestion);
    }
    case 'sleep':
      return sleep(context, effect, request);
  }
}

/** Resumes an effect that has been waiting since an earlier link. */
export function resumeEffect(
  context: EffectContext,
  effect: KeptEffect,
): Promise<EffectEnd> | EffectEnd {
  const { run, programId } = context;
  const { request } = effect;
  const callId = callIdOf(programId, request.id);
  const item = (run.state.pending ?? []).find((one) => one.callId === callId);
  if (request.kind === 'sleep') return sleep(context, effect, request);
  if (request.kind === 'ask' && item?.kind === 'question') {
    return awaitAnswer(context, item).then(endOfQuestion);
  }
  if (request.kind === 'tool' && item !== undefined) {
    return endOfCall(resumeCall(context, callOf(programId, request), item));
  }
  // Whatever waits is in the state, so no run has produced this one.
  throw new Error(`Expected effect ${callId} to wait for something.`);
}

type SleepRequest = Extract<EffectRequest, { readonly kind: 'sleep' }>;

function sleep(
  context: EffectContext,
  { startedAt }: KeptEffect,
  { id, ms }: SleepRequest,
): Promise<EffectEnd> {
  const wait = { callId: callIdOf(context.programId, id), time: startedAt + ms };
  return waitForTime(context, wait).then(() => ({ kind: 'sleep' }));
}

function endOfCall(running: Promise<CallEnd> | CallEnd): Promise<EffectEnd> | EffectEnd {
  const toEnd = (end: CallEnd): EffectEnd => ({ kind: 'call', end });
  return running instanceof Promise ? running.then(toEnd) : toEnd(running);
}

function endOfQuestion(outcome: AskOutcome): EffectEnd {
  return { kind: 'ask', outcome };
}
