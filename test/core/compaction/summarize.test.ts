import { describe, expect, it } from 'vitest';
import { summarize } from '../../../src/index.ts';
import type { StrategySpec, SummaryOrder } from '../../../src/core/contract/compaction.ts';
import type { CompactionPlan } from '../../../src/core/compaction/compaction-plan.ts';
import { planOf } from '../../../src/core/compaction/plan.ts';
import { buildSummaryRequest, SUMMARY_SYSTEM } from '../../../src/core/ask/order-request.ts';
import { textMessage, textOf, type Message } from '../../../src/core/base/message.ts';
import type { ModelRequest } from '../../../src/core/contract/model.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import { chatSpec, reactSpec } from '../runs/spec-fixture.ts';
import {
  entriesOf,
  entryOf,
  importantEntry,
  indexesOf,
  observation,
  summaryOf,
} from './entries.ts';

function plan(entries: readonly Entry[], strategy: StrategySpec = summarize()): CompactionPlan {
  return planOf(strategy, { entries, nextEpoch: 7, iteration: 9, tools: ['search'] });
}

/** What is asked and what becomes of the scratchpad, in numbers; null for nothing to do. */
function shape(planned: CompactionPlan): unknown {
  if (planned.kind !== 'ask') return null;
  const { earlier, activity, conclude } = planned;
  return { earlier, activity, after: indexesOf(conclude('S')) };
}

describe('a summary', () => {
  it.each<{ name: string; entries: readonly Entry[]; keepRecent?: number; shape: unknown }>([
    {
      name: 'takes all entries the first time',
      entries: entriesOf(2),
      shape: { earlier: [], activity: [[0, 4]], after: [-7] },
    },
    {
      name: 'carries on the one before',
      entries: [summaryOf(2, 'old'), ...entriesOf(2)],
      shape: { earlier: [[0, 1]], activity: [[1, 5]], after: [-7] },
    },
    {
      name: 'joins two earlier ones',
      entries: [summaryOf(2, 'a'), entryOf(0), summaryOf(3, 'b')],
      shape: {
        earlier: [
          [0, 1],
          [3, 4],
        ],
        activity: [[1, 3]],
        after: [-7],
      },
    },
    {
      name: 'keeps the last entries',
      entries: entriesOf(3),
      keepRecent: 2,
      shape: { earlier: [], activity: [[0, 2]], after: [-7, 1, 2] },
    },
    {
      name: 'keeps pinned entries, in front of the last ones',
      entries: [entryOf(0), importantEntry(1, 10), entryOf(2), entryOf(3)],
      keepRecent: 1,
      shape: {
        earlier: [],
        activity: [
          [0, 2],
          [4, 6],
        ],
        after: [-7, 1, 3],
      },
    },
    {
      name: 'has nothing to do with entries to keep',
      entries: entriesOf(2),
      keepRecent: 2,
      shape: null,
    },
    { name: 'has nothing to do with a summary alone', entries: [summaryOf(2, 'a')], shape: null },
    {
      name: 'has nothing to do with pinned entries',
      entries: [importantEntry(0, 10)],
      shape: null,
    },
    { name: 'has nothing to do with nothing', entries: [], shape: null },
  ])('[row 51] $name', ({ entries, keepRecent = 0, shape: expected }) => {
    expect(shape(plan(entries, summarize({ keepRecent })))).toEqual(expected);
  });

  it('[row 51] is one entry of the user, with a section of its own', () => {
    const planned = plan(entriesOf(2));

    expect(planned.kind === 'ask' && planned.conclude('All is well.')).toEqual([
      {
        index: -7,
        iteration: 9,
        origin: 'compacted_synthetic',
        messages: [
          {
            role: 'user',
            parts: [{ type: 'sections', sections: [{ name: 'summary', content: 'All is well.' }] }],
          },
        ],
      },
    ]);
  });
});

