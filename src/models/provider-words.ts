/**
 * What a provider says in the body of an error, whatever its shape: OpenAI `{ error: { message } }`,
 * Anthropic, Google (also in a list), Mistral `{ message: { detail } }`, FastAPI `{ detail: [{ loc, msg }]
 * }`, OpenRouter with the text of another provider inside, plain text, and pages of proxies.
 */
import { isPlainObject } from '../core/base/json.ts';

/** Characters of a body or text that are read. */
export const MAX_READ = 16_384;

/** Values of a body that are looked at, and how deep. */
const MAX_VALUES = 200;
const MAX_DEPTH = 8;

/** The fields that hold words for people, the best first. */
const WORD_FIELDS: readonly string[] = [
  'message',
  'error',
  'detail',
  'details',
  'msg',
  'error_message',
  'errorMessage',
  'error_description',
  'description',
  'errors',
  'raw',
  'metadata',
  'reason',
  'title',
];

/** Words that only say that something failed. */
const EMPTY_WORDS =
  /^(?:bad request|error|invalid request(?: error)?|unprocessable entity|provider returned error|upstream error|forbidden|not found|unknown error|invalid_request_error|request failed)[.!]?$/i;

/** The values of a JSON text; undefined if it is none. */
export function parsedBody(body: unknown): unknown {
  if (typeof body !== 'string' || !/^\s*[{[]/.test(body) || body.length > 4 * MAX_READ) {
    return undefined;
  }
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // Not JSON, so it is read as text.
    return undefined;
  }
}

/** The words of a body, the best first; empty if it has none. */
export function wordsOfBody(body: unknown): readonly string[] {
  if (typeof body !== 'string') return [];
  const value = parsedBody(body);
  if (value === undefined) return nonBlank(plainText(body.slice(0, MAX_READ)));
  const words: string[] = [];
  collect(value, words, { left: MAX_VALUES }, 0);
  return [...new Set(words)];
}

/** One text for people of `words`: the first that says something, with the next if it says little. */
export function shownWords(words: readonly string[]): string | undefined {
  const [first] = words;
  if (first === undefined || !EMPTY_WORDS.test(first)) return first;
  const more = words.find((text) => !EMPTY_WORDS.test(text));
  return more === undefined ? first : `${first}: ${more}`;
}

function collect(value: unknown, words: string[], budget: { left: number }, depth: number): void {
  budget.left -= 1;
  if (budget.left < 0 || depth > MAX_DEPTH) return;
  if (typeof value === 'string') {
    const inner = parsedBody(value);
    if (inner === undefined) words.push(...nonBlank(plainText(value.slice(0, MAX_READ))));
    else collect(inner, words, budget, depth + 1);
    return;
  }
  if (Array.isArray(value)) return collectList(value as readonly unknown[], words, budget, depth);
  if (!isPlainObject(value)) return;
  const found = WORD_FIELDS.map((name) => value[name]).filter((one) => one != null);
  // A text beside an object says more than what is inside of it.
  const isInner = (one: unknown): boolean => typeof one === 'object';
  for (const one of found.filter((it) => !isInner(it))) collect(one, words, budget, depth + 1);
  for (const one of found.filter(isInner)) collect(one, words, budget, depth + 1);
}

/** A list of faults is one text, each with its place. */
function collectList(
  list: readonly unknown[],
  words: string[],
  budget: { left: number },
  depth: number,
): void {
  const faults = list.flatMap((one) => nonBlank(faultText(one)));
  if (faults.length > 0) words.push(faults.slice(0, 5).join('; '));
  else for (const one of list) collect(one, words, budget, depth + 1);
}

function faultText(fault: unknown): string {
  if (!isPlainObject(fault) || typeof fault['msg'] !== 'string') return '';
  const { loc, msg } = fault;
  const place = Array.isArray(loc) ? loc.filter((step) => typeof step !== 'object').join('.') : '';
  return place === '' ? msg : `${place}: ${msg}`;
}

/** A page of a proxy as text; other text with its white space as it is. */
function plainText(text: string): string {
  if (!/^\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)) return text.trim();
  const title = /<title[^>]{0,100}>([^<]{1,200})<\/title>/i.exec(text)?.[1];
  return (title ?? text.replace(/<[^<>]{0,500}>/g, ' ')).replace(/\s+/g, ' ').trim();
}

function nonBlank(text: string): readonly string[] {
  return text.trim() === '' ? [] : [text];
}
