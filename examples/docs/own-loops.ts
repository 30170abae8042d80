/** The examples of docs/own-loops.md that examples/04-own-loop.ts does not have. */
import {
  callTurn,
  describeCalls,
  modeOf,
  observationMessages,
  readCalls,
  replyText,
  textMessage,
  type Next,
} from '../../src/workflow.ts';

/** Reads replies as the agent's mode does, but makes at most one call in a turn. */
export function carefulLoop(): Next {
  // #region parts
  const careful: Next = async (work) => {
    const { spec } = work.state.head;
    const mode = modeOf(spec);
    const reply = await work.ask();
    const turn = mode.readTurn(spec, reply, work.iteration);
    const feedback = turn.kind === 'malformed' ? [...turn.feedback] : [];
    // The answers of this agent are texts; the first one of a turn is its value.
    const [answer] = turn.kind === 'answer' ? turn.candidates : [];
    if (answer?.kind === 'value') {
      const judgement = await work.judge(answer.value);
      if (judgement.kind === 'accepted') {
        const messages = mode.answerMessages(reply);
        return { kind: 'end', value: judgement.value, entry: { messages } };
      }
      const said = judgement.kind === 'rejected' ? judgement.feedback : [];
      feedback.push(...said, { name: 'note', content: 'Not accepted. Answer again.' });
    }
    // Make only the first call of a turn, and tell the model about the others.
    const calls = turn.kind === 'calls' ? turn.calls : [];
    const results = await work.call(calls.slice(0, 1));
    if (calls.length > 1) {
      const content = `${calls.length - 1} more calls were left out: one step at a time.`;
      feedback.push({ name: 'note', content });
    }
    const outcome = { sectionErrors: turn.sectionErrors, feedback, results };
    work.append({ messages: mode.turnMessages(spec, turn, reply, outcome) });
    return { kind: 'continue' };
  };
  // #endregion
  return careful;
}

/** Runs each reply as a program, and ends with the value that a program returns. */
export function programmerLoop(): Next {
  // #region program
  const programmer: Next = async (work) => {
    // A turn that was handed over in its middle continues: its reply is known.
    const kept = work.state.turn ?? null;
    const reply = kept?.reply ?? (await work.ask());
    const { startedAt } = work;
    const report = await work.program({
      source: replyText(reply),
      programId: `${work.iteration}.p`,
      ...(kept?.program === undefined ? {} : { kept: kept.program }),
      keep: (program) => ({ reply, startedAt, calls: { results: [], begun: [] }, program }),
    });
    if (report.outcome === 'returned') return { kind: 'end', value: report.value ?? null };
    const said = report.error?.message ?? `It gave ${report.preview}`;
    const messages = [textMessage('assistant', replyText(reply)), textMessage('user', said)];
    work.append({ messages });
    // A stopped program has a report too.
    work.leaveIfAsked();
    return { kind: 'continue' };
  };
  // #endregion
  return programmer;
}

/** Lets a model gather what the task needs in one batch of calls, then answer from the results. */
export function gatheringLoop(): Next {
  // #region calls
  const gather: Next = async (work) => {
    const { spec, task } = work.state.head;
    const asked = textMessage('user', task.text);
    // A turn that was handed over while a person decided about a call has its reply.
    const reply =
      work.state.turn?.reply ??
      (await work.ask({
        messages: [textMessage('system', `Gather all at once.\n\n${describeCalls(spec)}`), asked],
      }));
    const { calls, feedback } = readCalls(work, reply);
    const results = await work.call(calls, callTurn(work, reply));
    const observed = observationMessages(results, feedback);
    work.append({ messages: [textMessage('assistant', replyText(reply)), ...observed] });
    // The model writes again what could not be read.
    if (feedback.length > 0) return { kind: 'continue' };
    const answer = await work.ask({
      messages: [asked, ...observed, textMessage('user', 'Answer from these results.')],
    });
    return { kind: 'end', value: replyText(answer) };
  };
  // #endregion
  return gather;
}
