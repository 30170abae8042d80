/** Reads and checks the arguments and options of commands. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parsedJson } from '../../client/streaming/parsed-json.ts';
import type { CallbackInput, OnEventInput } from '../../core/contract/callback.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import { isJsonObject, isPlainObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { mergeLimits } from '../../core/limits/limits-input.ts';
import { callbackProblems } from '../../core/start/callback-specs.ts';
import { UsageError, usageErrorOf } from '../../core/base/usage-error.ts';

/** For a repeatable option: each use adds a value. */
export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

/**
 * Limits from texts such as `totalTokens=200000`, `costUsd=2` or `iterations=unlimited`; a single
 * `unlimited` drops all limits. Throws a UsageError with all problems.
 */
export function readLimits(texts: readonly string[]): LimitsInput | undefined {
  if (texts.length === 0) return undefined;
  if (texts.length === 1 && texts[0] === 'unlimited') return 'unlimited';
  const limits = Object.fromEntries(texts.map(readLimit)) as LimitsInput;
  const merged = mergeLimits([], limits);
  if (merged.kind === 'problems') throw usageErrorOf(merged.problems);
  return limits;
}

function readLimit(text: string): readonly [key: string, value: number | 'unlimited'] {
  const at = text.indexOf('=');
  const key = text.slice(0, at).trim();
  const value = text.slice(at + 1).trim();
  const number = value === '' ? Number.NaN : Number(value);
  if (at > 0 && value === 'unlimited') return [key, 'unlimited'];
  if (at > 0 && !Number.isNaN(number)) return [key, number];
  throw new UsageError(
    'limit_key',
    `Expected \`--limit\` as \`key=number\` or \`key=unlimited\`, got \`${text.slice(0, 200)}\`. ` +
      'Write it as `--limit totalTokens=200000`.',
  );
}

/** The JSON object in the text of `option`, or in a file if the text is `@` and a path. */
export async function readJsonObject(
  option: string,
  text: string | undefined,
  cwd: string,
): Promise<JsonObject | undefined> {
  if (text === undefined) return undefined;
  const unfit = (got: string): UsageError =>
    new UsageError(
      'invalid_input',
      `Expected \`${option}\` to be a JSON object or \`@\` and the path of a file with one, got ${got}. ` +
        `Write it as \`${option} '{"name": "value"}'\`.`,
    );
  const path = text.startsWith('@') ? text.slice(1) : undefined;
  const source =
    path === undefined
      ? text
      : await readFileOr(path, cwd, () => unfit(`the file \`${path}\`, which cannot be read`));
  const value = parsedJson(source);
  const got = `\`${source.slice(0, 200)}\``;
  if (value === undefined) throw unfit(`${got}, which is no JSON`);
  if (!isPlainObject(value)) throw unfit(got);
  return value as JsonObject;
}

/**
 * Callbacks from texts: an address, or a JSON object with `url`, `events` and `content`, or `@` and
 * the path of a file with one. Throws a UsageError with all problems.
 */
export async function readCallbacks(
  texts: readonly string[],
  cwd: string,
): Promise<OnEventInput | undefined> {
  if (texts.length === 0) return undefined;
  const callbacks = await Promise.all(
    texts.map(async (text) => {
      const isObject = /^[{@]/.test(text);
      return isObject ? await readJsonObject(ON_EVENT, text, cwd) : { url: text };
    }),
  );
  const problems = callbackProblems(callbacks);
  if (problems.length > 0) throw usageErrorOf(problems, `\`${ON_EVENT}\`: `);
  return callbacks as unknown as readonly CallbackInput[];
}

const ON_EVENT = '--on-event';

/** The JSON value of the argument `name`. */
export function readJsonArgument(name: string, text: string): Json {
  const value = parsedJson(text);
  if (value !== undefined) return value;
  throw badArgument(`Expected \`${name}\` to be JSON, got \`${text.slice(0, 200)}\``);
}

/** The JSON object of the argument `name`. */
export function readObject(name: string, text: string): JsonObject {
  const value = readJsonArgument(name, text);
  if (isJsonObject(value)) return value;
  throw badArgument(`Expected \`${name}\` to be a JSON object, got \`${text.slice(0, 200)}\``);
}

/** The text of the file that an argument names. */
export async function readTextFile(path: string, cwd: string): Promise<string> {
  return readFileOr(path, cwd, () =>
    badArgument(`Expected the path of a file that can be read, got \`${path}\``),
  );
}

async function readFileOr(path: string, cwd: string, problem: () => UsageError): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), 'utf8');
  } catch (error) {
    throw Object.assign(problem(), { cause: error });
  }
}

function badArgument(message: string): UsageError {
  return new UsageError('argument', `${message}. Correct it.`);
}

/** The whole number of `option`, at least `min`. */
export function readCount(option: string, text: string, min: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= min) return number;
  throw badArgument(
    `Expected \`${option}\` to be a whole number from ${min} up, got \`${text.slice(0, 200)}\``,
  );
}

/** Milliseconds of each unit of time. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The time of `option` in milliseconds, from a text such as `90s`, `30m`, `2h` or `1d`. */
export function readDuration(option: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? 0);
  if (milliseconds > 0) return milliseconds;
  throw badArgument(
    `Expected \`${option}\` to be a time such as 90s, 30m, 2h or 1d, got \`${text.slice(0, 200)}\``,
  );
}

/** The port of `option`: a number from 1 to 65,535, or `free` for any. */
export function readPort(option: string, text: string): number | 'free' {
  if (text === 'free') return 'free';
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number >= 1 && number <= 65_535) return number;
  throw badArgument(
    `Expected \`${option}\` to be a port from 1 to 65535 or \`free\`, got \`${text.slice(0, 200)}\``,
  );
}

/** The address of `option` to listen at, such as `127.0.0.1:7246` or `[::1]:7246`; port 0: any. */
export function readListen(
  option: string,
  text: string,
): { readonly host: string; readonly port: number } {
  const [, host = '', digits = ''] = /^(\[[^\]]+\]|[^:\s]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host !== '' && port <= 65_535) return { host: host.replace(/^\[|\]$/g, ''), port };
  throw badArgument(
    `Expected \`${option}\` to be HOST:PORT such as 127.0.0.1:7246, got \`${text.slice(0, 200)}\``,
  );
}
