/** Markdown of a model may cost the page no more than its bounds. */
import type { Tokens } from 'marked';
import { describe, expect, it } from 'vitest';
import { readMarkdown } from '../../../src/console/web/parts/read-markdown.ts';

/** The blocks of `text`, without the space between them. */
const typesOf = (text: string): readonly string[] | undefined =>
  readMarkdown(text)
    ?.map(({ type }) => type)
    .filter((type) => type !== 'space');

describe('Markdown of a model', () => {
  it('is read with its blocks and marks', () => {
    const text = '# Title\n\nSome **bold** text.\n\n- one\n- two\n\n    code';
    expect(typesOf(text)).toEqual(['heading', 'paragraph', 'list']);
    expect(readMarkdown(text)?.find(({ type }) => type === 'paragraph')).toMatchObject({
      tokens: [{ type: 'text' }, { type: 'strong' }, { type: 'text' }],
    });
    expect(typesOf('> > > quoted\n\n1. - deep')).toEqual(['blockquote', 'list']);
    expect(typesOf(`* * *\n\n${'-'.repeat(40)}`)).toEqual(['hr', 'hr']);
  });

  it('stays as it is where it is too long or opens too many levels', () => {
    expect(readMarkdown('a'.repeat(30_001))).toBeNull();
    for (const mark of ['>', '> ', '- > ', '1. '])
      expect(readMarkdown(mark.repeat(5_000))).toBeNull();
    expect(readMarkdown('a\n  > > > > > > > > > > > > b')).toBeNull();
  });

  it('keeps the text of a paragraph with too many marks, and reads the others', () => {
    const hostile = '*a **a '.repeat(3_000);
    const tokens = readMarkdown(`${hostile}\n\nA *mark*.`);
    const [first] = (tokens ?? []) as readonly Tokens.Paragraph[];
    expect(first?.tokens?.map(({ type, raw }) => `${type} ${raw.length}`)).toEqual(['text 21000']);
    expect(tokens?.at(-1)).toMatchObject({ tokens: [{}, { type: 'em' }, {}] });
    const many = readMarkdown(`${'**a** '.repeat(45)}\n\n`.repeat(60));
    const paragraphs = many?.filter(({ type }) => type === 'paragraph') ?? [];
    expect(paragraphs).toHaveLength(60);
    const counts = (paragraphs as readonly Tokens.Paragraph[]).map(({ tokens }) => tokens?.length);
    expect(counts[0]).toBeGreaterThan(80);
    expect(counts.at(-1)).toBe(1);
  });
});
