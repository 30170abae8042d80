/** The arguments of a call that no tool activity runs: checked, and without hidden values. */
import type { JsonObject } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import { unstarted, type CallEnd, type CallOutcome } from '../contract/outcome.ts';
import { isHidden } from '../contract/signature.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { hiddenTexts, holdsHidden } from '../program-text/hidden-values.ts';
import type { Run } from '../run/run.ts';
import { canceledCallText, toolErrorText, unfitArgumentsText } from '../toolchain/call-texts.ts';
import type { CallSite } from './call-site.ts';

/** The arguments as they arrive, or the end of a call that does not begin. */
export type CheckedArguments =
  | { readonly kind: 'fits'; readonly args: JsonObject }
  | { readonly kind: 'ended'; readonly end: CallEnd };

/**
 * Checks the arguments against the schema on the worker, with the same error texts as for any tool.
 */
export async function checkArguments(
  run: Run,
  { tool, args }: ToolCall,
): Promise<CheckedArguments> {
  const ended = (outcome: CallOutcome, text: string): CheckedArguments => ({
    kind: 'ended',
    end: unstarted(outcome, text, run.host.now()),
  });
  const { name: agent } = run.state.head.spec;
  const checked = await run.host.checkLiterals({ agent, calls: [{ tool, args }] });
  if (checked.kind === 'aborted') return ended('canceled', canceledCallText);
  if (checked.kind === 'failed') return ended('error', toolErrorText(checked.message));
  const [verdict] = checked.verdicts;
  if (verdict?.kind !== 'fits') return ended('rejected', verdict?.text ?? '');
  if (run.mustLeave()) return ended('canceled', canceledCallText);
  return { kind: 'fits', args: verdict.args };
}

/**
 * The texts that no model may see, even if a program put them into the arguments; longest first.
 */
export function hiddenFrom({ run, program }: Pick<CallSite, 'run' | 'program'>): readonly string[] {
  const { head, program: kept } = run.state;
  return hiddenTexts([head.context ?? {}], [...(kept?.hidden ?? []), ...(program?.hidden() ?? [])]);
}

/**
 * Arguments of an agent that fit its schema. The call is rejected when a program put hidden text
 * into one that the agent's model reads; it never reads those whose names begin with `_`.
 */
export function withoutHiddenArguments(
  context: CallSite,
  spec: ToolSpec,
  checked: CheckedArguments,
): CheckedArguments {
  if (checked.kind === 'ended' || context.program === undefined) return checked;
  const names = shownSecrets(checked.args, hiddenFrom(context));
  if (names.length === 0) return checked;
  const lines = names.map(
    (name) =>
      `${name}: expected no hidden value, got one. Give it under a name that begins with \`_\`, or leave it out.`,
  );
  const text = unfitArgumentsText(spec, lines);
  return { kind: 'ended', end: unstarted('rejected', text, context.run.host.now()) };
}

function shownSecrets(args: JsonObject, hidden: readonly string[]): readonly string[] {
  if (hidden.length === 0) return [];
  return Object.entries(args)
    .filter(([name, value]) => !isHidden(name) && holdsHidden(value, hidden))
    .map(([name]) => name);
}
