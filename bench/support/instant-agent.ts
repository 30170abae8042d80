/** An agent whose model and tool answer at once: what is measured is everything else. */
import { defineAgent } from '../../src/activities/define-agent.ts';
import { jsonToolchain } from '../../src/activities/define-text.ts';
import { defineTool } from '../../src/activities/define-tool.ts';
import type { AgentDefinition } from '../../src/activities/definitions.ts';
import type { ModelFunction } from '../../src/core/model/model.ts';

/** The tool's result: 1 KB of text unless told otherwise. */
export const RESULT_TEXT: string = 'r'.repeat(1_024);

const REPLY = '<thinking>next</thinking><action>{"tool": "read", "args": {"part": 10}}</action>';

/** Bytes of a reply of the instant model. */
export const REPLY_BYTES: number = REPLY.length;

/** What can be varied. */
export interface InstantOptions {
  readonly resultBytes?: number;
  readonly local?: boolean;
}

/** An agent that calls its tool in as many iterations as its task says, then answers. */
export function instantAgent(
  name: string,
  { resultBytes = 1_024, local = false }: InstantOptions = {},
): AgentDefinition {
  const model: ModelFunction = async ({ messages, iteration }) => {
    const text = messages
      .flatMap(({ parts }) => parts)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .find((candidate) => candidate.includes('<task>'));
    const turns = Number(/<task>\s*(\d+)/.exec(text ?? '')?.[1] ?? 0);
    return {
      content: iteration <= turns ? REPLY : '<answer>done</answer>',
      usage: { inputTokens: 100, outputTokens: 10 },
    };
  };
  const result = 'r'.repeat(resultBytes);
  const read = defineTool({
    name: 'read',
    description: 'Reads a part.',
    parameters: { type: 'object', properties: { part: { type: 'integer' } }, required: ['part'] },
    effect: 'read',
    local,
    ...(local ? { timeoutMs: 2_000 } : {}),
    execute: () => result,
  });
  return defineAgent({ name, model, tools: [read], toolchain: jsonToolchain() });
}
