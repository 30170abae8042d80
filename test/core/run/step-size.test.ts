import { describe, expect, it } from 'vitest';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { fitEnding, MAX_STEP_BYTES } from '../../../src/core/run/step-size.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { byteSize, type Json } from '../../../src/core/base/json.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { bodiesOf } from '../../support/runs.ts';

const ROWS: readonly {
  readonly mode: NonNullable<AgentOptions['mode']>;
  readonly signature?: string;
  readonly reply: (text: string) => string;
}[] = [
  { mode: 'react', reply: (text) => `<answer>${text}</answer>` },
  { mode: 'chat', reply: (text) => text },
  { mode: 'json', signature: '{text :string}', reply: (text) => JSON.stringify({ text }) },
  { mode: 'text', reply: (text) => text },
];

function start({ reply, ...agent }: (typeof ROWS)[number], text: string): MemoryRun {
  const script = scriptedModel([reply(text)]);
  return startInMemory({
    agent: defineAgent({ name: 'author', model: script.model, ...agent }),
    task: 'Write.',
  });
}

/** Bytes of the Step of a mode beside those of its text. */
async function bytesAround(row: (typeof ROWS)[number]): Promise<number> {
  const { memory: _memory, trace: _trace, ...step } = await start(row, 'x').result;
  const trace = { workflowId: '', executionId: '', firstExecutionId: '', unreadInputs: [] };
  return byteSize({ ...step, trace } as unknown as Json) - 1;
}

describe('a Step [sub 7]', () => {
  it.each(ROWS)('of mode $mode has at most 256 KB', async (row) => {
    const room = MAX_STEP_BYTES - (await bytesAround(row));

    const fitting = await start(row, 'x'.repeat(room)).result;
    const run = start(row, 'x'.repeat(room + 1));
    const step: Step = await run.result;

    expect(fitting.status).toBe('success');
    expect(step).toMatchObject({
      status: 'error',
      reason: 'value_too_large',
      value: null,
      message:
        'iteration 1: Expected a Step of at most 262144 bytes, got 262145. Answer with less, or let a tool keep the data and answer where it is.',
      iterations: 1,
      usage: { modelCalls: 1 },
    });
    expect(bodiesOf(run.events, 'agent:execution:after')).toEqual([
      { type: 'agent:execution:after', status: 'error', reason: 'value_too_large' },
    ]);
  });

  it('of an error leaves large details out, and keeps its reason', () => {
    const { state } = start({ mode: 'text', reply: (text) => text }, 'x');
    const ending = { kind: 'error', code: 'validation_error', cause: 'no' } as const;
    const small = { ...ending, details: { problems: ['a'] } };

    expect(fitEnding(state, small)).toBe(small);
    expect(fitEnding(state, { ...ending, details: 'x'.repeat(MAX_STEP_BYTES) })).toEqual(ending);
  });
});
