/** An agent whose model and tool answer at once, so that a benchmark measures everything else. */
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { jsonToolchain } from '../../src/define/agent/reply-layout.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction, ModelReply, ModelRequest } from '../../src/core/contract/model.ts';

/** A part has two digits, and is not that of the iteration before: equal calls end a run. */
function partOf(iteration: number): number {
  return 10 + (iteration % 90);
}

function replyOf(part: number): string {
  return `<thinking>next</thinking><action>{"tool": "read", "args": {"part": ${part}}}</action>`;
}

/** Bytes of a reply of the instant model. */
export const REPLY_BYTES: number = replyOf(10).length;

/** Options of the instant agent. */
export interface InstantOptions {
  /** Default `react`. */
  readonly mode?: 'react' | 'chat';
  readonly resultBytes?: number;
  /** Default false: a regular activity for each call. */
  readonly local?: boolean | 'auto';
  /** Awaited before each reply; default: nothing. */
  readonly beforeReply?: (request: ModelRequest) => Promise<void>;
}

/** An agent that calls its tool in as many iterations as its task says, then answers. */
export function instantAgent(
  name: string,
  { mode = 'react', resultBytes = 1_024, local = false, beforeReply }: InstantOptions = {},
): AgentDefinition {
  const turns = new Map<string, number>();
  const model: ModelFunction = async (request) => {
    await beforeReply?.(request);
    const last = turns.get(request.runId) ?? turnsOf(request);
    turns.set(request.runId, last);
    return {
      ...(request.iteration <= last ? callIn(mode, partOf(request.iteration)) : answerIn(mode)),
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
    ...(local === true ? { timeoutMs: 2_000 } : {}),
    execute: () => result,
  });
  return mode === 'chat'
    ? defineAgent({ name, mode, model, tools: [read] })
    : defineAgent({ name, mode, model, tools: [read], toolchain: jsonToolchain() });
}

/** The number in the task: inside tags in one mode, a message of its own in the other. */
function turnsOf({ messages }: ModelRequest): number {
  for (const { parts } of messages) {
    for (const part of parts) {
      const found = part.type === 'text' ? /^(?:[^]*<task>)?\s*(\d+)\b/.exec(part.text) : null;
      if (found !== null) return Number(found[1]);
    }
  }
  throw new Error('Expected a task that is a number, got none.');
}

function callIn(mode: 'react' | 'chat', part: number): ModelReply {
  return mode === 'chat'
    ? { content: 'next', toolCalls: [{ id: 'call-10', name: 'read', args: { part } }] }
    : { content: replyOf(part) };
}

function answerIn(mode: 'react' | 'chat'): ModelReply {
  return { content: mode === 'chat' ? 'done' : '<answer>done</answer>' };
}
