/**
 * The iteration of a compiled agent: its program, and the judgement of its value. No model is
 * asked, and nothing is repaired.
 */
import { defined } from '../base/defined.ts';
import type { Reply } from '../contract/model.ts';
import { noUsage } from '../model/usage.ts';
import { candidateOf, errorOf, refusalOf, rejectionOf } from '../modes/program-answer.ts';
import { leaving } from '../run/ending.ts';
import { judgeCandidates } from './judge.ts';
import { acceptAnswer, toInternalError } from './turn.ts';
import type { Next } from './work.ts';

/** Stands for the reply of a model in a turn that is handed over. */
const NO_REPLY: Reply = {
  parts: [],
  finishReason: 'other',
  usage: noUsage,
  usageKnown: false,
  model: '',
};

/** The only iteration of a compiled run. */
export const compiledLoop: Next = async (work) => {
  try {
    const { iteration, startedAt, state } = work;
    const { spec } = state.head;
    const report = await work.program({
      source: spec.compiled ?? '',
      programId: `${iteration}.p`,
      ...defined({ kept: state.turn?.program }),
      keep: (program) => ({
        reply: NO_REPLY,
        startedAt,
        calls: { results: [], begun: [] },
        program,
      }),
    });
    switch (report.outcome) {
      case 'failed':
        throw leaving({ kind: 'failed', ...refusalOf(report) });
      case 'error': {
        const { reason: code, message: cause } = errorOf(report);
        throw leaving({ kind: 'failed', code, cause });
      }
      case 'value':
      case 'returned': {
        const text = JSON.stringify(report.value ?? null);
        const judgement = await judgeCandidates(work, [candidateOf(spec, report)], text);
        if (judgement.kind === 'accepted') return acceptAnswer(work, judgement.value);
        throw leaving({ kind: 'failed', ...rejectionOf(report, judgement) });
      }
    }
  } catch (error) {
    throw toInternalError(error);
  }
};
