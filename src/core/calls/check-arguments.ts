/** The check of a call's arguments for calls that no tool activity runs. Asynchronous, like `work.ts`. */
import type { JsonObject } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import { canceledCallText, toolErrorText } from '../toolchain/call-texts.ts';
import type { CallEnd } from '../contract/call-end.ts';
import type { Host } from '../run/host.ts';
import { isInterrupted, isStopped, type Run } from '../run/run.ts';
import { unstarted } from '../people/wait-for-person.ts';

/** The arguments as they arrive, or the end of a call that does not begin. */
export type CheckedArguments =
  | { readonly kind: 'fits'; readonly args: JsonObject }
  | { readonly kind: 'ended'; readonly end: CallEnd };

/** Checks the arguments against the schema on the worker, in the words of any tool. */
export async function checkArguments(
  run: Run,
  host: Host,
  { tool, args }: ToolCall,
): Promise<CheckedArguments> {
  const ended = (outcome: CallEnd['result']['outcome'], text: string): CheckedArguments => ({
    kind: 'ended',
    end: unstarted(outcome, text, host.now()),
  });
  const { name: agent } = run.state.head.spec;
  const checked = await host.checkLiterals({ agent, calls: [{ tool, args }] });
  if (checked.kind === 'aborted') return ended('canceled', canceledCallText);
  if (checked.kind === 'failed') return ended('error', toolErrorText(checked.message));
  const [verdict] = checked.verdicts;
  if (verdict?.kind !== 'fits') return ended('rejected', verdict?.text ?? '');
  if (isStopped(run, host) || isInterrupted(host)) return ended('canceled', canceledCallText);
  return { kind: 'fits', args: verdict.args };
}
