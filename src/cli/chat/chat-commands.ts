/** The commands of a conversation: lines that begin with a slash. */
import type { Json } from '../../core/base/json.ts';

/** A command as it was typed. */
export type ChatCommand =
  | { readonly name: 'help' | 'stats' | 'history' | 'cancel' | 'quit' }
  | { readonly name: 'answer'; readonly id: string; readonly value: Json }
  | { readonly name: 'unknown'; readonly problem: string };

/** What `/help` says. */
export const CHAT_COMMANDS: string = [
  '/history           what was said so far',
  '/stats             statistics of the newest turn, and its id',
  '/answer ID VALUE   ends outside work with a result, as JSON or text',
  '/cancel            stops the turn that goes on, as Ctrl-C does',
  '/quit              leaves; a turn that goes on is not stopped',
  '/help              this list',
  '',
  'While the agent works, a line is given to its turn. A line that ends with \\ goes on in the next one;',
  'one that begins with a space and a slash is no command.',
].join('\n');

const PLAIN = ['help', 'stats', 'history', 'cancel', 'quit'] as const;

/** The command that `line` is; null for everything that does not begin with a slash. */
export function readCommand(line: string): ChatCommand | null {
  if (!line.startsWith('/')) return null;
  const [, word = '', rest = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const name = PLAIN.find((known) => known === word);
  if (name !== undefined && rest.trim() === '') return { name };
  const answer = word === 'answer' ? /^(?<id>\S+)\s+(?<value>[^]+)$/.exec(rest) : null;
  const { id, value } = answer?.groups ?? {};
  if (id !== undefined && value !== undefined) return { name: 'answer', id, value: jsonOr(value) };
  return {
    name: 'unknown',
    problem: `Expected /help, /stats, /history, /answer ID VALUE, /cancel or /quit, got \`${line.slice(0, 100)}\`. Begin with a space to say it.`,
  };
}

function jsonOr(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text.trim();
  }
}
