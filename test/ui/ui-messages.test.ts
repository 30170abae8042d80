/** Messages of a page that is opened again, beside those that a page has made of the stream. */
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { ConversationTurn } from '../../src/client/turns.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Entry } from '../../src/core/contract/entry.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Part } from '../../src/core/base/message.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { merged, plainText, restAfter, type WrittenText } from '../../src/ui/text-parts.ts';
import { toUIMessageStream } from '../../src/ui/to-ui-stream.ts';
import type { UIChunk } from '../../src/ui/ui-chunk.ts';
import { messagesOfTurn, uiMessages } from '../../src/ui/ui-messages.ts';
import { createUIWriter } from '../../src/ui/ui-writer.ts';
import { uiResponse } from '../../src/ui.ts';
import { fakeRun } from '../cli/cli-fixture.ts';
import { clerk } from '../support/chat-agents.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';
import { Page } from '../support/ui-page.ts';

function writer(): ReturnType<typeof createUIWriter> {
  return createUIWriter({ messageId: 'm', afterIteration: 0, showsText: true });
}

/** What a page shows of its last message, without void parts. */
function shown(page: Page): unknown {
  return comparable(page.parts().filter((part) => !('isVoid' in part)));
}

function comparable(parts: readonly object[]): unknown {
  return JSON.parse(JSON.stringify(parts));
}

describe('a run in memory', () => {
  test.each(['hello', 'look up', 'draw'])('"%s" looks the same after a reload', async (task) => {
    const { agent } = clerk('memory');
    const everloop = memoryEverloop([agent]);
    const run = await everloop.start('memory', { task });
    // As it is written, a page gets it in a test on a server.
    await run.result();
    const page = new Page('c', () => uiResponse(toUIMessageStream(run)));

    await page.sendMessage({ text: task });

    const turn = await turnOf(run, task);
    const [said, reply] = messagesOfTurn(turn, true);
    expect(said).toEqual({
      id: 'm',
      role: 'user',
      parts: [{ type: 'text', text: task, state: 'done' }],
    });
    const reopened = new Page('c', () => new Response(), [reply as Page['messages'][number]]);
    expect(reopened.parts().length).toBeGreaterThan(0);
    expect(shown(reopened)).toEqual(shown(page));
    expect(reply?.metadata).toEqual(page.messages.at(-1)?.metadata);
  });
});

/** The run as a turn of a conversation. */
async function turnOf(run: RunHandle, text: string): Promise<ConversationTurn> {
  const [events, entries, step] = await Promise.all([run.events(), run.transcript(), run.result()]);
  const base = { runId: 'r', agent: 'memory', agentPath: 'memory', at: 0, depth: 0 };
  const before = { ...base, seq: 0, iteration: 0, type: 'agent:turn:before', turn: 1 } as const;
  const after = { ...base, seq: 99, iteration: step.iterations, turn: 1, step } as const;
  return {
    number: 1,
    messageId: 'm',
    text,
    startedAt: 0,
    entries,
    events: [
      { ...before, messageId: 'm', limits: [] },
      ...events,
      { ...after, type: 'agent:turn:after' },
    ],
    step,
  };
}

test('what a provider ran, and files that a model wrote, are parts', () => {
  const parts: readonly Part[] = [
    { type: 'hosted_call', id: 'h1', tool: 'web_search', args: { query: 'x' } },
    { type: 'hosted_result', id: 'h1', tool: 'web_search', output: [1], isError: false },
    { type: 'text', text: 'Here.' },
    { type: 'file', mediaType: 'image/png', data: 'aGk=' },
  ];
  const messages = [{ role: 'assistant', parts }] as const;
  const entry: Entry = { index: 0, iteration: 1, origin: 'original', messages };
  const changed = { type: 'agent:iteration_history:change', iteration: 1, index: 0 };

  const chunks = writer().event(changed as AgentEvent, entry);

  const call = { toolCallId: 'h1', dynamic: true, providerExecuted: true };
  expect(chunks.filter(({ type }) => !/^(start|text)/.test(type))).toEqual([
    { type: 'tool-input-available', toolName: 'web_search', input: { query: 'x' }, ...call },
    { type: 'tool-output-available', output: [1], ...call },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' },
  ]);
});

