/** Media of tasks and of results, as the next request holds them. */
import { describe, expect, it } from 'vitest';
import { toolResult } from '../../../src/define/tool/tool-result.ts';
import type { MediaPart, Message, Task } from '../../../src/core/base/message.ts';
import type { ScriptedReply } from '../../../src/testing/scripted-model.ts';
import { act, answer, searchTool, startRun } from '../../support/runs.ts';

const image = (name: string): MediaPart => ({
  type: 'media',
  mediaType: 'image/png',
  url: `https://example.org/${name}.png`,
});

/** Gives a picture of what it is asked for, and two of `both`. */
const camera = searchTool((query) =>
  toolResult({
    output: `seen ${query}`,
    media: query === 'both' ? [image('left'), image('right')] : [image(query)],
  }),
);

const user = (...parts: Message['parts']): Message => ({ role: 'user', parts });
const text = (words: string): Message['parts'][number] => ({ type: 'text', text: words });
const call = (callId: string, query: string): Message['parts'][number] => ({
  type: 'tool_call',
  callId,
  tool: 'search',
  args: { query },
});
const result = (callId: string, words: string): Message['parts'][number] => ({
  type: 'tool_result',
  callId,
  tool: 'search',
  parts: [text(words)],
  isError: false,
});

interface Row {
  readonly mode: 'react' | 'chat';
  readonly replies: readonly ScriptedReply[];
  /** The second request, less the system message and the marker. */
  readonly messages: readonly Message[];
}

describe('[row 36] media', () => {
  it.each<Row>([
    {
      mode: 'react',
      replies: [act('cat', 'both'), answer()],
      messages: [
        user(text('<task>\nWhat is it?\n</task>'), image('task')),
        { role: 'assistant', parts: [text(act('cat', 'both'))] },
        user(
          text(
            '<observation>\n<search>\nseen cat\n[media 1: image/png]\n</search>\n' +
              '<search>\nseen both\n[media 2: image/png]\n[media 3: image/png]\n</search>\n</observation>',
          ),
          image('cat'),
          image('left'),
          image('right'),
        ),
      ],
    },
    {
      mode: 'chat',
      replies: [
        {
          content: 'I look.',
          toolCalls: ['cat', 'both'].map((query) => ({ name: 'search', args: { query } })),
        },
        'done',
      ],
      messages: [
        user(text('What is it?'), image('task')),
        { role: 'assistant', parts: [text('I look.'), call('1.1', 'cat'), call('1.2', 'both')] },
        {
          role: 'tool',
          parts: [
            result('1.1', 'seen cat\n[media 1: image/png]'),
            result('1.2', 'seen both\n[media 2: image/png]\n[media 3: image/png]'),
          ],
        },
        user(image('cat'), image('left'), image('right')),
      ],
    },
  ])('of a task and of results are in the next request: $mode', async (row) => {
    const task: Task = { text: 'What is it?', media: [image('task')] };
    const { run, script } = startRun(row.replies, {
      task,
      agent: { mode: row.mode, tools: [camera] },
    });

    const step = await run.result;

    script.assertDone();
    expect(step.status).toBe('success');
    const messages = script.requests[1]?.messages.filter(
      ({ role, parts }) => role !== 'system' && JSON.stringify(parts) !== MARKER,
    );
    expect(messages).toEqual(row.messages);
  });

  it.each<{ name: string; task: Task }>([
    { name: 'no text and no media', task: { text: '' } },
    { name: 'no text and an empty list of media', task: { text: '', media: [] } },
  ])('a task with $name is refused', ({ task }) => {
    expect(() => startRun([], { task })).toThrow(
      'Expected a task with text or media, got an empty one. Say what to do.',
    );
  });
});

const MARKER = JSON.stringify([text('Continue.')]);
