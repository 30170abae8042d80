import { INLINE_SIZES } from '../../../src/core/base/size-limits.ts';
import { describe, expect, it } from 'vitest';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { fitEnding } from '../../../src/core/run/step-size.ts';
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
  const script = scriptedModel([reply(text), reply(text)]);
  return startInMemory({
    agent: defineAgent({ name: 'author', model: script.model, ...agent }),
    task: 'Write.',
  });
}

/** Bytes of the Step of a mode beside those of its text. */
async function bytesAround(row: (typeof ROWS)[number]): Promise<number> {
  const { memory: _memory, trace: _trace, ...step } = await start(row, 'x').result;
  const chain = { links: 1, events: 0, entries: 0, inputs: 0 };
  const trace = { workflowId: '', executionId: '', firstExecutionId: '', unreadInputs: [], chain };
  return byteSize({ ...step, trace } as unknown as Json) - 1;
}

describe('a Step [sub 7]', () => {
  it.each(ROWS)('of mode $mode has at most 256 KB', async (row) => {
    const room = INLINE_SIZES.step - (await bytesAround(row));

    const fitting = await start(row, 'x'.repeat(room - 1_024)).result;
    const run = start(row, 'x'.repeat(room + 1));
    const step: Step = await run.result;

    expect(fitting).toMatchObject({ status: 'success', iterations: 1 });
    // A text has one turn; the other modes are told, and answer as before.
    const turns = row.mode === 'text' ? 1 : 2;
    expect(step).toMatchObject({
      status: 'error',
      reason: 'value_too_large',
      value: null,
      message: expect.stringMatching(
        /^iteration \d: Expected a Step of at most 262144 bytes, got 262\d{3}\. Answer with less, or let a tool keep the data and answer where it is\.$/,
      ) as unknown,
      iterations: turns,
      usage: { modelCalls: turns },
    });
    expect(bodiesOf(run.events, 'agent:execution:after')).toEqual([
      { type: 'agent:execution:after', status: 'error', reason: 'value_too_large' },
    ]);
  });

  it.each(ROWS.filter(({ mode }) => mode !== 'text'))(
    '[R13] of mode $mode that would be too large is told to the model once',
    async ({ reply, ...agent }) => {
      const script = scriptedModel([reply('x'.repeat(1_000_000)), reply('short')]);
      const run = startInMemory({
        agent: defineAgent({ name: 'author', model: script.model, ...agent }),
        task: 'Write.',
      });

      expect(await run.result).toMatchObject({ status: 'success', iterations: 2 });
      const second = JSON.stringify(script.requests[1]?.messages);
      // Mode json does not even read as much.
      expect(second).toMatch(
        /the answer has \d+ bytes as JSON, and at most \d+ fit|longer than 256 KB/,
      );
      // Of such a reply the conversation keeps the beginning.
      expect(second.length).toBeLessThan(30_000);
    },
  );

  it('of an error leaves large details out, and keeps its reason', () => {
    const { state } = start({ mode: 'text', reply: (text) => text }, 'x');
    const ending = { kind: 'error', code: 'validation_error', cause: 'no' } as const;
    const small = { ...ending, details: { problems: ['a'] } };

    expect(fitEnding(state, small, INLINE_SIZES.step)).toBe(small);
    expect(
      fitEnding(state, { ...ending, details: 'x'.repeat(INLINE_SIZES.step) }, INLINE_SIZES.step),
    ).toEqual(ending);
  });
});
