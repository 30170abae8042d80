import { UsageError } from '../core/usage-error.ts';
import { shown } from '../core/text/shown.ts';
import type { MediaPart } from '../core/message.ts';

/** What a tool returns when it has more to say than its output; made by {@link toolResult}. */
export interface ToolReturn {
  readonly type: 'tool_result';
  /** Plain JSON data, or nothing. */
  readonly output?: unknown;
  /** Images, sounds or documents that the model sees with its next request. */
  readonly media?: readonly MediaPart[];
  /** What the model should do with the result. */
  readonly instructions?: string;
  /** -10 to 10; entries of 10 are never dropped by a compaction. */
  readonly importance?: number;
}

/**
 * A tool's output together with media, instructions or an importance.
 *
 * @throws UsageError for an importance beyond -10 to 10; the model reads it as the tool's error.
 * @example
 * return toolResult({ output: { id: 7 }, instructions: 'Tell the customer the id.' });
 */
export function toolResult(parts: Omit<ToolReturn, 'type'>): ToolReturn {
  const { importance } = parts;
  if (importance !== undefined && !(importance >= -10 && importance <= 10)) {
    throw new UsageError(
      'importance',
      `Expected \`importance\` from -10 to 10, got ${shown(importance)}. Change it.`,
    );
  }
  return { type: 'tool_result', ...parts };
}
