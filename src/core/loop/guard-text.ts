/**
 * Guards: what a person writes is looked at before a model sees it. One call of the worker, recorded
 * once; until it ends, nothing else of the run begins.
 */
import { defined } from '../base/defined.ts';
import { textOf } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import type { GuardVerdict } from '../contract/judgement.ts';
import type { Ending } from '../run/ending.ts';
import type { Run } from '../run/run.ts';
import type { Carried, RunState } from '../run/run-state.ts';
import { guardEvents } from '../run/turn-record.ts';

/** Whether the guards of the run have yet to see its task. */
export function mustGuard({ head, guarded }: RunState): boolean {
  return guarded !== true && head.spec.guards !== undefined;
}

/**
 * Has the guards look at what the person wrote: the task, or the message that began the turn of a
 * conversation. The ending if they block it; what they write replaces it.
 */
export function guardTask(run: Run): Promise<Ending | null> {
  const { turns, scratchpad, head } = run.state;
  const { task } = head;
  const turn = turns?.recent.at(-1);
  // Further messages may follow it already.
  const said = scratchpad.find(({ index }) => index === turn?.entries);
  if (turn !== undefined && turn.isTask !== true && said !== undefined) {
    const [message] = said.messages;
    return guardText(run, message === undefined ? '' : textOf(message), (verdict) => {
      const text = textAfter(verdict, true);
      const shown = text === null ? said : withText(said, text);
      return text === null
        ? {}
        : { scratchpad: scratchpad.map((entry) => (entry === said ? shown : entry)) };
    });
  }
  return guardText(run, task.text, (verdict) => {
    const text = textAfter(verdict, turns !== undefined);
    return { guarded: text === null ? task : { ...task, text } };
  });
}

/** What models see instead, in this turn or a later one; null: what was written. */
function textAfter(verdict: GuardVerdict, hasLaterTurns: boolean): string | null {
  if (verdict.kind === 'rewritten') return verdict.text;
  return verdict.kind === 'blocked' && hasLaterTurns ? '[This message was blocked.]' : null;
}

/** The entry of a message, whose text is now `text`; media stay. */
function withText(entry: Entry, text: string): Entry {
  const [first, ...others] = entry.messages;
  if (first === undefined) return entry;
  const media = first.parts.filter(({ type }) => type === 'media');
  const parts = [{ type: 'text' as const, text }, ...media];
  return { ...entry, messages: [{ ...first, parts }, ...others] };
}

/**
 * Has the guards of the run look at `text`, outside of any iteration; the ending if they block it, and
 * null else, also when a cancel or an input came first: then they have not decided, and are asked again.
 * `carry` puts the text that models may see into the state.
 */
async function guardText(
  run: Run,
  text: string,
  carry: (verdict: GuardVerdict) => Carried,
): Promise<Ending | null> {
  const { runId, agentPath, iteration, head, conversation, tenant, by } = run.state;
  const { name: agent, guards = [] } = head.spec;
  const begunAt = run.host.now();
  const outcome = await run.host.judgeAnswer({
    agent,
    runId,
    ...defined({ conversation, tenant, by: by ?? undefined }),
    agentPath,
    iteration,
    validators: [],
    answers: [],
    sections: [],
    guarded: { text, guards },
  });
  if (outcome.kind === 'aborted') return null;
  if (outcome.kind === 'failed') {
    return { kind: 'error', code: 'validator_failed', cause: outcome.message };
  }
  const { guarded: verdict = { kind: 'passed' } } = outcome.result;
  const checked = { ...outcome.result, durationMs: run.host.now() - begunAt };
  for (const event of guardEvents(verdict, checked, text)) {
    run.record(event, event.type === 'agent:guarded' ? carry(verdict) : {});
  }
  if (verdict.kind !== 'blocked') return null;
  return { kind: 'error', code: 'blocked', cause: verdict.reason };
}
