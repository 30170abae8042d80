/** The agent of docs/formats.md whose toolchain is that of examples/toml-calls. */
import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../src/index.ts';

const distance = defineTool({
  name: 'distance',
  description: 'The distance between two towns in km.',
  parameters: z.object({ from: z.string(), to: z.string() }),
  execute: () => 198,
});

/** Writes its calls as TOML. */
export const guide: AgentDefinition = defineAgent({
  name: 'guide',
  mode: 'react',
  model: 'gpt',
  toolchain: 'own:toml',
  tools: [distance],
});
