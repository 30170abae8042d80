/** What a reply says of tools that its provider ran, and of the sources that it names. */
import { defined } from '../base/defined.ts';
import type { SourcePart } from '../base/message.ts';
import type { EventBody } from '../contract/events.ts';
import type { ModelOutcome } from '../contract/host-outcome.ts';
import type { HostedTool } from '../contract/model.ts';
import { hostedCalls } from '../model/cost.ts';
import type { Numbers } from '../contract/stats.ts';
import type { StepSource } from '../contract/step.ts';
import { withSources } from '../model/sources.ts';

/** The fields of an event about a reply. */
type HostedFields = Pick<
  Extract<EventBody, { type: 'agent:model_call:after' }>,
  'hosted' | 'unpricedCalls' | 'sources'
>;

/** Sources of one reply that its event names. */
const MAX_SOURCES = 50;

/** Characters of an address and of a title: both come from pages of others. */
const MAX_URL = 2_048;
const MAX_TITLE = 200;

/** Of a hosted tool that the agent does not have; keys of statistics end with names. */
const UNKNOWN = '(unknown)';

/** What the event of a model call says of its reply; nothing where there is nothing. */
export function hostedFields(
  outcome: ModelOutcome,
  tools: readonly HostedTool[] = [],
): HostedFields {
  if (outcome.kind !== 'reply') return {};
  const { reply } = outcome;
  const calls = hostedCalls(reply);
  const sources = withSources(
    [],
    reply.parts.flatMap((part) => (part.type === 'source' ? sourceOf(part) : [])),
    MAX_SOURCES,
  );
  const hosted: Record<string, number> = {};
  for (const tool of calls) {
    const name = tools.some((one) => one.name === tool) ? tool : UNKNOWN;
    hosted[name] = (hosted[name] ?? 0) + 1;
  }
  return defined({
    hosted: calls.length === 0 ? undefined : (hosted as Numbers),
    unpricedCalls: reply.unpricedCalls,
    sources: sources.length === 0 ? undefined : sources,
  });
}

/** A source without the data of its provider; one whose address is too long is none. */
function sourceOf({ url, title, filename, mediaType }: SourcePart): readonly StepSource[] {
  if (url !== undefined && url.length > MAX_URL) return [];
  const short = (text: string | undefined): string | undefined => text?.slice(0, MAX_TITLE);
  return [
    defined({ url, title: short(title), filename: short(filename), mediaType: short(mediaType) }),
  ];
}
