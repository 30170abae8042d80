/**
 * The module of 09-toml-calls: it adds the toolchain `own:toml`. It runs in the workflow sandbox, so it
 * imports only `everloop/workflow` and pure modules.
 */
import { parse, stringify } from 'smol-toml';
import {
  extend,
  payloadOf,
  type Json,
  type OwnCall,
  type OwnToolchain,
} from '../../src/workflow.ts';

/** The agent workflow as it is; a module of workflows has to export it. */
export { agent } from '../../src/workflow.ts';

// region toml-calls
/** Calls as TOML: a table `call` for each. */
export const toml: OwnToolchain = {
  guidance: ({ parallel }) => `Call tools with TOML, each in a table of its own:

[[call]]
tool = "tool_name"
args = { name = "value" }

Write dates in quotes. ${parallel ? 'Write several tables for calls that do not depend on each other.' : ''}`,
  read: (content) => {
    // Models often put it into a code block.
    const payload = payloadOf(content);
    if (payload.kind === 'absent') return [];
    if (payload.kind === 'problem') throw new Error(payload.problem.message);
    const { call } = parse(payload.text);
    if (!Array.isArray(call)) throw new Error('expected a table [[call]] for each call');
    // Everloop checks that each has a tool and arguments.
    return call as unknown as readonly OwnCall[];
  },
  write: (value: Json) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? stringify(value)
      : JSON.stringify(value),
};

extend({ toolchains: { toml } });
// endregion
