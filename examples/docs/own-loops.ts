/** The examples of docs/own-loops.md that examples/08-own-loop.ts does not have. */
import { modeOf, replyText, type Next } from '../../src/workflow.ts';

/** Reads replies as the agent's mode does, and makes one call in a turn at most. */
export function carefulLoop(): Next {
  // #region parts
  const careful: Next = async (work) => {
    const { spec } = work.state.head;
    const reply = await work.ask();
    const turn = modeOf(spec).readTurn(spec, reply, work.iteration);
    if (turn.kind === 'answer') return { kind: 'end', value: replyText(reply) };
    // Only the first call of a turn is made; the model is told of the others.
    const calls = turn.kind === 'calls' ? turn.calls.slice(0, 1) : [];
    const results = await work.call(calls);
    const skipped = turn.kind === 'calls' ? turn.calls.length - calls.length : 0;
    const feedback =
      turn.kind === 'malformed'
        ? turn.feedback
        : skipped > 0
          ? [{ name: 'note', content: `${skipped} more calls were left out: one step at a time.` }]
          : [];
    const outcome = { sectionErrors: turn.sectionErrors, feedback, results };
    work.append({ messages: modeOf(spec).turnMessages(spec, turn, reply, outcome) });
    return { kind: 'continue' };
  };
  // #endregion
  return careful;
}
