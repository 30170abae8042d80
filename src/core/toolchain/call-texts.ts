/** The texts that a model reads for calls that did not succeed, one function for each cause. */
import type { ToolSpec } from '../contract/spec.ts';
import type { JsonObject } from '../base/json.ts';
import { clip, cut, firstBytes } from '../text/cut.ts';
import { spanText } from '../text/span-text.ts';
import { nearestName } from '../text/nearest.ts';
import { fieldLines } from './catalogue.ts';

/** Characters of a wrong name that are quoted. */
const maxQuotedName = 80;

/** Names that are listed after a call of an unknown tool. */
const maxNames = 20;

/** UTF-8 bytes of an error message that a model reads. */
const maxMessageBytes = 2000;

/** Help for an unknown name: the list of names, or how to search. */
export type ToolHint = 'names' | 'search';

/** The agent has no tool of this name. */
export function unknownToolText(
  name: string,
  tools: readonly Pick<ToolSpec, 'name'>[],
  hint: ToolHint = 'names',
): string {
  const names = tools.map((tool) => tool.name);
  const nearest = nearestName(name, names);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const end =
    hint === 'search'
      ? 'Find tools with tool_registry_search.'
      : `Tools: ${names.slice(0, maxNames).join(', ')}.`;
  return `Error: unknown tool "${clip(name, maxQuotedName)}".${meant} ${end}`;
}

/** A person denied the call, or the deadline has passed; exactly one of the two is set. */
export function deniedText(
  decision: { readonly reason?: string } | { readonly timedOutAfterMs: number },
): string {
  if ('timedOutAfterMs' in decision) {
    return `Denied by a person: ${undecidedReason(decision.timedOutAfterMs)}.`;
  }
  const reason = decision.reason?.trim() ?? '';
  return `Denied by a person: ${reason === '' ? 'no reason given' : reason}.`;
}

/** Why a call is denied after the deadline: `nobody decided within 24 h`. */
export function undecidedReason(timeoutMs: number): string {
  return `nobody decided within ${spanText(timeoutMs)}`;
}

/** The text above the result of a call whose arguments a person changed. */
export function editedText(args: JsonObject, tool?: string): string {
  const whose = tool === undefined ? '' : ` of ${tool}`;
  return `A person changed the arguments${whose} to ${cut(JSON.stringify(args), maxMessageBytes)}.`;
}

/** The text above the result of a call that the model repeats. */
export function repeatedCallText(count: number, endsAt: number | undefined): string {
  const end = endsAt === undefined ? '' : ` At ${endsAt} the run ends.`;
  return `Warning: this call was made in ${count} replies in a row with the same arguments, and each time the result was the same. Do not make it again: use what you know, or do something else.${end}`;
}

/** A limit with `onReach: 'refuse'` leaves no room. */
export function refusedText(key: string, max: number): string {
  return `Error: not run, the limit of ${max} for ${key} is reached.`;
}

/** A run that only repeats an earlier one has no recorded result for the call. */
export function replayOnlyText(tool: string): string {
  return `Error: ${tool} was not run. This run tries an earlier one again and may only read: a call that changes something gives a result only if the earlier run made it with the same arguments. Go on without it, or answer with what you would do.`;
}

/** Arguments that do not fit; `lines` come from `problemLines`. */
export function unfitArgumentsText(tool: ToolSpec, lines: readonly string[]): string {
  const fields = fieldLines(tool.parameters);
  return [
    `Error: the arguments do not fit ${tool.name}.`,
    ...lines.map((line) => `- ${line}`),
    ...(fields === '' ? ['Parameters: none'] : ['Parameters:', fields]),
  ].join('\n');
}

/** A tool threw: at most 2,000 bytes of its message, never a stack. */
export function toolErrorText(message: string): string {
  return `Error: ${firstBytes(message, maxMessageBytes)}`;
}

/** The run inside a tool, of a model or an agent, ended without an answer. */
export function unfinishedText(tool: string, reason: string, cause: string): string {
  return toolErrorText(`${tool} did not finish: ${reason}, ${cause}`);
}

/** A tool took longer than allowed. */
export function toolTimeoutText(tool: string, timeoutMs: number): string {
  return `Error: ${tool} did not finish within ${timeoutMs / 1000} s.`;
}

/** A `once` tool was interrupted and may have taken effect. */
export function unknownOutcomeText(tool: string): string {
  return `Error: it is unknown whether ${tool} took effect. Find out before you call it again.`;
}

/** The wait for a worker that has `what`, such as `tool refund`, is over: the call was not begun. */
export function nowhereText(what: string, agent?: string): string {
  if (agent === undefined) return `Error: no worker has ${what}.`;
  const whose = what === `agent ${agent}` ? '' : ` of agent ${agent}`;
  return `Error: no worker has the ${what}${whose}.`;
}

/** A tool returned something that is not JSON. */
export function notJsonText(tool: string, path: string, type: string): string {
  return `Error: the result of ${tool} is not JSON: ${path} is ${type}.`;
}

/** No thread or process of the worker became free for an isolated tool. */
export function busyText(tool: string, waitMs: number): string {
  return `Error: ${tool} was not run: its worker was busy with other calls for ${waitMs / 1000} s. Call it again later.`;
}

/** A child run ended without success; at most 2,000 bytes of its message. */
export function childFailureText(
  agent: string,
  status: string,
  reason: string,
  message: string | undefined,
): string {
  const details =
    message === undefined || message === '' ? '' : ` ${firstBytes(message, maxMessageBytes)}`;
  return `Error: ${agent} did not finish: ${status}, ${reason}.${details}`;
}

/** The call was stopped while it ran. */
export const canceledCallText = 'Error: canceled before it finished.';

/** A call of a tool that the request left out. */
export function notOfferedText(tool: string): string {
  return toolErrorText(
    `${tool} was not offered, so nothing was run; use only the tools that are offered now`,
  );
}
