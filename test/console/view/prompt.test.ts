import { describe, expect, it } from 'vitest';
import { promptDifference } from '../../../src/console/view/prompt.ts';
import type { Message } from '../../../src/core/base/message.ts';

const said = (role: 'system' | 'user' | 'assistant', text: string): Message =>
  ({ role, parts: [{ type: 'text', text }] }) as Message;

describe('the difference of a prompt to the transcript', () => {
  it('names what the transcript lacks, and what the prompt leaves out', () => {
    const transcript = [
      said('assistant', 'I look at the weather.'),
      said('user', 'It rains.'),
      said('assistant', 'I look again.'),
    ];
    const prompt = [
      said('system', 'You are a helper.'),
      said('user', 'Summary: it rained.'),
      transcript[2] as Message,
    ];

    expect(promptDifference(prompt, transcript)).toEqual({
      inTranscript: [false, false, true],
      leftOut: [
        { role: 'assistant', text: 'I look at the weather.' },
        { role: 'user', text: 'It rains.' },
      ],
      leftOutCount: 2,
    });
  });

  it('finds sections that the format of the agent has written, and messages that were joined', () => {
    const sections = [{ name: 'thinking', content: 'I look.\nThen I act.' }];
    const transcript = [
      { role: 'assistant', parts: [{ type: 'sections', sections }] } as unknown as Message,
      said('user', 'one'),
      said('user', 'two'),
    ];
    const prompt = [
      said('assistant', '<thinking>\n  I look.\n  Then I act.\n</thinking>'),
      said('user', 'one\ntwo'),
    ];

    expect(promptDifference(prompt, transcript)).toMatchObject({
      inTranscript: [true, true],
      leftOutCount: 0,
    });
  });

  it('keeps the newest of many, cut', () => {
    const transcript = Array.from({ length: 80 }, (_, index) =>
      said('user', `${index} ${'x'.repeat(9_000)}`),
    );
    const { leftOut, leftOutCount } = promptDifference([], transcript);

    expect(leftOutCount).toBe(80);
    expect(leftOut).toHaveLength(50);
    expect(leftOut.at(-1)?.text).toHaveLength(2_000);
  });
});
