/** A specification with the defaults of a react agent, for tests that look at one thing. */
import type { AgentSpec, ToolSpec } from '../../../src/core/contract/spec.ts';

/** A tool that takes one text, `query`, unless told otherwise. */
export function toolSpec(fields: Partial<ToolSpec> = {}): ToolSpec {
  return {
    name: 'search',
    description: 'Find pages.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string' } },
      required: ['query'],
    },
    effect: 'idempotent',
    local: false,
    timeoutMs: 60_000,
    retry: { attempts: 3, initialMs: 1000, factor: 2 },
    sequential: false,
    maxResultBytes: 65_536,
    ...fields,
  };
}

/** An agent in mode `react` with XML, YAML, a text answer and one tool. */
export function reactSpec(fields: Partial<AgentSpec> = {}): AgentSpec {
  return {
    v: 1,
    name: 'tester',
    mode: 'react',
    instructions: null,
    rules: null,
    models: [{ id: 'm' }],
    tools: [toolSpec()],
    toolchain: { kind: 'yaml', section: 'action' },
    answer: { kind: 'text', section: 'answer', validators: [] },
    react: {
      format: { kind: 'xml', strict: false },
      thinking: { name: 'thinking', kind: 'text' },
      sections: [],
      precedence: 'action',
      onUnparsed: 'retry',
      markers: ['Begin.', 'Continue.'],
    },
    examples: [],
    parallel: true,
    maxCallsPerTurn: 64,
    limits: [],
    timeZone: 'UTC',
    queues: {},
    ...fields,
  };
}

/** An agent in mode `chat` with native calls and one tool. */
export function chatSpec(fields: Partial<AgentSpec> = {}): AgentSpec {
  return reactSpec({
    mode: 'chat',
    toolchain: { kind: 'native', section: 'action' },
    react: null,
    ...fields,
  });
}
