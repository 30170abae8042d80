/** Fenced code blocks, as in CommonMark 0.31 section 4.5, told from fences that never close. */

/** The lines of one block: both fence lines, counted from 0. */
export interface FencedBlock {
  readonly open: number;
  readonly close: number;
}

interface Fence {
  readonly line: number;
  readonly character: string;
  readonly length: number;
  /** Whether it may close a block: nothing but blanks stands behind it. */
  readonly closes: boolean;
}

/**
 * The closed blocks among `lines`, in order, none inside another. A fence that never closes is no
 * block. `maxIndent`: blanks that may stand before a fence. Cost: n log n in the number of fences.
 */
export function fencedBlocks(lines: readonly string[], maxIndent: number): readonly FencedBlock[] {
  // Few lines are fences: all else is about those.
  const fences: Fence[] = [];
  for (let line = 0; line < lines.length; line++) {
    const fence = fenceOf(lines[line] ?? '', line, maxIndent);
    if (fence !== undefined) fences.push(fence);
  }
  const closing = closingLines(fences);
  const blocks: FencedBlock[] = [];
  let free = 0;
  fences.forEach(({ line }, index) => {
    const close = closing[index];
    if (line < free || close === undefined) return;
    blocks.push({ open: line, close });
    free = close + 1;
  });
  return blocks;
}

/** Whether `line` opens a fence, with at most `maxIndent` blanks before it. */
export function opensFence(line: string, maxIndent: number): boolean {
  return fenceOf(line, 0, maxIndent) !== undefined;
}

function fenceOf(text: string, line: number, maxIndent: number): Fence | undefined {
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
  return { line, character, length: end - start, closes: rest.trim() === '' };
}

/**
 * For each fence the line of the first one behind it that would close it. Walks backwards with, for
 * each character, the closing fences of falling length, the nearest and shortest last.
 */
function closingLines(fences: readonly Fence[]): readonly (number | undefined)[] {
  const closing: (number | undefined)[] = [];
  const stacks = new Map<string, Fence[]>();
  for (const fence of fences.toReversed()) {
    const stack = stacks.get(fence.character) ?? [];
    stacks.set(fence.character, stack);
    closing.push(nearestOfLength(stack, fence.length));
    if (!fence.closes) continue;
    // A nearer fence that is at least as long makes the shorter ones behind it unreachable.
    while ((stack.at(-1)?.length ?? Infinity) <= fence.length) stack.pop();
    stack.push(fence);
  }
  return closing.toReversed();
}

/** In `stack` lengths fall towards the end: the last one that is long enough, by halving. */
function nearestOfLength(stack: readonly Fence[], length: number): number | undefined {
  let low = 0;
  let high = stack.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stack[middle]?.length ?? 0) >= length) low = middle + 1;
    else high = middle;
  }
  return stack[low - 1]?.line;
}
