import { describe, expect, it } from 'vitest';
import { writtenCall } from '../../../src/core/toolchain/written-call.ts';

const CALL = '{"name": "search", "arguments": {"query": "tea"}}';

describe('a call that is written as text', () => {
  it.each([
    CALL,
    '{"tool": "search", "args": {}}',
    '{"tool_name": "search", "parameters": {"query": "tea"}}',
    '{"action": "search", "action_input": {"query": "tea"}}',
    '{"type": "function", "function": {"name": "search", "arguments": "{}"}}',
    `{"tool_calls": [${CALL}]}`,
    `[${CALL}, ${CALL}]`,
    `\n\`\`\`json\r\n${CALL}\r\n\`\`\`\n`,
    `I look it up.\n\n\`\`\`\n${CALL}\n\`\`\``,
    `I look it up.\n<tool_call>\n${CALL}\n</tool_call>`,
    `<tool_call>${CALL}`,
    `Before: \`\`\`js\n1\n\`\`\`\n\`\`\`json\n${CALL}\n\`\`\``,
  ])('is found: %j', (text) => {
    expect(writtenCall(text, ['other', 'search'])).toBe('search');
  });

  it.each([
    ['a text', 'We have tea.'],
    ['a call of another tool', '{"name": "buy", "arguments": {}}'],
    ['data with a name', '{"name": "search", "age": 3}'],
    ['a call that is explained', `Write ${CALL} to search.`],
    ['a call with a text after it', `\`\`\`json\n${CALL}\n\`\`\`\nThat is how to search.`],
    ['a list with something else', `[${CALL}, 1]`],
    ['an empty list', '[]'],
    ['JSON that is broken', `${CALL}}`],
    ['tools by their prototype', '{"name": "toString", "arguments": {}}'],
    ['a text that is long', `{"name": "search", "arguments": "${'x'.repeat(20_000)}"}`],
    ['only fences', '```'.repeat(4)],
  ])('is not %s', (_what, text) => {
    expect(writtenCall(text, ['search'])).toBeUndefined();
  });

  it.each(['```\n'.repeat(4_000), '<tool_call>{'.repeat(1_300), '[{"function":'.repeat(1_200)])(
    'takes no time to miss in a hostile text: %#',
    (text) => {
      expect(writtenCall(text, ['search'])).toBeUndefined();
    },
  );
});
