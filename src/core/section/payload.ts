/** Finds the JSON or YAML text in a section, since models often wrap it in a code block. */
import type { ReplyProblem } from '../base/problem.ts';
import { fencedBlocks, opensFence } from '../text/fences.ts';
import { withLineFeeds } from '../text/line-breaks.ts';

/** The text to read; or none; or why it cannot be separated from the text around it. */
export type Payload =
  | { readonly kind: 'payload'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problem: ReplyProblem };

/** The first and last line may say "Here it is:" and "Done."; more means more than one value. */
const maxLinesAround = 1;

/** Fences of a payload are at column 0; indented ones are content of a block text. */
const maxFenceIndent = 0;

/**
 * The payload of a JSON or YAML section: the content, or the inside of its only code block.
 * Problems: `text_around_block`, `several_blocks`. A code block that is not closed runs to the end.
 */
export function payloadOf(content: string): Payload {
  const lines = withLineFeeds(content).trim().split('\n');
  const blocks = fencedBlocks(
    lines.map((text, at) => ({ at, text })),
    maxFenceIndent,
  );
  const [block] = blocks;
  if (block === undefined) {
    return opensFence(lines[0] ?? '', maxFenceIndent) ? present(lines.slice(1)) : present(lines);
  }
  if (blocks.length > 1) {
    const message = `There are ${blocks.length} code blocks. Write one value.`;
    return { kind: 'problem', problem: { code: 'several_blocks', message } };
  }
  const before = lines.slice(0, block.open).filter(isNotBlank).length;
  const after = lines.slice(block.close + 1).filter(isNotBlank).length;
  if (before > maxLinesAround || after > maxLinesAround) {
    const message = 'There is text around the code block. Write only the value.';
    return { kind: 'problem', problem: { code: 'text_around_block', message } };
  }
  return present(lines.slice(block.open + 1, block.close));
}

function present(lines: readonly string[]): Payload {
  const text = lines.join('\n');
  return isNotBlank(text) ? { kind: 'payload', text } : { kind: 'absent' };
}

function isNotBlank(text: string): boolean {
  return text.trim() !== '';
}
