/**
 * Takes what people and models wrote out of a history, so that it can be kept and passed on, and still
 * replays.
 *
 * I1  Each word becomes another one of the same length and the same case, and each digit another
 *     digit. The same word always becomes the same one within a history; the key is drawn anew for
 *     each history and kept nowhere.
 * I2  Kept are the structure of JSON, numbers outside of texts, the names that the agent's
 *     specification gives, and the words of Everloop's own formats and language. A key, or a text of
 *     one word, that Everloop's code has, such as `answered`, is kept as well.
 * I3  Kept as ids are UUIDs, the ids that the service has of workflows and updates, those of their
 *     limits, and ids of the form and in the field that Everloop's own formats give them. Within arguments, outputs and
 *     other data of users, no field makes an id.
 * I4  Bytes that are not JSON, for example encrypted ones, become zeros.
 * I5  A history may still decide by a text, for example by a comparison in a program. So whoever
 *     saves it replays what came out, and does not save what does not fit.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { languageCard, referenceTables } from '../lisp.ts';
import { isPlainObject, type Json } from '../core/base/json.ts';
import { isBelow, isIdField, isIdKey, isUserData, limitIdParts, serviceIdsOf } from './own-ids.ts';
import { defined } from '../core/base/defined.ts';
import { readRecorded } from '../core/base/recorded.ts';
import { payloadValue, type JsonPayload, type RunHistory } from './run-history.ts';

/** What is replaced in texts. */
export interface SanitiseOptions {
  /** The code of the workflows: a text that is one of its words is kept. */
  readonly code: string;
  /** Whether digits in texts are replaced too; programs may depend on them. */
  readonly digits: boolean;
}

/** Replaces texts. */
interface Filler {
  /** A text of people or models. */
  text(text: string): string;
  /** The value of a payload; ids and Everloop's own keys stay. */
  json(value: Json): Json;
}

/** The link without what people and models wrote. */
export function sanitised(link: RunHistory, options: SanitiseOptions): RunHistory {
  const filler = fillerOf(link, options);
  const events = link.history.events.map((event) => cleaned(event as unknown as Json, filler));
  return { ...link, history: { events } } as unknown as RunHistory;
}

/** Words that a model and Everloop write to each other around what they say. */
const FORMAT_WORDS = [
  'tool tools args action actions answer thinking observation input output task question options',
  'null true false yes no clojure lisp json yaml xml python text string number error approve deny',
  'CDATA lt gt amp quot',
].flatMap((line) => line.split(' '));

/** The names of the language, from the pages on it. */
function languageWords(): readonly string[] {
  const pages = `${languageCard()}\n${referenceTables()}`;
  return [...pages.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => wordsOf(code));
}

/** Keys of a specification under which a text, or each of a list, is a name. */
const NAME_KEY =
  /^(?:name|tag|id|tool|agents?|section|validators?|enum|const|format|mode|kind|type)$/;

/**
 * The names that specifications in payloads give, with all keys of their JSON: the words of each, and
 * the whole, such as `gpt-4.1`.
 */
function namesIn(link: RunHistory): ReadonlySet<string> {
  const names = new Set([...FORMAT_WORDS, ...languageWords(), ...wordsOf(link.workflowId)]);
  const visitSpec = (value: unknown, key: string): void => {
    if (typeof value === 'string' && NAME_KEY.test(key)) addAll(names, [value, ...wordsOf(value)]);
    if (Array.isArray(value)) for (const item of value as unknown[]) visitSpec(item, key);
    if (!isPlainObject(value)) return;
    for (const [name, item] of Object.entries(value)) {
      addAll(names, wordsOf(name));
      visitSpec(item, name);
    }
  };
  const visitValue = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visitValue);
    if (!isPlainObject(value)) return;
    for (const [name, item] of Object.entries(value)) {
      if (name === 'spec') visitSpec(item, name);
      else if (!isUserData(name)) visitValue(item);
    }
  };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isPlainObject(value)) return;
    if (isPayload(value))
      visitValue(readRecorded(payloadValue(value))?.value ?? payloadValue(value));
    else Object.values(value).forEach(visit);
  };
  visit(link.history.events);
  return names;
}

function addAll(names: Set<string>, words: readonly string[]): void {
  for (const word of words) names.add(word);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}]+/gu) ?? [];
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** A UUID, a word, or a number. */
const PIECE = new RegExp(`${UUID.source}|[\\p{L}\\p{M}]+|\\p{N}+`, 'giu');

