/**
 * Approvals that hold for later calls of a run.
 *
 * I1  A call has the approval of its whole tool, or of arguments that are equal to its own: they are
 *     compared whole, since a model writes them.
 * I2  They are bounded in number and bytes, so a run may live for years with them.
 * I3  They hold in one run: neither in its children nor in its forks.
 */
import { defined } from '../base/defined.ts';
import { byteSize, canonicalJson, type Json, type JsonObject } from '../base/json.ts';
import type { ApprovalItem, ApprovalScope, StandingApproval } from '../contract/pending.ts';
import type { Run } from '../run/run.ts';

/** The most approvals that hold at once, their bytes of JSON, and those of the arguments of one. */
const MAX_STANDING = 100;
const MAX_STANDING_BYTES = 65_536;
const MAX_ARGUMENTS_BYTES = 4_096;

/** The approval that holds for a call; undefined: a person must be asked. */
export function standingFor(
  standing: readonly StandingApproval[],
  { tool, args }: { readonly tool: string; readonly args: JsonObject },
): StandingApproval | undefined {
  return standing.find(
    (one) =>
      one.tool === tool &&
      (one.args === undefined || canonicalJson(one.args) === canonicalJson(args)),
  );
}

/** The approval of `item` as it holds for later calls. */
export function standingOf(
  { callId: id, tool, args }: ApprovalItem,
  scope: ApprovalScope,
  { since, by }: Pick<StandingApproval, 'since' | 'by'>,
): StandingApproval {
  return { id, tool, since, ...defined({ args: scope === 'arguments' ? args : undefined, by }) };
}

/** Why `added` cannot hold beside `standing`; undefined: it can. */
export function standingProblem(
  standing: readonly StandingApproval[],
  added: StandingApproval,
): string | undefined {
  const own = added.args === undefined ? 0 : byteSize(added.args);
  if (own > MAX_ARGUMENTS_BYTES) {
    return `the arguments have ${own} bytes, at most ${MAX_ARGUMENTS_BYTES} are remembered: approve this call only, or the tool`;
  }
  const all = [...standing, added];
  const bytes = byteSize(all as unknown as Json);
  if (all.length <= MAX_STANDING && bytes <= MAX_STANDING_BYTES) return undefined;
  return `the run remembers at most ${MAX_STANDING} approvals of ${MAX_STANDING_BYTES} bytes: revoke some, or approve this call only`;
}

/** Why no approval can be revoked under `id`, which any client may have sent; null: it can, or none is to be. */
export function revokeProblem(
  standing: readonly StandingApproval[] = [],
  id: unknown,
): string | null {
  if (id === undefined || standing.some((one) => one.id === id)) return null;
  const known = standing.length === 0 ? 'there is none' : standing.map((one) => one.id).join(', ');
  const got = typeof id === 'string' ? `\`${id.slice(0, 80)}\`` : typeof id;
  return `Expected \`revoke\` to be the id of a standing approval, got ${got}. Choose one of: ${known}.`;
}

/** Ends the approval with `id`, if it still holds. */
export function revokeApproval(run: Run, id: string | undefined, by?: string): void {
  const { standing = [] } = run.state;
  const found = standing.find((one) => one.id === id);
  if (found === undefined) return;
  run.record({ type: 'agent:approval:revoked', callId: found.id, ...defined({ by }) });
}