function request(
  strategy: StrategySpec,
  messages: readonly Message[],
  order: Omit<SummaryOrder, 'strategy'>,
  spec = reactSpec(),
): ModelRequest {
  const compaction = { triggers: [], strategies: [strategy] };
  return buildSummaryRequest(
    { spec: { ...spec, compaction }, task: { text: 'Go' } },
    messages,
    { strategy: 0, ...order },
    { runId: 'r', iteration: 4, attempt: 1, lastTurn: false },
  );
}

const MESSAGES = [
  ...summaryOf(2, 'Asked Ann.').messages,
  textMessage('assistant', 'Looking.'),
  observation(['search', '3 hits']),
];
const ORDER = { earlier: [[0, 1]], activity: [[1, 3]] } as const;
const OBSERVED = '<observation>\n<search>\n3 hits\n</search>\n</observation>';
const ACTIVITY = `### 1. assistant\nLooking.\n### 2. user\n${OBSERVED}`;

describe('the request of a summary', () => {
  it('[row 51] is a system and a user message, and nothing of the agent', () => {
    expect(request(summarize(), MESSAGES, ORDER)).toEqual({
      mode: 'text',
      agent: 'tester',
      runId: 'r',
      iteration: 4,
      attempt: 1,
      messages: [
        textMessage('system', SUMMARY_SYSTEM),
        textMessage('user', `## Summary so far\nAsked Ann.\n\n## New activity\n${ACTIVITY}`),
      ],
      settings: {},
      cacheUpTo: 0,
    });
  });

  it.each<{ name: string; strategy: StrategySpec; texts: readonly string[] }>([
    {
      name: 'prompt alone',
      strategy: summarize({ prompt: 'Old: {summary}\nNew: {activity}\n{other}' }),
      texts: [`Old: Asked Ann.\nNew: ${ACTIVITY}\n{other}`],
    },
    {
      name: 'prompt and system',
      strategy: summarize({ prompt: '{activity}', system: 'Be brief.' }),
      texts: ['Be brief.', ACTIVITY],
    },
    {
      name: 'system alone',
      strategy: summarize({ system: 'Be brief.' }),
      texts: ['Be brief.', `## Summary so far\nAsked Ann.\n\n## New activity\n${ACTIVITY}`],
    },
  ])('[row 51] takes texts of the author: $name', ({ strategy, texts }) => {
    expect(request(strategy, MESSAGES, ORDER).messages.map(textOf)).toEqual(texts);
  });

  it('[row 51] says `none` without an earlier summary, and joins two', () => {
    const two = [...summaryOf(2, 'a {activity}').messages, ...summaryOf(3, 'b').messages];
    const prompt = summarize({ prompt: '{summary}|{activity}' });

    expect(
      request(prompt, MESSAGES, { earlier: [], activity: [[1, 2]] }).messages.map(textOf),
    ).toEqual(['none|### 1. assistant\nLooking.']);
    expect(
      request(prompt, [...two, textMessage('user', 'x')], {
        earlier: [[0, 2]],
        activity: [[2, 3]],
      }).messages.map(textOf),
    ).toEqual(['a {activity}\n\nb|### 1. user\nx']);
  });

  it('[row 51] shows native calls and their results, and names other parts', () => {
    const messages: readonly Message[] = [
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_call', callId: '1.1', tool: 'search', args: { query: 'a' } },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            callId: '1.1',
            tool: 'search',
            parts: [{ type: 'text', text: '3 hits' }],
            isError: false,
          },
        ],
      },
      { role: 'user', parts: [{ type: 'media', mediaType: 'image/png', url: 'https://a/b' }] },
    ];

    const built = request(
      summarize({ prompt: '{activity}' }),
      messages,
      { earlier: [], activity: [[0, 3]] },
      chatSpec(),
    );

    expect(built.messages.map(textOf)).toEqual([
      [
        '### 1. assistant',
        '[reasoning]',
        'I look.',
        '[tool_call] search {"query":"a"}',
        '### 2. tool',
        '[tool_result] search',
        '3 hits',
        '### 3. user',
        '[media]',
      ].join('\n'),
    ]);
    expect(built.tools).toBeUndefined();
  });
});
