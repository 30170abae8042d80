/** Reads messages to conversations, which any client may have sent. */
import { defined } from '../base/defined.ts';
import { byteSize, isDeeperThan, isPlainObject, MAX_JSON_DEPTH, type Json } from '../base/json.ts';
import type { SaidMessage, TurnSettings } from '../contract/conversation.ts';
import { inputProblems } from '../limits/limits-input.ts';
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
  const settings = turn === undefined ? undefined : readSettings(turn);
  if (typeof settings === 'string') return invalid(settings);
  const { kind: _kind, ...said } = checked.input;
  return {
    kind: 'message',
    message: {
      ...said,
      agent,
      ...defined({ instead, turn: settings }),
    },
  };
}

/** What a worker checks when it loads the turn. */
const SETTINGS: { readonly [Name in keyof Required<TurnSettings>]: true } = {
  context: true,
  limits: true,
  model: true,
  settings: true,
  toolChoice: true,
  onEvent: true,
  totalLimits: true,
};

/** The settings of a turn and nothing else, or why they are refused. */
function readSettings(turn: unknown): TurnSettings | string {
  if (!isPlainObject(turn)) return 'Expected the settings of a turn to be an object.';
  const known = Object.fromEntries(Object.entries(turn).filter(([name]) => name in SETTINGS));
  if (isDeeperThan(known, MAX_JSON_DEPTH)) {
    return `Expected the settings of a turn to nest at most ${MAX_JSON_DEPTH} levels, got more.`;
  }
  const bytes = byteSize(known as Json);
  if (bytes > MAX_SETTINGS_BYTES) {
    return `Expected the settings of a turn to be at most ${MAX_SETTINGS_BYTES} bytes, got ${bytes}. Put large data behind a tool.`;
  }
  return inputProblems(known['totalLimits'])[0]?.message ?? known;
}

function invalid(message: string): ReadMessage {
  return { kind: 'invalid', message };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_INPUT_ID;
}