function fillerOf(link: RunHistory, { code, digits }: SanitiseOptions): Filler {
  const names = namesIn(link);
  const serviceIds = serviceIdsOf(link);
  const text = textFiller(names, digits);
  const ownWords = new Set(code.match(/[A-Za-z_$]\w*/g));
  const isName = (word: string): boolean =>
    ownWords.has(word) ||
    (/^\P{N}+$/u.test(word) && wordsOf(word).every((part) => names.has(part)));
  const isOwn = (given: string): boolean =>
    names.has(given) ||
    (!/\s/.test(given) && (given.match(/[\p{L}\p{M}\p{N}_$]+/gu) ?? []).every(isName));
  const isRun = (given: string): boolean =>
    serviceIds.has(given) || isBelow(link.workflowId, given);
  const isLimit = (given: string): boolean => {
    const parts = limitIdParts(given);
    return parts !== null && isRun(parts.run) && isOwn(parts.key);
  };
  const isKept = (given: string): boolean => isOwn(given) || isRun(given) || isLimit(given);
  /** Without a field: within data of users. */
  const filled = (value: Json, field: string | null): Json => {
    if (typeof value === 'string') {
      return isKept(value) || (field !== null && isIdField(field, value)) ? value : text(value);
    }
    if (Array.isArray(value)) return value.map((item: Json) => filled(item, field));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value as { readonly [key: string]: Json });
    const isKeyKept = (key: string): boolean =>
      isKept(key) || (field === null ? /^\d{1,3}$/.test(key) : isIdKey(key));
    return Object.fromEntries(
      entries.map(([key, item]) => [
        isKeyKept(key) ? key : text(key),
        filled(item, field === null || isUserData(key) ? null : key),
      ]),
    );
  };
  return { text, json: (value) => filled(value, '') };
}

/** Replaces each word and number of a text that is no name, always by the same one. */
function textFiller(names: ReadonlySet<string>, digits: boolean): (text: string) => string {
  const key = randomBytes(32);
  const known = new Map<string, string>();
  const fill = (piece: string): string => {
    if (/^[a-z]$/i.test(piece) || names.has(piece) || UUID.test(piece)) return piece;
    if (/^\d/.test(piece) && !digits) return piece;
    const other = known.get(piece) ?? otherPiece(piece, key);
    known.set(piece, other);
    return other;
  };
  return (text) => text.replaceAll(PIECE, fill);
}

/** Letters of each length in UTF-8: a text keeps its size in bytes, too. */
const LETTERS: readonly (readonly string[])[] = [
  Array.from('abcdefghijklmnopqrstuvwxyz'),
  Array.from('àèìòùáéíóúäëïöü'),
  Array.from('一二三四五六七八九十'),
  Array.from('𐐨𐐩𐐪𐐫𐐬𐐭'),
];

function otherPiece(piece: string, key: Buffer): string {
  const bytes = createHmac('sha256', key).update(piece).digest();
  const other = (char: string, at: number): string => {
    const byte = bytes[at % bytes.length] ?? 0;
    // The first digit stays a first digit.
    if (/\d/.test(char)) return String(at === 0 && char !== '0' ? 1 + (byte % 9) : byte % 10);
    const letters = LETTERS[Buffer.byteLength(char) - 1] ?? [char];
    const letter = letters[byte % letters.length] ?? char;
    return char === char.toLowerCase() ? letter : letter.toUpperCase();
  };
  return Array.from(piece, other).join('');
}

/** Texts of the service's own that may quote what was written. */
const TEXT_KEY = /^(?:message|reason|cause|stackTrace|summary)$/;

/** An event without texts: payloads, failures and who worked on it. */
function cleaned(value: Json, filler: Filler, key = ''): Json {
  if (typeof value === 'string') {
    if (key === 'identity') return 'worker';
    if (key === 'stackTrace') return '';
    if (key === 'data') return zeros(value);
    return TEXT_KEY.test(key) ? filler.text(value) : value;
  }
  if (Array.isArray(value)) return value.map((item: Json) => cleaned(item, filler, key));
  if (!isPlainObject(value)) return value;
  if (isPayload(value)) return cleanedPayload(value, filler) as unknown as Json;
  const entries = Object.entries(value as { readonly [key: string]: Json });
  // What the SDK itself records of a marker: the name of an activity or of a patch.
  const isOwn = (name: string): boolean =>
    key === 'details' && (name === 'patch-data' || name === 'data');
  return Object.fromEntries(
    entries.map(([name, item]) => [name, isOwn(name) ? item : cleaned(item, filler, name)]),
  );
}

function isPayload(value: unknown): value is JsonPayload {
  return (
    isPlainObject(value) && isPlainObject(value['metadata']) && 'encoding' in value['metadata']
  );
}

/** What says how a payload is read. The rest, such as the name of a key, is of a codec. */
const METADATA = ['encoding', 'type', 'messageType'];

function cleanedPayload({ metadata = {}, data }: JsonPayload, filler: Filler): JsonPayload {
  const kept = Object.entries(metadata).filter(([name]) => METADATA.includes(name));
  const payload = { metadata: Object.fromEntries(kept) };
  if (data === undefined) return payload;
  const value = payloadValue({ metadata, data });
  if (value === undefined) return { ...payload, data: zeros(data) };
  // What a result records is Everloop's own; only its value may be of users.
  const recorded = readRecorded(value);
  const cleaned =
    recorded === null
      ? filler.json(value as Json)
      : defined({ ...recorded, value: cleanedValue(recorded.value, filler) });
  const text = JSON.stringify(cleaned);
  return { ...payload, data: Buffer.from(text).toString('base64') };
}

function cleanedValue(value: unknown, filler: Filler): unknown {
  return value === undefined ? undefined : filler.json(value as Json);
}

/** As many bytes, all of them zero; both in base64. */
function zeros(data: string): string {
  return Buffer.alloc(Buffer.from(data, 'base64').length).toString('base64');
}
