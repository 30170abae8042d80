/** One effect of a program from its request to its end. Asynchronous, a part of `effects.ts`. */
import type { EffectRequest } from '../../lisp.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import type { CallEnd } from '../contract/call-end.ts';
import { resumeCall, startCall, type CallPlace } from '../calls/run-call.ts';
import { waitForTime } from '../people/wait-for-person.ts';
import { callIdOf, callOf } from './effect-place.ts';
import { questionOf } from './effect-results.ts';
import type { KeptEffect } from '../run/kept-program.ts';
import type { EffectEnd } from './open-effects.ts';

/** Where an effect begins: as a call does, of the program `programId`. */
export interface BeginPlace extends CallPlace {
  readonly programId: string;
}

/** Begins an effect. */
export function beginEffect(place: BeginPlace, effect: KeptEffect): Promise<EffectEnd> | EffectEnd {
  const { run, host, door } = place;
  const { request } = effect;
  switch (request.kind) {
    case 'tool':
      return endOfCall(startCall(place, callOf(place, request)));
    case 'ask': {
      const read = questionOf(request);
      if (read.kind === 'unfit') return read;
      const callId = callIdOf(place, request.id);
      return askPerson(run, host, callId, read.question, door).then(endOfQuestion);
    }
    case 'sleep':
      return sleep(place, effect, request);
  }
}

/** Goes on with an effect that waits since an earlier link. */
export function resumeEffect(
  place: BeginPlace,
  effect: KeptEffect,
): Promise<EffectEnd> | EffectEnd {
  const { run, host, door } = place;
  const { request } = effect;
  const callId = callIdOf(place, request.id);
  const item = (run.state.pending ?? []).find((one) => one.callId === callId);
  if (request.kind === 'sleep') return sleep(place, effect, request);
  if (request.kind === 'ask' && item?.kind === 'question') {
    return awaitAnswer(run, host, item, door).then(endOfQuestion);
  }
  if (request.kind === 'tool' && item !== undefined) {
    return endOfCall(resumeCall(place, callOf(place, request), item));
  }
  // What waits stands in the state: this is a state that somebody made up.
  throw new Error(`Expected effect ${callId} to wait for something.`);
}

type SleepRequest = Extract<EffectRequest, { readonly kind: 'sleep' }>;

function sleep(
  place: BeginPlace,
  { startedAt }: KeptEffect,
  { id, ms }: SleepRequest,
): Promise<EffectEnd> {
  const wait = { callId: callIdOf(place, id), time: startedAt + ms };
  return waitForTime(place.run, place.host, wait, place.door).then(() => ({ kind: 'sleep' }));
}

function endOfCall(going: Promise<CallEnd> | CallEnd): Promise<EffectEnd> | EffectEnd {
  const toEnd = (end: CallEnd): EffectEnd => ({ kind: 'call', end });
  return going instanceof Promise ? going.then(toEnd) : toEnd(going);
}

function endOfQuestion(outcome: AskOutcome): EffectEnd {
  return { kind: 'ask', outcome };
}