test('sources are parts of the message, each once', () => {
  const one = writer();
  const page = { url: 'https://a.example', title: 'A' };
  const named = (sources: readonly object[]) =>
    one.event({ type: 'agent:model_call:after', iteration: 1, sources } as AgentEvent);

  const chunks = [
    ...named([page, { title: 'Report', mediaType: 'application/pdf' }]),
    ...named([page]),
  ];

  expect(chunks.slice(1)).toEqual([
    { type: 'source-url', sourceId: page.url, ...page },
    {
      type: 'source-document',
      sourceId: 'Report',
      mediaType: 'application/pdf',
      title: 'Report',
    },
  ]);
});

test('only the calls of MCP tools are dynamic', () => {
  const chunksOf = (mcp: boolean): readonly UIChunk[] => {
    const one = writer();
    const server = mcp ? { mcp: { server: 'files', tool: 'read' } } : {};
    const base = { iteration: 1, callId: '1.1', tool: 'read', args: {}, ...server };
    const end = { ...base, type: 'agent:tool_call:after', outcome: 'ok', output: 1 };
    return [
      ...one.event({ ...base, type: 'agent:tool_call:before' } as AgentEvent),
      ...one.event(end as AgentEvent),
    ].filter(({ type }) => type.startsWith('tool-'));
  };

  expect(chunksOf(false).map((chunk) => 'dynamic' in chunk)).toEqual([false, false]);
  expect(chunksOf(true)).toMatchObject([{ dynamic: true }, { dynamic: true }]);
});

test('text that comes late is not shown twice, and text that never came is shown', () => {
  const one = writer();
  const text = (delta: string): readonly UIChunk[] =>
    one.update({ kind: 'text', iteration: 1, delta });

  const chunks = [
    ...text('Rome is '),
    ...one.text(1, [{ type: 'text', text: 'Rome is the capital.' }]),
    ...text('the capital.'),
    ...one.text(2, [{ type: 'text', text: 'Of Italy.' }]),
  ];

  const deltas = chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.delta] : []));
  expect(deltas).toEqual(['Rome is ', 'the capital.', 'Of Italy.']);
});

test('a turn that was forgotten keeps its text and answer, and one that was replaced is left out', async () => {
  const turn = { number: 1, messageId: 'm1', text: 'Hi', startedAt: 0, entries: [], events: [] };
  const step: Step | null = null;
  const expired = { status: 'success', answer: 'Hello.' } as const;
  const part = (text: string) => ({ type: 'text', text, state: 'done' });

  const messages = await uiMessages({
    run: fakeRun('r', {}),
    turns: async () => [
      { ...turn, step, expired },
      { ...turn, step, messageId: 'm2', replaced: true },
      { ...turn, step, messageId: 'm3/again-2-0123456789abcdef', expired: {} },
    ],
  });

  expect(messages).toEqual([
    { id: 'm1', role: 'user', parts: [part('Hi')] },
    { id: 'm1/reply', role: 'assistant', parts: [part('Hello.')] },
    { id: 'm3', role: 'user', parts: [part('Hi')] },
  ]);
});

const pieces = fc.array(
  fc.record({
    type: fc.constantFrom<WrittenText['type']>('text', 'reasoning'),
    text: fc.string({ minLength: 1, maxLength: 4 }),
  }),
  { maxLength: 8 },
);

test('what comes after any beginning makes the whole again', () => {
  fc.assert(
    fc.property(pieces, fc.nat(), fc.nat(), (all, at, cut) => {
      const head = all.slice(0, at % (all.length + 1));
      const last = head.at(-1);
      const text = last?.text.slice(0, 1 + (cut % last.text.length)) ?? '';
      const begun = last === undefined ? [] : [...head.slice(0, -1), { ...last, text }];
      const [whole, beginning] = [merged(all), merged(begun)];

      const rest = restAfter(whole, beginning);

      expect(merged([...beginning, ...(rest ?? [])])).toEqual(whole);
      expect(plainText(whole)).toBe(plainText(all));
      expect(restAfter(whole, merged([...begun, { type: 'text', text: '\u0000' }]))).toBe(
        undefined,
      );
    }),
  );
});
