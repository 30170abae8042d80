/**
 * Reads Markdown with the lexer of `marked`, within bounds. The lexer calls itself for each level of
 * quotes and lists, and its time grows with the square of the marks in a paragraph; both come from a
 * model.
 */
import { Lexer, type Token } from 'marked';

/** A longer text is not read. */
const MAX_CHARACTERS = 30_000;

/** A paragraph with more marks stays as it is: 200 take 3 ms. */
const MAX_MARKS = 200;

/** Of all paragraphs together. */
const MAX_MARKS_IN_ALL = 4_000;

const MARKS = /[*_`~[\]<>&!\\]|https?:|www\./g;

/** Twelve levels of quotes and lists that one line opens. */
const NESTED = /^[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*){12}/m;

/** A lexer that leaves paragraphs with too many marks as they are. */
class BoundedLexer extends Lexer {
  #left = MAX_MARKS_IN_ALL;

  override inline(text: string, tokens: Token[] = []): Token[] {
    const marks = text.match(MARKS)?.length ?? 0;
    if (marks > Math.min(MAX_MARKS, this.#left)) {
      tokens.push({ type: 'text', raw: text, text });
      return tokens;
    }
    this.#left -= marks;
    return super.inline(text, tokens);
  }
}

/** The tokens of `text`; null: reading it would take too long, so show it as it is. */
export function readMarkdown(text: string): readonly Token[] | null {
  if (text.length > MAX_CHARACTERS || NESTED.test(text)) return null;
  try {
    return new BoundedLexer().lex(text);
  } catch (error) {
    // Levels that several lines open can still be too many for the stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
