/** Checks the messages that a conversation brings along; any client may have written its start. */
import { isPlainObject, type Json } from '../base/json.ts';
import type { Message, Part } from '../base/message.ts';

/** What such a message may have: what is written, shown, called and returned. */
const FITS: Readonly<Record<string, (part: Readonly<Record<string, unknown>>) => boolean>> = {
  text: ({ text }) => typeof text === 'string',
  reasoning: ({ text }) => typeof text === 'string',
  media: ({ mediaType, url, data }) =>
    typeof mediaType === 'string' && (typeof url === 'string') !== (typeof data === 'string'),
  tool_call: ({ callId, tool, args }) =>
    typeof callId === 'string' && typeof tool === 'string' && args !== undefined,
  tool_result: ({ callId, tool, parts, isError }) =>
    typeof callId === 'string' &&
    typeof tool === 'string' &&
    typeof isError === 'boolean' &&
    Array.isArray(parts) &&
    parts.every((part) => isPlainObject(part) && part['type'] !== 'tool_result' && fits(part)),
};

const ROLES: readonly unknown[] = ['user', 'assistant', 'tool'];

/** The messages, or why they are none. */
export function readEarlier(
  value: unknown,
):
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }
  | { readonly kind: 'invalid'; readonly message: string } {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [undefined];
  const wrong = messages.findIndex((message) => !isMessage(message));
  if (wrong === -1) return { kind: 'messages', messages: messages as readonly Message[] };
  const what = 'a message of user, assistant or tool with text, media, calls or results';
  return {
    kind: 'invalid',
    message: `Expected \`messages[${wrong}]\` to be ${what}, got another value.`,
  };
}

function isMessage(value: unknown): value is Message {
  if (!isPlainObject(value)) return false;
  const { role, parts } = value as { readonly role?: unknown; readonly parts?: Json };
  return ROLES.includes(role) && Array.isArray(parts) && parts.length > 0 && parts.every(fits);
}

function fits(part: unknown): part is Part {
  if (!isPlainObject(part)) return false;
  const type = part['type'];
  return typeof type === 'string' && Object.hasOwn(FITS, type) && FITS[type]?.(part) === true;
}
