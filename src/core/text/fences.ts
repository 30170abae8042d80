/** Fenced code blocks, as in CommonMark 0.31 section 4.5, told from fences that never close. */

/** The lines of one block: both fence lines, counted from 0. */
export interface FencedBlock {
  readonly open: number;
  readonly close: number;
}

interface Fence {
  readonly character: string;
  readonly length: number;
  /** Whether it may close a block: nothing but blanks stands behind it. */
  readonly closes: boolean;
}

/**
 * The closed blocks among `lines`, in order, none inside another. A fence that never closes is no
 * block. `maxIndent`: blanks that may stand before a fence. Cost: n log n in the number of lines.
 */
export function fencedBlocks(lines: readonly string[], maxIndent: number): readonly FencedBlock[] {
  const fences = lines.map((line) => fenceOf(line, maxIndent));
  const closeOf = closingLines(fences);
  const blocks: FencedBlock[] = [];
  let line = 0;
  while (line < lines.length) {
    const close = closeOf[line];
    if (close !== undefined) {
      blocks.push({ open: line, close });
      line = close;
    }
    line += 1;
  }
  return blocks;
}

/** Whether `line` opens a fence, with at most `maxIndent` blanks before it. */
export function opensFence(line: string, maxIndent: number): boolean {
  return fenceOf(line, maxIndent) !== undefined;
}

function fenceOf(line: string, maxIndent: number): Fence | undefined {
  let start = 0;
  while (line[start] === ' ' && start <= maxIndent) start += 1;
  const character = line[start];
  if (start > maxIndent || (character !== '`' && character !== '~')) return undefined;
  let end = start;
  while (line[end] === character) end += 1;
  if (end - start < 3) return undefined;
  const rest = line.slice(end);
  // CommonMark: a line such as ```code``` is inline code, not a fence.
  if (character === '`' && rest.includes('`')) return undefined;
  return { character, length: end - start, closes: rest.trim() === '' };
}

/**
 * For each fence line the first line behind it that would close it. Walks backwards with, for each
 * character, the closing fences of rising length: a longer one hidden by none that is nearer.
 */
function closingLines(fences: readonly (Fence | undefined)[]): readonly (number | undefined)[] {
  const closeOf: (number | undefined)[] = Array.from({ length: fences.length });
  const stacks = new Map<string, { line: number; length: number }[]>();
  for (let line = fences.length - 1; line >= 0; line--) {
    const fence = fences[line];
    if (fence === undefined) continue;
    const stack = stacks.get(fence.character) ?? [];
    stacks.set(fence.character, stack);
    closeOf[line] = nearestOfLength(stack, fence.length);
    if (!fence.closes) continue;
    // A nearer fence that is at least as long makes the shorter ones behind it unreachable.
    while ((stack.at(-1)?.length ?? Infinity) <= fence.length) stack.pop();
    stack.push({ line, length: fence.length });
  }
  return closeOf;
}

/** In `stack` the nearest fence is last and the shortest: the last one that is long enough. */
function nearestOfLength(
  stack: readonly { line: number; length: number }[],
  length: number,
): number | undefined {
  let low = 0;
  let high = stack.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stack[middle]?.length ?? 0) >= length) low = middle + 1;
    else high = middle;
  }
  return stack[low - 1]?.line;
}
