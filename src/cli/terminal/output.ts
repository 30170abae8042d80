/**
 * The output of commands. Results go to stdout: text, or with `--json` one document and nothing
 * else. Progress and errors go to stderr. Only terminals get colors.
 */
import { styleText } from 'node:util';
import { errorText } from '../../core/base/error-text.ts';
import { wellFormedJson } from '../../core/text/well-formed.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { CliIo, TextSink } from './io.ts';
import { terminalText } from './text.ts';

/** The styles in use; names of `node:util`. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Applies a style to text, if its stream has colors. */
export type Paint = (style: Style, text: string) => string;

/** Writes the results and the progress of a command. */
export interface Output {
  readonly isJson: boolean;
  /** Whether progress is shown on a terminal. */
  readonly isLive: boolean;
  /** Writes the document of `--json`; does nothing without `--json`. */
  readonly json: (value: unknown) => void;
  /** Writes lines of the result; does nothing with `--json`. */
  readonly text: (text: string) => void;
  /** Writes one line of progress to stderr. */
  readonly note: (text: string) => void;
  /** Writes text to stderr without a line break. */
  readonly raw: (text: string) => void;
  /** Makes foreign text safe for `text`: on a terminal, control characters are escaped. */
  readonly safe: (text: string) => string;
  /** For `text`. */
  readonly paint: Paint;
  /** For `note` and `raw`. */
  readonly paintNote: Paint;
}

/** The output of one command. */
export function createOutput(io: CliIo, isJson: boolean): Output {
  const { stdout, stderr, env } = io;
  return {
    isJson,
    isLive: stderr.isTTY === true && !isJson,
    json: (value) => {
      if (isJson) stdout.write(`${wellFormedJson(JSON.stringify(value, null, 2))}\n`);
    },
    text: (text) => {
      if (!isJson) stdout.write(`${text}\n`);
    },
    note: (text) => void stderr.write(`${text}\n`),
    raw: (text) => void stderr.write(text),
    safe: stdout.isTTY === true ? terminalText : (text) => text,
    paint: painter(stdout, env),
    paintNote: painter(stderr, env),
  };
}

function painter(sink: TextSink, env: CliIo['env']): Paint {
  const hasColors = sink.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return hasColors ? (style, text) => styleText(style, text) : (_style, text) => text;
}

/**
 * The text of an error: the message of a usage error as it is, or a line about an unexpected one.
 * With `debug`, the stack, and those of its causes.
 */
export function errorReport(error: unknown, debug: boolean): string {
  if (debug) return stackOf(error);
  if (isUsageError(error)) return error.message;
  const message = errorText(error);
  return `Unexpected: ${message || 'an error without a message'}\nRun the command again with --debug to see where.`;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\nCaused by: ${stackOf(error.cause)}`;
}
