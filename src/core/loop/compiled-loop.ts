/**
 * The iteration of a compiled agent: its program, and the judgement of what it gives. No model is asked,
 * and nothing is repaired. Asynchronous like `lisp-loop.ts`.
 */
import type { Reply } from '../contract/model.ts';
import { noUsage } from '../model/usage.ts';
import { leaving } from '../run/ending.ts';
import { candidateOf, judged, problemLines, refusalOf, accepted } from './lisp-loop.ts';
import { asBug } from './mode-loop.ts';
import type { Next } from './work.ts';

/** Stands where a turn that is handed over has the reply of a model. */
const NO_REPLY: Reply = {
  parts: [],
  calls: [],
  finishReason: 'other',
  usage: noUsage,
  usageKnown: false,
  model: '',
};

/** The only iteration of a compiled run. */
export const compiledLoop: Next = async (work) => {
  try {
    const { run, iteration, startedAt } = work;
    const { turn: kept, head } = run.state;
    const report = await work.program({
      source: head.spec.compiled ?? '',
      programId: `${iteration}.p`,
      ...(kept?.program === undefined ? {} : { kept: kept.program }),
      keep: (program) => ({
        reply: NO_REPLY,
        startedAt,
        calls: { results: [], begun: [] },
        program,
      }),
    });
    switch (report.outcome) {
      case 'failed':
        throw leaving(refusalOf(report));
      case 'error': {
        const { reason, message } = report.error ?? { reason: 'internal', message: '' };
        throw leaving({ kind: 'failed', code: reason, cause: message });
      }
      case 'value':
      case 'returned': {
        const text = JSON.stringify(report.value ?? null);
        const judgement = await judged(work, [candidateOf(work, report)], text);
        if (judgement.kind === 'accepted') return accepted(work, judgement.value, []);
        const problems = problemLines(judgement);
        const details = { problems, value: report.value ?? null };
        const cause = `no answer could be used: ${problems[0] ?? 'the answer was not accepted'}`;
        throw leaving({ kind: 'failed', code: 'validation_error', cause, details });
      }
    }
  } catch (error) {
    throw asBug(error);
  }
};
