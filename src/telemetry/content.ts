/** What spans may carry of what was said: without hidden values and secrets, cut. */
import { utf8Length, type Json } from '../core/base/json.ts';
import { maskHidden } from '../core/children/run-child.ts';
import type { EventBase, EventBody } from '../core/contract/events.ts';
import { withoutSecrets } from '../core/text/redact.ts';
import { firstBytes } from '../core/text/cut.ts';
import { ATTRIBUTES as A } from './genai.ts';

/** How much of what was said spans carry: nothing, what events show of it, or messages too. */
export type TraceContent = 'off' | 'events' | 'full';

/** Bytes of one attribute. */
const MAX_CONTENT_BYTES = 32_768;

type ToolCallAfter = EventBase & Extract<EventBody, { readonly type: 'agent:tool_call:after' }>;

/**
 * Arguments and result of a call. Those of a program are left out: any of its values may come from a
 * hidden one.
 */
export function contentOf(
  { args, output, inProgram }: ToolCallAfter,
  content: TraceContent,
): Readonly<Record<string, string | undefined>> {
  if (content === 'off' || inProgram === true) return {};
  return {
    [A.toolArguments]: attributeText(args),
    [A.toolResult]: output === undefined ? undefined : attributeText(output),
  };
}

/** Bytes after the cut that are read as well: a secret at the cut has to be seen whole. */
const BEYOND_CUT_BYTES = 4_096;

/** `value` as the text of an attribute. */
export function attributeText(value: Json): string {
  const shown = maskHidden(value);
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  if (utf8Length(text) <= MAX_CONTENT_BYTES) return withoutSecrets(text);
  const read = withoutSecrets(firstBytes(text, MAX_CONTENT_BYTES + BEYOND_CUT_BYTES));
  return `${firstBytes(read, MAX_CONTENT_BYTES)}\n[cut: ${utf8Length(text)} bytes in all]`;
}
