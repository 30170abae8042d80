/** The size limit of a Step, which a workflow returns and from which another run may start. */
import { byteSize, type Json } from '../base/json.ts';
import type { Ending } from './ending.ts';
import type { Reply, ReplyItem } from '../contract/model.ts';
import type { Judgement } from '../contract/judgement.ts';
import { cut } from '../text/cut.ts';
import type { Run } from './run.ts';
import { ANSWER_TOO_LARGE, type RunState } from './run-state.ts';
import { stepOf } from './step-of.ts';
import type { StepTrace } from '../contract/step.ts';

const NO_TRACE: StepTrace = {
  workflowId: '',
  executionId: '',
  firstExecutionId: '',
  unreadInputs: [],
  chain: { links: 1, events: 0, entries: 0, inputs: 0 },
};

/**
 * `ending`, or what stands in for it when the Step would be too large: an answer becomes the error
 * `value_too_large`, an error leaves its details out. Linear in the size of the Step.
 */
export function fitEnding(state: RunState, ending: Ending, maxBytes: number): Ending {
  if (ending.kind !== 'success' && ending.kind !== 'error') return ending;
  const bytes = bytesOf(state, ending);
  if (bytes <= maxBytes) return ending;
  if (ending.kind === 'error') {
    const { code, cause } = ending;
    return { kind: 'error', code, cause };
  }
  const cause = `Expected a Step of at most ${maxBytes} bytes, got ${bytes}. Answer with less, or let a tool keep the data and answer where it is.`;
  return { kind: 'error', code: 'value_too_large', cause };
}

/**
 * `judgement`, or what stands in for it when its answer is accepted but too large for a Step: the
 * model is told once, if it has another turn.
 */
export function fitJudgement({ state, wouldCross, host }: Run, judgement: Judgement): Judgement {
  if (judgement.kind !== 'accepted') return judgement;
  // Without a model nobody can be told.
  if (state.head.spec.models.length === 0 || state.toldSize === true) return judgement;
  if (state.breach !== null || wouldCross(['agent:iterations']) !== null) return judgement;
  // The events that follow add to the statistics of the Step.
  const bytes = bytesOf(state, { kind: 'success', value: judgement.value }) + STATISTICS_BYTES;
  const { step: maxBytes } = host.link.sizes;
  if (bytes <= maxBytes) return judgement;
  const room = maxBytes - (bytes - byteSize(judgement.value));
  const message = `the answer has ${byteSize(judgement.value)} bytes as JSON, and at most ${room} fit. Answer with less, or let a tool keep the data and answer where it is`;
  return { kind: 'unfit', problems: [{ code: ANSWER_TOO_LARGE, message }], lines: [message] };
}

/** Whether `judgement` says that the answer is too large. */
export function isTooLarge(judgement: Judgement): boolean {
  return (
    judgement.kind === 'unfit' && judgement.problems.some(({ code }) => code === ANSWER_TOO_LARGE)
  );
}

/** What the conversation keeps of a reply whose answer is too large: its beginning. */
export function shortened(reply: Reply): Reply {
  const parts = reply.parts.flatMap((part): readonly ReplyItem[] => {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return [{ ...part, text: cut(part.text, KEPT_BYTES) }];
      case 'call':
        return [byteSize(part.args) <= KEPT_BYTES ? part : { ...part, args: {} }];
      default:
        return byteSize(part as unknown as Json) <= KEPT_BYTES ? [part] : [];
    }
  });
  return { ...reply, parts };
}

/** How much the statistics of a Step may grow between a judgement and the end. */
const STATISTICS_BYTES = 1_024;

/** UTF-8 bytes of each part of a reply that is too large. */
const KEPT_BYTES = 4_096;

function bytesOf(state: RunState, ending: Ending): number {
  const { memory: _memory, ...step } = stepOf(state, ending, NO_TRACE);
  return byteSize(step as unknown as Json);
}
