/** Agents that name a format, section, toolchain or answer of an author that their worker lacks. */
import { missingPart } from '../core/extension/own-parts.ts';
import { IN_PROCESS, type OwnKind } from '../core/extension/store.ts';
import { nearestName } from '../core/text/nearest.ts';
import type { AgentDefinition, Registry } from '../define/definition/definitions.ts';

/** Names that a message lists. */
const MAX_LISTED_NAMES = 20;

/** What an agent needs and its worker lacks. */
export interface MissingParts {
  /** In words, such as `format own:toml`. */
  readonly what: string;
  readonly message: string;
}

/** The first own part of `definition` that the worker lacks; undefined if it has them all. */
export function missingParts(
  { extensions = IN_PROCESS }: Pick<Registry, 'extensions'>,
  { name: agent, spec }: AgentDefinition,
): MissingParts | undefined {
  const what = missingPart(spec, extensions);
  if (what === undefined) return undefined;
  const [noun = '', name = ''] = what.split(' ');
  const names = extensions.names(`${noun}s` as OwnKind).map((it) => `own:${it}`);
  const near = nearestName(name, names);
  const has = names.length === 0 ? 'none' : names.slice(0, MAX_LISTED_NAMES).join(', ');
  const advice = near === undefined ? '' : ` Did you mean \`${near}\`?`;
  const message = `Expected ${noun} \`${name}\` of agent \`${agent}\` to be added by \`extend\` in the module of \`workflowsPath\`, which has ${has}.${advice}`;
  return { what, message };
}

/** A line for each agent whose runs will wait for another worker, for the log of a worker. */
export function missingPartWarnings(registry: Registry): readonly string[] {
  return [...registry.agents.values()].flatMap(({ definition }) => {
    const missing = missingParts(registry, definition);
    return missing === undefined ? [] : [`${missing.message} Its runs wait for another worker.`];
  });
}
