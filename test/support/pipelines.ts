/** Agents for tests of pipelines: small, with models that say what they were given. */
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { TOKENS } from './trees.ts';

/** What a model of a stage replies. */
export type StagePlay =
  string | ((...asked: Parameters<ModelFunction>) => string | Promise<string>);

/** An agent in mode `text` with a priced model of its own; by default it gives `name(input or task)`. */
export function stage(
  name: string,
  play: StagePlay = ({ messages }) => `${name}(${lastText(messages)})`,
  options: Partial<AgentOptions> = {},
): AgentDefinition {
  return defineAgent({
    name,
    mode: 'text',
    prompt: '{{#input}}{{input}}{{/input}}{{^input}}{{task}}{{/input}}',
    model: {
      id: `${name}/m`,
      price: { input: 1, output: 1 },
      model: async (request, io) => {
        const content = typeof play === 'string' ? play : await play(request, io);
        return { content, usage: TOKENS };
      },
    },
    ...options,
  });
}

/** An agent in mode `json` that always gives `value`. */
export function jsonStage(
  name: string,
  signature: string,
  value: object,
  options: Partial<AgentOptions> = {},
): AgentDefinition {
  return stage(name, JSON.stringify(value), {
    mode: 'json',
    signature,
    prompt: 'Do it.',
    ...options,
  });
}

function lastText(messages: Parameters<ModelFunction>[0]['messages']): string {
  const parts = messages.at(-1)?.parts ?? [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
