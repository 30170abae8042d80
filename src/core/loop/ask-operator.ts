/**
 * A run whose models have all refused, and that may ask people: it waits for its operator, within its
 * limits, instead of its end.
 */
import { isJsonObject } from '../base/json.ts';
import { isModelId } from '../base/ids.ts';
import type { Tries } from '../ask/asking.ts';
import { askOne, type PersonQuestion } from '../children/spawn.ts';
import type { Reply } from '../contract/model.ts';
import { measuresCost } from '../limits/usage-limits.ts';
import { leaveOf, leaving, type Leave } from '../run/ending.ts';
import type { Iteration } from '../run/iteration.ts';
import type { Run } from '../run/run.ts';
import { cut } from '../text/cut.ts';
import { foldedLabel } from '../text/folded-label.ts';

const TRY_AGAIN = 'Try again';
const END = 'End the run';

/** UTF-8 bytes of the provider's words in the question. */
const MAX_CAUSE_BYTES = 1_024;

/** UTF-8 bytes of an answer that the next question repeats. */
const MAX_SHOWN_BYTES = 200;

/** The ends of a call of which another model, another account or another time may be the mend. */
const REFUSALS: readonly string[] = [
  'model_error',
  'model_auth',
  'model_request_refused',
  'model_refused',
  'context_too_long',
];

/**
 * What `ask` gives, which is called again as often as a person says so. `isFirst`: it is the first thing
 * in the iteration, so that another link can start it again and finds the question waiting.
 */
export async function askWithOperator(
  iteration: Iteration,
  { tries, isFirst }: { readonly tries: Tries; readonly isFirst: boolean },
  ask: () => Promise<Reply>,
): Promise<Reply> {
  const { run } = iteration;
  const callId = `${run.state.iteration}.refused`;
  let refusal = refusalAsked(run, callId);
  // Attempts distinguish the chunks of an iteration, also over links.
  tries.count = Math.max(tries.count, refusal?.attempts ?? 0);
  for (;;) {
    if (refusal === undefined) {
      try {
        return await ask();
      } catch (error) {
        refusal = refusalIn(error, tries.count);
        if (refusal === undefined) throw error;
      }
    }
    const question = questionOf(run, refusal);
    const reply = await askOne(iteration, { callId, question, isFirst });
    const value = reply.kind === 'answered' ? reply.value : END;
    const said = typeof value === 'string' ? value.trim() : END;
    const { code, cause } = refusal;
    if (foldedLabel(said) === foldedLabel(END)) throw leaving({ kind: 'failed', code, cause });
    if (foldedLabel(said) !== foldedLabel(TRY_AGAIN)) {
      const problem = modelProblem(run, said);
      if (problem !== undefined) {
        refusal = { ...refusal, problem };
        continue;
      }
      run.record({ type: 'agent:model_changed', model: said });
    }
    refusal = undefined;
  }
}

/** Why no model answered, and after how many attempts of the iteration. */
interface Refusal extends Pick<Extract<Leave, { readonly kind: 'failed' }>, 'code' | 'cause'> {
  readonly attempts: number;
  /** Why the last answer was no model; absent: there was none. */
  readonly problem?: string;
}

/** Any client may have answered: the text becomes an id in events, keys and orders of calls. */
function modelProblem({ state }: Run, said: string): string | undefined {
  const { models, toolModels = [] } = state.head.spec;
  if ([...models, ...toolModels].some(({ id }) => id === said)) return undefined;
  const got = JSON.stringify(cut(said, MAX_SHOWN_BYTES));
  if (!isModelId(said))
    return `Expected one of the options or the id of a model entry, got ${got}.`;
  const budgets = [...state.limits, ...(state.leases ?? []).map(({ limit }) => limit)];
  if (!budgets.some((limit) => measuresCost(limit))) return undefined;
  return `Expected a model whose price this run knows, since it has a limit on cost, got ${got}. Lift the limit, or fork the run with that model.`;
}

function refusalIn(error: unknown, attempts: number): Refusal | undefined {
  const left = leaveOf(error);
  if (left?.kind !== 'failed' || !REFUSALS.includes(left.code)) return undefined;
  return { code: left.code, cause: left.cause, attempts };
}

/** What an earlier link has asked about. */
function refusalAsked({ state }: Run, callId: string): Refusal | undefined {
  const item = (state.pending ?? []).find((one) => one.callId === callId);
  if (item?.kind !== 'question') return undefined;
  const { details = null } = item;
  const { code, cause, attempts } = isJsonObject(details) ? details : {};
  return {
    code: typeof code === 'string' ? code : '',
    cause: typeof cause === 'string' ? cause : '',
    attempts: typeof attempts === 'number' ? attempts : 0,
  };
}

function questionOf({ state }: Run, refusal: Refusal): PersonQuestion {
  const { code, cause, attempts, problem } = refusal;
  const models = state.head.spec.models.map(({ id }) => id);
  const others = models.length > 1 ? models : [];
  return {
    question: `${problem === undefined ? '' : `${problem}\n`}No model answered: ${cut(cause, MAX_CAUSE_BYTES)}\nTry again, end the run, or write the id of another model, which is asked first from now on.`,
    options: [TRY_AGAIN, END, ...others],
    free: true,
    details: { code, cause: cut(cause, MAX_CAUSE_BYTES), attempts },
  };
}
