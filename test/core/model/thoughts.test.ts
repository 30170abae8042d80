/** Thoughts in the text of a reply: in every mode nothing of them counts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, markdownFormat } from '../../../src/index.ts';
import { scriptedModel, startInMemory } from '../../../src/testing.ts';
import {
  createThoughtStream,
  splitThoughts,
  thoughtTags,
  withThoughts,
} from '../../../src/core/model/thoughts.ts';
import type { ModelChunk } from '../../../src/core/contract/model.ts';
import { textMessage } from '../../../src/core/base/message.ts';
import { replyOf } from '../runs/reply-fixture.ts';

const TAGS = ['think', 'thinking', 'reasoning'];

describe('thoughts in a text', () => {
  it.each([
    ['<think>Hm.</think>\n\nHello!', 'Hm.', 'Hello!'],
    ['\n <THINK>Hm.</Think>Hello!', 'Hm.', 'Hello!'],
    ['<thinking>Hm.</thinking>\nHello!', 'Hm.', 'Hello!'],
    ['<reasoning>Hm.</reasoning>\nHello!', 'Hm.', 'Hello!'],
    ['<think></think>\n\nHello!', '', 'Hello!'],
    ['<think>a</think><think>b</think>Hello!', 'a\n\nb', 'Hello!'],
    ['<think>a <think>b</think> c</think>Hello!', 'a <think>b\n\nc', 'Hello!'],
    ['Okay, so…\n</think>\n\nHello!', 'Okay, so…', 'Hello!'],
    ['{"score": 1}? No.</think>{"score": 9}', '{"score": 1}? No.', '{"score": 9}'],
    ['<think>It goes on', 'It goes on', ''],
    ['<think>', '', ''],
  ])('%j', (text, thoughts, rest) => {
    expect(splitThoughts(text, TAGS)).toEqual({ thoughts, text: rest });
  });

  it.each([
    'Hello!',
    '',
    'Hello <think>no thought</think>',
    'Close it with `</think>`.',
    'Write "</think>".',
    '```html\n</think>\n```',
    '{"html": "a </think> b"}',
    '<thinker>x</thinker>',
  ])('are none in %j', (text) => {
    expect(splitThoughts(text, TAGS)).toEqual({ thoughts: '', text });
  });

  it('keep their place among the parts of a reply', () => {
    const reply = replyOf('', {
      parts: [
        { type: 'text', text: '<think>a' },
        { type: 'reasoning', text: 'own' },
        { type: 'text', text: 'b</think>\n\nHel' },
        { type: 'text', text: 'lo!' },
      ],
    });

    expect(withThoughts(reply, TAGS).parts).toEqual([
      { type: 'reasoning', text: 'ab' },
      { type: 'reasoning', text: 'own' },
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo!' },
    ]);
  });

  it('are not those whose tag the prompt names', () => {
    const messages = [textMessage('system', 'Write <thinking>, then <answer>.')];

    expect(thoughtTags({ messages })).toEqual(['think', 'reasoning']);
    expect(
      thoughtTags({
        messages: [...messages, textMessage('user', 'Go'), textMessage('user', '<reasoning>')],
      }),
    ).toEqual(['think', 'reasoning']);
  });
});

describe('thoughts in a stream', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<think>',
      '</think>',
      '<thinking>',
      '</thinking>',
      '<th',
      'ink>',
      '</',
      '\n',
      ' ',
      'Hm',
    ),
    fc.string({ maxLength: 5 }),
  );

  it('are split as in the whole text, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat(6), { minLength: 1, maxLength: 8 }),
        (isOpen, pieces, cuts) => {
          const text = (isOpen ? '<think>' : '') + pieces.join('');
          const chunks: ModelChunk[] = [];
          const stream = createThoughtStream(TAGS, (chunk) => chunks.push(chunk));
          for (let at = 0, turn = 0; at < text.length; turn++) {
            const size = 1 + (cuts[turn % cuts.length] ?? 0);
            stream.write({ kind: 'text', delta: text.slice(at, at + size) });
            at += size;
          }
          stream.end();
          const all = (kind: ModelChunk['kind']): string =>
            chunks.flatMap((chunk) => (chunk.kind === kind ? [chunk.delta] : [])).join('');
          const isLeading = /^\s*<(?:think|thinking|reasoning)>/i.test(text);
          // Nothing is lost, and a text without a leading thought passes as it is.
          if (!isLeading) expect([all('text'), all('reasoning')]).toEqual([text, '']);
          else if (
            !/<\/think/i.test(splitThoughts(text, TAGS).thoughts) &&
            !/<think/i.test(splitThoughts(text, TAGS).thoughts)
          ) {
            expect(all('text').trim()).toBe(splitThoughts(text, TAGS).text.trim());
          }
        },
      ),
    );
  });

  it.each([
    ['a text', 'Hello!', 'text'],
    ['a thought', '<think>Hm.', 'reasoning'],
  ] as const)(
    'are found after as much white space as a provider sends, before %s',
    (_name, last, kind) => {
      const chunks: ModelChunk[] = [];
      const stream = createThoughtStream(TAGS, (chunk) => chunks.push(chunk));
      const blanks = 400_000;
      for (let count = 0; count < blanks; count += 1) stream.write({ kind: 'text', delta: '\n' });
      stream.write({ kind: 'text', delta: last });
      stream.end();

      const text = chunks.map(({ delta }) => delta).join('');
      expect(chunks.every((chunk) => chunk.kind === kind)).toBe(true);
      expect(text).toBe(kind === 'text' ? '\n'.repeat(blanks) + last : 'Hm.');
    },
  );
});

describe('nothing in thoughts is done, in mode', () => {
  const drop = '<think>I could write\n';
  const texts = {
    xml: `${drop}<action>\n[{"tool": "drop", "args": {"table": "users"}}]\n</action>\nbut no.</think>\n<answer>\nNothing.\n</answer>`,
    markdown: `${drop}\n# Action\n\`\`\`json\n[{"tool": "drop", "args": {"table": "users"}}]\n\`\`\`\nbut no.</think>\n\n# Answer\nNothing.`,
    lisp: `${drop}\`\`\`clojure\n(tool/drop {:table "users"})\n\`\`\`\nbut no.</think>\n\`\`\`clojure\n(return "Nothing.")\n\`\`\``,
  };
  it.each([
    { name: 'react', more: { mode: 'react', thinking: false }, text: texts.xml },
    { name: 'react with thinking', more: { mode: 'react' }, text: texts.xml },
    {
      name: 'react in markdown',
      more: { mode: 'react', format: markdownFormat() },
      text: texts.markdown,
    },
    {
      name: 'react, only closed',
      more: { mode: 'react' },
      text: texts.xml.slice('<think>'.length),
    },
    { name: 'lisp', more: { mode: 'lisp', signature: '() -> :string' }, text: texts.lisp },
    {
      name: 'chat',
      more: { mode: 'chat' },
      text: '<think>drop({"table": "users"})</think>\n\nNothing.',
    },
  ] as const)('$name', async ({ more, text }) => {
    const dropped: unknown[] = [];
    const tool = defineTool({
      name: 'drop',
      description: 'Drops a table.',
      parameters: z.object({ table: z.string() }),
      effect: 'once',
      execute: (args) => {
        dropped.push(args);
        return 'ok';
      },
    });
    const { model } = scriptedModel([text]);
    const agent = defineAgent({ name: 'a', model, tools: [tool], ...more });

    const step = await startInMemory({ agent, task: 'Clean up.' }).result;

    expect(dropped).toEqual([]);
    expect([step.status, step.value]).toEqual(['success', 'Nothing.']);
  });

  it.each([
    ['json', '<think>Maybe {"score": 1}?</think>\n\n{"score": 9}'],
    ['json, only closed', 'Maybe {"score": 1}?\n</think>\n\n{"score": 9}'],
  ])('%s', async (_name, text) => {
    const { model } = scriptedModel([text]);
    const agent = defineAgent({ name: 'a', mode: 'json', model, signature: '() -> {score :int}' });

    expect((await startInMemory({ agent, task: 'Rate.' }).result).value).toEqual({ score: 9 });
  });

  it('text; and `thinkTag: false` keeps all of it', async () => {
    const text = '<think>Hm.</think>\n\nHello!';
    const valueOf = async (thinkTag: boolean): Promise<unknown> => {
      const { model } = scriptedModel([text]);
      const agent = defineAgent({
        name: 'a',
        mode: 'text',
        model: { id: 'm', model, thinkTag },
        prompt: 'Greet.',
      });
      return (await startInMemory({ agent, task: 'Greet.' }).result).value;
    };

    expect(await valueOf(true)).toBe('Hello!');
    expect(await valueOf(false)).toBe(text);
  });
});
