/**
 * How many values a message in JSON has, counted while its bytes arrive. A message of 16 MB has
 * millions of them at worst, and then reading it takes seconds and a gigabyte.
 */

const QUOTE = 34;
const COMMA = 44;
const BRACKET = 91;
const BACKSLASH = 92;
const BRACE = 123;
const NEWLINE = 10;

/** Counts the values of one message. */
export class JsonValues {
  /** The values so far; each but the first follows a comma or an opening bracket. */
  count = 0;
  private inText = false;
  private isEscaped = false;
  private readonly countsLines: boolean;

  /** `countsLines`: a line break counts like a value. Default false. */
  constructor(countsLines = false) {
    this.countsLines = countsLines;
  }

  /** Counts the values of the next bytes. */
  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (!this.inText) {
        if (byte === QUOTE) this.inText = true;
        else if (byte === COMMA || byte === BRACKET || byte === BRACE) this.count += 1;
        else if (byte === NEWLINE && this.countsLines) this.count += 1;
      } else if (this.isEscaped) this.isEscaped = false;
      else if (byte === BACKSLASH) this.isEscaped = true;
      // No text of JSON has a line break.
      else if (byte === QUOTE || byte === NEWLINE) this.inText = false;
    }
  }

  /** Begins the next message. */
  reset(): void {
    this.count = 0;
    this.inText = false;
    this.isEscaped = false;
  }
}
