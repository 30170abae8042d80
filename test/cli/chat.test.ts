import { describe, expect, it, test } from 'vitest';
import {
  CHAT_COMMANDS,
  readCommand,
  type ChatCommand,
  readDecision,
} from '../../src/cli/chat/chat-commands.ts';
import { historyText } from '../../src/cli/chat/chat-history.ts';
import { askText } from '../../src/cli/chat/chat-view.ts';
import type { ConversationTurn } from '../../src/client/turns.ts';
import type { PendingItem } from '../../src/core/contract/messages.ts';
import type { Decision } from '../../src/core/contract/pending.ts';
import { STEP } from './cli-fixture.ts';

const BASE = { id: 'q1', agent: 'a', path: 'a', since: 0 };

describe('askText', () => {
  it.each<{ name: string; item: PendingItem; text: string }>([
    {
      name: 'options, details, default and deadline',
      item: {
        ...BASE,
        kind: 'question',
        question: 'Which John?',
        options: ['Smith', 'Doe'],
        free: true,
        details: { city: 'Rome' },
        default: 'Doe',
        deadline: 61_000,
      },
      text: '? Which John?\n  {\n    "city": "Rome"\n  }\n  1 Smith\n  2 Doe\n  A number, a label, or an answer of your own. Without an answer within 1 min 0 s: Doe',
    },
    {
      name: 'text alone',
      item: { ...BASE, kind: 'question', question: 'Why?', free: false },
      text: '? Why?',
    },
    {
      name: 'the form of a tool',
      item: {
        ...BASE,
        kind: 'question',
        question: 'From where?',
        free: false,
        details: { tool: 'pay', form: { type: 'object', properties: {} } },
      },
      text: '? From where?\n  {\n    "tool": "pay",\n    "form": {\n      "type": "object",\n      "properties": {}\n    }\n  }\n  An object as JSON.',
    },
    {
      name: 'whose it is, from further down in a tree',
      item: {
        ...BASE,
        kind: 'question',
        question: 'Why?',
        free: false,
        agent: 'writer',
        path: 'planner/2/writer',
      },
      text: '? writer: Why?',
    },
    {
      name: 'a call with a deadline',
      item: { ...BASE, kind: 'approval', tool: 'pay', args: { to: 'a\u0007' }, deadline: 2_000 },
      text: '? May I call pay {"to":"a\\u0007"}\n  y, always, n and a reason, or other arguments as a JSON object. Without an answer within 1.0 s: no',
    },
  ])('shows $name', ({ item, text }) => {
    expect(askText(item, 1_000)).toBe(text);
  });
});

test.each<{ text: string; decision: Decision | null }>([
  { text: 'y', decision: { approve: true } },
  { text: ' YES ', decision: { approve: true } },
  { text: 'n', decision: { deny: '' } },
  { text: 'no: too much', decision: { deny: 'too much' } },
  { text: 'n too\nmuch', decision: { deny: 'too\nmuch' } },
  { text: '{"amount": 4}', decision: { args: { amount: 4 } } },
  { text: '{amount}', decision: null },
  { text: 'never', decision: null },
  { text: 'yes please', decision: null },
  { text: 'Always ', decision: { approve: true, remember: 'tool' } },
  { text: '', decision: null },
])('reads the decision `$text`', ({ text, decision }) => {
  expect(readDecision(text)).toEqual(decision);
});

test.each<{ line: string; command: ChatCommand | null }>([
  { line: 'hello', command: null },
  { line: ' /help', command: null },
  { line: '/help', command: { name: 'help' } },
  { line: '/quit ', command: { name: 'quit' } },
  { line: '/answer 1.1 {"n": 1}', command: { name: 'answer', id: '1.1', value: { n: 1 } } },
  { line: '/answer 1.1 all is well', command: { name: 'answer', id: '1.1', value: 'all is well' } },
  {
    line: '/answer 1.1',
    command: {
      name: 'unknown',
      problem:
        'Expected /help, /stats, /history, /answer ID VALUE, /cancel, /close or /quit, got `/answer 1.1`. Begin with a space to send it as a message.',
    },
  },
])('reads the command `$line`', ({ line, command }) => {
  expect(readCommand(line)).toEqual(command);
});

test('help names every command', () => {
  expect([...CHAT_COMMANDS.matchAll(/^\/(\w+)/gm)].map(([, name]) => name)).toEqual([
    'history',
    'stats',
    'answer',
    'cancel',
    'close',
    'quit',
    'help',
  ]);
});

const TURN: ConversationTurn = {
  number: 1,
  messageId: 'm1',
  text: 'Hello',
  startedAt: 0,
  entries: [],
  events: [],
  step: STEP,
};

describe('historyText', () => {
  it.each<{ name: string; turn: Partial<ConversationTurn>; text: string }>([
    { name: 'an answer', turn: {}, text: 'you: Hello\nclerk: Vienna.' },
    { name: 'an open turn', turn: { step: null }, text: 'you: Hello' },
    {
      name: 'a turn without an answer',
      turn: { step: { ...STEP, status: 'canceled', value: null, reason: 'canceled' } },
      text: 'you: Hello\nclerk: [No answer: canceled, canceled.]',
    },
    {
      name: 'a turn that is forgotten but for its record',
      turn: { step: null, expired: { status: 'success', reason: 'answered', answer: 'Vi' } },
      text: 'you: Hello\nclerk: Vi',
    },
    {
      name: 'a chat that was brought along',
      turn: {
        number: 0,
        step: null,
        entries: [
          {
            ...entry(0, 'Hi'),
            messages: [
              ...entry(0, 'Hi').messages,
              { role: 'assistant', parts: [{ type: 'text', text: 'Good day' }] },
              { role: 'tool', parts: [] },
            ],
          },
        ],
      },
      text: 'you: Hi\nclerk: Good day',
    },
    { name: 'nothing of a replaced turn', turn: { replaced: true }, text: 'No messages yet.' },
    {
      name: 'no control characters',
      turn: { text: 'a\u001b[2J' },
      text: 'you: a\\u001B[2J\nclerk: Vienna.',
    },
    {
      name: 'what was said and asked meanwhile',
      turn: {
        entries: [entry(0, 'Hello'), entry(1, 'and quick')],
        events: [
          {
            type: 'agent:tool_call:after',
            seq: 9,
            at: 0,
            runId: 'r',
            agent: 'clerk',
            agentPath: 'clerk',
            depth: 0,
            iteration: 2,
            callId: '2.1',
            tool: 'ask_user',
            args: { question: 'Where?' },
            output: 'inside',
            outcome: 'ok',
            started: true,
            attempts: 1,
            durationMs: 1,
          },
        ],
      },
      text: 'you: Hello\nyou: and quick\nclerk: Where?\nyou: inside\nclerk: Vienna.',
    },
  ])('shows $name', ({ turn, text }) => {
    expect(historyText('clerk', [{ ...TURN, ...turn }])).toBe(text);
  });
});

function entry(iteration: number, text: string): ConversationTurn['entries'][number] {
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
  return { index: iteration, iteration, origin: 'input', messages };
}
