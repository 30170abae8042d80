/** The warnings about a listing. */
import { nearestName } from '../../core/text/nearest.ts';
import type { McpServerDefinition } from '../../define/definition/mcp-server.ts';
import { fitsPattern } from './tool-name.ts';

/** Warnings of one listing; a server may have a thousand tools. */
const MAX_WARNINGS = 20;

/** A warning about a server, for the events of a run and for the log. */
export interface CatalogueWarning {
  readonly code: string;
  readonly message: string;
}

/** Patterns of `tools` that fit none of the `names`. */
export function patternWarnings(
  server: McpServerDefinition,
  names: readonly string[],
): readonly CatalogueWarning[] {
  const lists = { allow: server.allow ?? [], deny: server.deny ?? [] };
  return Object.entries(lists).flatMap(([list, patterns]) =>
    patterns
      .filter((pattern) => !names.some((name) => fitsPattern(name, pattern)))
      .map((pattern) =>
        warning(server, 'mcp_pattern_unused', `\`${pattern}\` of \`tools.${list}\` fits no tool.`),
      ),
  );
}

/** Overrides of tools that are none of the `names`. */
export function overrideWarnings(
  server: McpServerDefinition,
  names: readonly string[],
): readonly CatalogueWarning[] {
  return Object.keys(server.overrides)
    .filter((tool) => !names.includes(tool))
    .map((tool) => {
      const near = nearestName(tool, names);
      const advice = near === undefined ? 'Remove it.' : `Did you mean \`${near}\`?`;
      const text = `Expected \`overrides.${tool}\` to be a tool of the server, got none. ${advice}`;
      return warning(server, 'mcp_override', text);
    });
}

/** The first of `warnings`, and how many more there are. */
export function bounded(
  server: McpServerDefinition,
  warnings: readonly CatalogueWarning[],
): readonly CatalogueWarning[] {
  if (warnings.length <= MAX_WARNINGS) return warnings;
  const more = warnings.length - MAX_WARNINGS;
  const text = `${more} more warnings; \`everloop mcp ls ${server.name}\` shows all tools.`;
  return [...warnings.slice(0, MAX_WARNINGS), warning(server, 'mcp_warnings', text)];
}

/** A warning about `server`. */
export function warning(
  { name }: Pick<McpServerDefinition, 'name'>,
  code: string,
  text: string,
): CatalogueWarning {
  return { code, message: `MCP server \`${name}\`: ${text}` };
}
