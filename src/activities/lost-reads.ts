/** Reads that ran beside a reply which is thrown away. */
import { ApplicationFailure } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import type { BesideRead } from '../core/contract/outcome.ts';
import type { ReadsBeside } from '../tools/reads-beside.ts';

/** What ran beside a reply that is thrown away. */
export function lostReads(beside: ReadsBeside): { readonly lostReads?: readonly BesideRead[] } {
  const lost = beside.stop();
  return defined({ lostReads: lost.length === 0 ? undefined : lost });
}

/** The failure of a call, with what ran beside its reply. */
export function withLostReads(failure: Error, beside: ReadsBeside): Error {
  const lost = lostReads(beside);
  if (lost.lostReads === undefined || !(failure instanceof ApplicationFailure)) return failure;
  const [first = {}, ...others] = failure.details ?? [];
  const details = [{ ...(first as object), ...lost }, ...others];
  const { message, type, nonRetryable, nextRetryDelay, cause } = failure;
  return ApplicationFailure.create({
    message,
    ...defined({ type: type ?? undefined, nonRetryable: nonRetryable ?? undefined }),
    ...defined({ nextRetryDelay: nextRetryDelay ?? undefined, cause }),
    details,
  });
}
