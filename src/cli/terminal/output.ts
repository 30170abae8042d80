/**
 * What a command says. Results go to stdout: text, or with `--json` one document and nothing else.
 * Progress and errors go to stderr. Colours are for terminals only.
 */
import { styleText } from 'node:util';
import { errorText } from '../../core/base/error-text.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { CliIo, TextSink } from './io.ts';
import { terminalText } from './text.ts';

/** Styles that are used; names of `node:util`. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours text for one of the two streams, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** What a command says its results and its progress with. */
export interface Output {
  readonly isJson: boolean;
  /** Whether somebody watches the progress. */
  readonly isLive: boolean;
  /** The result, as the one document of `--json`; says nothing in text. */
  readonly json: (value: unknown) => void;
  /** Lines of the result; says nothing with `--json`. */
  readonly text: (text: string) => void;
  /** One line of progress, on stderr. */
  readonly note: (text: string) => void;
  /** A piece of progress without a line break, on stderr. */
  readonly raw: (text: string) => void;
  /** What others wrote, for `text`: without control characters on a terminal, else as it is. */
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
      if (isJson) stdout.write(`${JSON.stringify(value, null, 2)}\n`);
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
  const hasColours = sink.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return hasColours ? (style, text) => styleText(style, text) : (_style, text) => text;
}

/**
 * The lines for an error: those of a usage error as they are, for others one that says what
 * happened. A stack, and those of its causes, only with `debug`.
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
