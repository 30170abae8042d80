/** Splits what a process writes into lines, each a message, of bounded length and number of values. */
import { JsonValues } from '../../core/base/json-values.ts';

/** Bytes of one message; a result that a run keeps is far smaller. */
export const MAX_MESSAGE_BYTES = 16_777_216;

/** Values of one message; a listing of a thousand tools has a quarter of it. */
export const MAX_MESSAGE_VALUES = 200_000;

/** Bytes at both ends of a line that is too long, in which the id of its message is looked for. */
const END_BYTES = 200;

/** What a line came to. */
export type MessageLine =
  | { readonly kind: 'line'; readonly text: string }
  /** `id` is that of the answer, if it can be told. */
  | { readonly kind: 'too_long'; readonly id?: number };

/** Collects chunks; a line that is too long is counted, not kept. */
export class MessageLines {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private head: Buffer | undefined;
  private tail: Buffer = Buffer.alloc(0);
  private readonly values = new JsonValues();
  private readonly maxBytes: number;

  constructor(maxBytes: number = MAX_MESSAGE_BYTES) {
    this.maxBytes = maxBytes;
  }

  /** The lines that end in `chunk`. */
  add(chunk: Buffer): readonly MessageLine[] {
    const lines: MessageLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.keep(chunk.subarray(from, at));
      lines.push(this.end());
      from = at + 1;
    }
    this.keep(chunk.subarray(from));
    return lines;
  }

  private keep(part: Buffer): void {
    this.bytes += part.length;
    if (this.head === undefined) this.values.add(part);
    if (this.bytes <= this.maxBytes && this.values.count <= MAX_MESSAGE_VALUES) {
      if (part.length > 0) this.chunks.push(part);
      return;
    }
    this.head ??= Buffer.concat([...this.chunks, part]).subarray(0, END_BYTES);
    this.chunks = [];
    this.tail = Buffer.concat([this.tail, part.subarray(-END_BYTES)]).subarray(-END_BYTES);
  }

  private end(): MessageLine {
    const { head, tail, chunks } = this;
    [this.chunks, this.bytes, this.head, this.tail] = [[], 0, undefined, Buffer.alloc(0)];
    this.values.reset();
    if (head === undefined) return { kind: 'line', text: Buffer.concat(chunks).toString('utf8') };
    const id = idOf(head.toString('latin1'), tail.toString('latin1'));
    return id === undefined ? { kind: 'too_long' } : { kind: 'too_long', id };
  }
}

/** The id of an answer by its beginning or end, where all known servers write it. */
function idOf(head: string, tail: string): number | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
