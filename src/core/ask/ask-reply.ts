/**
 * Asks for the reply of an iteration, with the agent's conversation or a request of a custom loop.
 */
import { defined } from '../base/defined.ts';
import { byteSize, type Json } from '../base/json.ts';
import { UsageError } from '../base/usage-error.ts';
import type { OwnRequest } from '../contract/host-order.ts';
import type { Reply } from '../contract/model.ts';
import { leaving } from '../run/ending.ts';
import type { Iteration } from '../run/iteration.ts';
import { askModels, isUnanswered, type Unanswered } from './ask-model.ts';
import { askedModels, type Tries } from './asking.ts';
import { compactByForce } from './run-compaction.ts';

/** Bytes of a request of a custom loop: history contains all of it. */
const MAX_REQUEST_BYTES = 1_000_000;

/** What a loop asks with. */
export interface ReplyOptions {
  /** A request of its own. */
  readonly own?: OwnRequest | undefined;
  /** True: reads may run beside the reply. */
  readonly reads?: true;
}

/**
 * Asks for the reply. A request that is too long is shortened once in an iteration; if it cannot be, the
 * models that were not asked get it as it is.
 */
export function askForReply(
  iteration: Iteration,
  tries: Tries,
  options: ReplyOptions = {},
): Promise<Reply> {
  if (options.own !== undefined) checkRequest(options.own);
  const { state } = iteration.run;
  const named = options.own?.models ?? state.head.spec.models.map(({ id }) => id);
  return askThese(iteration, tries, options, askedModels(state, named));
}

function askThese(
  iteration: Iteration,
  tries: Tries,
  options: ReplyOptions,
  models: readonly string[],
): Promise<Reply> {
  const { own, reads } = options;
  const { mark } = iteration.run.state;
  const messages = (isAlone(own) ? 0 : mark.length) + (own?.messages.length ?? 0);
  const asking = { purpose: 'reply', models, messages, own, tries, ...defined({ reads }) } as const;
  return askModels(iteration, asking).then((end) =>
    isUnanswered(end) ? askShorter(iteration, tries, options, end) : end,
  );
}

/** Asks once more after a forced compaction, if the request was too long and can be shortened. */
async function askShorter(
  iteration: Iteration,
  tries: Tries,
  options: ReplyOptions,
  { code, message, rest = [] }: Unanswered,
): Promise<Reply> {
  const mayCompact = code === 'context_too_long' && !isAlone(options.own) && !tries.isForced;
  tries.isForced ||= mayCompact;
  if (mayCompact && (await compactByForce(iteration, tries))) {
    return askForReply(iteration, tries, options);
  }
  if (rest.length > 0) return askThese(iteration, tries, options, rest);
  throw leaving({ kind: 'failed', code, cause: message });
}

/** Whether the model gets the request without the conversation. */
function isAlone(own: OwnRequest | undefined): boolean {
  return own !== undefined && own.conversation !== true;
}

function checkRequest({ messages, models }: OwnRequest): void {
  const refuse = (expected: string, got: string): UsageError =>
    new UsageError('own_request', `Expected ${expected}, got ${got}. Change it.`);
  if (messages.length === 0) throw refuse('a request with messages', 'none');
  if (models?.length === 0)
    throw refuse('a request with models, or with those of the agent', 'none');
  const bytes = byteSize(messages as unknown as Json);
  if (bytes > MAX_REQUEST_BYTES) {
    throw refuse(`a request of at most ${MAX_REQUEST_BYTES} bytes`, `${bytes}`);
  }
}
