/** The commands of a chat: lines that begin with a slash. */
import { parsedJson } from '../../client/streaming/parsed-json.ts';
import { type Json, isJsonObject } from '../../core/base/json.ts';
import type { Decision } from '../../core/contract/pending.ts';

/** A command, parsed. */
export type ChatCommand =
  | { readonly name: 'help' | 'stats' | 'history' | 'cancel' | 'close' | 'quit' }
  | { readonly name: 'answer'; readonly id: string; readonly value: Json }
  | { readonly name: 'unknown'; readonly problem: string };

/** The text of `/help`. */
export const CHAT_COMMANDS: string = [
  '/history           the conversation so far',
  '/stats             statistics of the conversation, and its id',
  '/answer ID VALUE   ends outside work with a result: JSON or text',
  '/cancel            stops the current turn, as Ctrl-C does',
  '/close             ends the conversation after the current turn, and leaves',
  '/quit              leaves; the current turn goes on',
  '/help              this list',
  '',
  'While the agent works, your lines go to its turn. End a line with \\ to continue it on the next line.',
  'To send a message that begins with a slash, put a space before it.',
].join('\n');

const PLAIN = ['help', 'stats', 'history', 'cancel', 'close', 'quit'] as const;

/** Parses a command; null for a line that does not begin with a slash. */
export function readCommand(line: string): ChatCommand | null {
  if (!line.startsWith('/')) return null;
  const [, word = '', rest = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const name = PLAIN.find((known) => known === word);
  if (name !== undefined && rest.trim() === '') return { name };
  const answer = word === 'answer' ? /^(?<id>\S+)\s+(?<value>[^]+)$/.exec(rest) : null;
  const { id, value } = answer?.groups ?? {};
  if (id !== undefined && value !== undefined) {
    const json = parsedJson(value);
    return { name: 'answer', id, value: json === undefined ? value.trim() : json };
  }
  return {
    name: 'unknown',
    problem: `Expected /help, /stats, /history, /answer ID VALUE, /cancel, /close or /quit, got \`${line.slice(0, 100)}\`. Begin with a space to send it as a message.`,
  };
}

/**
 * Parses a decision about a call: `y` or `yes`, `always` for later calls of the tool too, `n` or `no`
 * with an optional reason after it, or other arguments as a JSON object. Null for anything else, so that no call runs by mistake.
 */
export function readDecision(text: string): Decision | null {
  const line = text.trim();
  if (/^y(es)?$/i.test(line)) return { approve: true };
  if (/^always$/i.test(line)) return { approve: true, remember: 'tool' };
  const denied = /^no?(?:[\s:,.]+(?<reason>[^]*))?$/i.exec(line);
  if (denied !== null) return { deny: denied.groups?.['reason']?.trim() ?? '' };
  const args = parsedJson(line) ?? null;
  return isJsonObject(args) ? { args } : null;
}
