/** Closed fenced code blocks, as in CommonMark 0.31 section 4.5. */

/** A line and its place: a line number or an offset. Later lines have larger places. */
export interface PlacedLine {
  readonly at: number;
  readonly text: string;
}

/** The places of both fence lines of one block. */
export interface FencedBlock {
  readonly open: number;
  readonly close: number;
}

interface Fence {
  readonly at: number;
  readonly character: string;
  readonly length: number;
  /** Whether it may close a block: only blanks follow it. */
  readonly closes: boolean;
}

/**
 * The closed blocks among `lines`, in order, none inside another. Lines that begin with neither a
 * blank nor a fence mark may be left out. `maxIndent`: blanks allowed before a fence. Cost: n log n
 * in the number of fences.
 */
export function fencedBlocks(
  lines: readonly PlacedLine[],
  maxIndent: number,
): readonly FencedBlock[] {
  const fences = lines.flatMap((line) => fenceOf(line, maxIndent) ?? []);
  const closing = closingLines(fences);
  const blocks: FencedBlock[] = [];
  let last = -1;
  fences.forEach(({ at }, index) => {
    const close = closing[index];
    if (at <= last || close === undefined) return;
    blocks.push({ open: at, close });
    last = close;
  });
  return blocks;
}

/** Whether `line` opens a fence, with at most `maxIndent` blanks before it. */
export function opensFence(line: string, maxIndent: number): boolean {
  return fenceOf({ at: 0, text: line }, maxIndent) !== undefined;
}

function fenceOf({ at, text }: PlacedLine, maxIndent: number): Fence | undefined {
  let start = 0;
  while (text[start] === ' ' && start <= maxIndent) start += 1;
  const character = text[start];
  if (start > maxIndent || (character !== '`' && character !== '~')) return undefined;
  let end = start;
  while (text[end] === character) end += 1;
  if (end - start < 3) return undefined;
  const rest = text.slice(end);
  // CommonMark: a line such as ```code``` is inline code, not a fence.
  if (character === '`' && rest.includes('`')) return undefined;
  return { at, character, length: end - start, closes: rest.trim() === '' };
}

/**
 * For each fence, the place of the first later fence that would close it. Walks backwards and
 * keeps, for each character, a stack of closing fences, the nearest and shortest on top.
 */
function closingLines(fences: readonly Fence[]): readonly (number | undefined)[] {
  const closing: (number | undefined)[] = [];
  const stacks = new Map<string, Fence[]>();
  for (const fence of fences.toReversed()) {
    const stack = stacks.get(fence.character) ?? [];
    stacks.set(fence.character, stack);
    closing.push(nearestOfLength(stack, fence.length));
    if (!fence.closes) continue;
    // A nearer fence that is at least as long makes the shorter ones after it unreachable.
    while ((stack.at(-1)?.length ?? Infinity) <= fence.length) stack.pop();
    stack.push(fence);
  }
  return closing.toReversed();
}

/** Lengths fall towards the top of `stack`: binary search for the last long enough fence. */
function nearestOfLength(stack: readonly Fence[], length: number): number | undefined {
  let low = 0;
  let high = stack.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stack[middle]?.length ?? 0) >= length) low = middle + 1;
    else high = middle;
  }
  return stack[low - 1]?.at;
}
