/** What spans may carry of what was said: without hidden values and secrets, cut. */
import { utf8Length, type Json } from '../core/base/json.ts';
import { maskHidden } from '../core/children/run-child.ts';
import type { EventBase, EventBody } from '../core/contract/events.ts';
import { withoutSecrets } from '../core/text/redact.ts';
import { firstBytes } from '../core/text/cut.ts';
import { HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import { ATTRIBUTES as A } from './genai.ts';

/** How much of what was said spans carry: nothing, what events show of it, or messages too. */
export type TraceContent = 'off' | 'events' | 'full';

/** The text of a call or a reply of an agent, without what its worker and the agent take out. */
export type CleanText = (agent: string, text: string) => string;

/** Takes nothing out. */
export const CLEAN_NOTHING: CleanText = (_agent, text) => text;

/** Bytes of one attribute. */
const MAX_CONTENT_BYTES = 32_768;

type ToolCallAfter = EventBase & Extract<EventBody, { readonly type: 'agent:tool_call:after' }>;

/**
 * Arguments and result of a call. Those of a program are left out: any of its values may come from a
 * hidden one.
 */
export function contentOf(
  { agent, args, output, inProgram }: ToolCallAfter,
  content: TraceContent,
  clean: CleanText = CLEAN_NOTHING,
): Readonly<Record<string, string | undefined>> {
  if (content === 'off' || inProgram === true) return {};
  const shown = (value: Json): string => attributeText(value, (text) => clean(agent, text));
  return {
    [A.toolArguments]: shown(args),
    [A.toolResult]: output === undefined ? undefined : shown(output),
  };
}

/** Bytes after the cut that are read as well: a secret at the cut has to be seen whole. */
const BEYOND_CUT_BYTES = 16_384;

/** `value` as the text of an attribute. `clean` comes first: it finds nothing in cut texts. */
export function attributeText(value: Json, clean: HideText = HIDE_NOTHING): string {
  const shown = maskHidden(value);
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  const bytes = utf8Length(text);
  if (bytes <= MAX_CONTENT_BYTES) return withoutSecrets(clean(text));
  const most = MAX_CONTENT_BYTES + BEYOND_CUT_BYTES;
  const read = withoutSecrets(clean(firstBytes(text, most)));
  // Where much was taken out, the place up to which was read comes closer.
  const end = bytes <= most ? MAX_CONTENT_BYTES : utf8Length(read) - BEYOND_CUT_BYTES;
  const kept = firstBytes(read, Math.max(0, Math.min(end, MAX_CONTENT_BYTES)));
  return `${kept}\n[cut: ${bytes} bytes in all]`;
}
