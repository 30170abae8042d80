/** Reads messages to conversations, which any client may have sent. */
import { defined } from '../base/defined.ts';
import { byteSize, isPlainObject, type Json } from '../base/json.ts';
import type { SaidMessage, TurnSettings } from '../contract/conversation.ts';
import { checkRunInput, MAX_INPUT_ID } from './check-input.ts';

/** Bytes of JSON of the settings of a turn. */
const MAX_SETTINGS_BYTES = 65_536;

/** A message that was checked, or why it is refused. */
export type ReadMessage =
  | { readonly kind: 'message'; readonly message: SaidMessage }
  | { readonly kind: 'invalid'; readonly message: string };

/** Reads a message; never throws. */
export function readMessage(value: unknown): ReadMessage {
  if (!isPlainObject(value))
    return invalid('Expected a message to be an object, got another value.');
  const { id, text = '', media, by, agent, instead, turn } = value;
  const input = { ...defined({ id, text, media, by }), kind: 'steer' };
  const checked = checkRunInput(input);
  if (checked.kind === 'invalid') return checked;
  if (typeof agent !== 'string' || agent === '') {
    return invalid('Expected a message to name its `agent`, got none.');
  }
  if (instead !== undefined && !isId(instead)) {
    return invalid(`Expected \`instead\` to be the id of a message, got another value.`);
  }
  if (turn !== undefined && (!isPlainObject(turn) || byteSize(turn as Json) > MAX_SETTINGS_BYTES)) {
    return invalid(
      `Expected the settings of a turn to be an object of at most ${MAX_SETTINGS_BYTES} bytes.`,
    );
  }
  const { kind: _kind, ...said } = checked.input;
  return {
    kind: 'message',
    message: {
      ...said,
      agent,
      ...defined({ instead, turn: turn as TurnSettings | undefined }),
    },
  };
}

function invalid(message: string): ReadMessage {
  return { kind: 'invalid', message };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_INPUT_ID;
}
