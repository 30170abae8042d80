/** What no model may see in what a program hands to one: an agent or an LLM tool. Pure. */
import type { JsonObject } from '../base/json.ts';
import { hiddenTexts, holdsHidden } from '../program-text/hidden-values.ts';
import { isHidden } from '../contract/signature.ts';
import { unfitArgumentsText } from '../toolchain/call-texts.ts';
import type { CheckedArguments } from './check-arguments.ts';
import type { Host } from '../run/host.ts';
import type { Run } from '../run/run.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { unstarted } from '../people/wait-for-person.ts';

/** What a program says of its calls. */
export interface CallingProgram {
  /** Whether the call may be ended alone. */
  isSeparate(callId: string): boolean;
  /** Texts under hidden fields of what children gave it so far. */
  hidden(): readonly string[];
}

/** Where a call is made; `program` is set when a program makes it. */
export interface CallingPlace {
  readonly run: Run;
  readonly host: Host;
  readonly program?: CallingProgram;
}

/** What no model may see, though a program may have put it into the arguments. Longest first. */
export function hiddenFrom({ run, program }: CallingPlace): readonly string[] {
  const { head, program: kept } = run.state;
  return hiddenTexts([head.context ?? {}], [...(kept?.hidden ?? []), ...(program?.hidden() ?? [])]);
}

/**
 * Arguments of an agent that fit its schema, unless a program put what is hidden into one that the
 * agent's model reads: then the call is rejected. What stands under a name with `_` its model never reads.
 */
export function withoutHiddenArguments(
  place: CallingPlace,
  spec: ToolSpec,
  checked: CheckedArguments,
): CheckedArguments {
  if (checked.kind === 'ended' || place.program === undefined) return checked;
  const names = shownSecrets(checked.args, hiddenFrom(place));
  if (names.length === 0) return checked;
  const lines = names.map(
    (name) =>
      `${name}: expected no hidden value, got one. Give it under a name that begins with \`_\`, or leave it out.`,
  );
  const text = unfitArgumentsText(spec, lines);
  return { kind: 'ended', end: unstarted('rejected', text, place.host.now()) };
}

function shownSecrets(args: JsonObject, hidden: readonly string[]): readonly string[] {
  if (hidden.length === 0) return [];
  return Object.entries(args)
    .filter(([name, value]) => !isHidden(name) && holdsHidden(value, hidden))
    .map(([name]) => name);
}
