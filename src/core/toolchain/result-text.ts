/** A tool's output as text for the model, and the limits on that text. */
import { byteSize, type Json } from '../base/json.ts';
import type { FormattedSection, MediaPart } from '../base/message.ts';
import { cutWithSizes, type CutSizes } from '../text/cut.ts';
import { toolErrorText } from './call-texts.ts';
import type { Toolchain } from './toolchain.ts';

/** An output within the tool's limits; `cut` is set if it is the shortened text. */
export interface CappedOutput {
  readonly output?: Json;
  readonly cut?: CutSizes;
}

/** A string as it is, nothing as `(no output)`, other values as the toolchain writes them. */
export function resultText(output: Json | undefined, toolchain: Pick<Toolchain, 'write'>): string {
  if (output === undefined) return '(no output)';
  return typeof output === 'string' ? output : toolchain.write(output);
}

/**
 * `output`, or its shortened text if that is longer than `maxBytes`. The shortened text is also
 * what is recorded, so the model and the transcript have the same text.
 */
export function capOutput(
  output: Json | undefined,
  maxBytes: number,
  toolchain: Pick<Toolchain, 'write'>,
): CappedOutput {
  if (output === undefined) return {};
  const { text, cut } = cutWithSizes(resultText(output, toolchain), maxBytes);
  return cut === undefined ? { output } : { output: text, cut };
}

/**
 * JSON that is larger than the tool's limit. A program gets none of it, since a part of it would
 * not be JSON.
 */
export interface RefusedOutput {
  readonly outcome: 'error';
  readonly error: string;
  readonly reason: 'result_too_large';
}

/** The same for a program: text is shortened, JSON is refused if it is larger than `maxBytes`. */
export function capForProgram(
  tool: string,
  output: Json | undefined,
  maxBytes: number,
): CappedOutput | RefusedOutput {
  if (output === undefined || typeof output === 'string') {
    return capOutput(output, maxBytes, { write: JSON.stringify });
  }
  const bytes = byteSize(output);
  if (bytes <= maxBytes) return { output };
  const error = toolErrorText(
    `the result of ${tool} has ${bytes} bytes, at most ${maxBytes} are allowed. Ask for less.`,
  );
  return { outcome: 'error', error, reason: 'result_too_large' };
}

/** `[media 1: image/png]` for each part, a line each; `before`: media of the turn so far. */
export function mediaLines(media: readonly MediaPart[], before: number): string {
  return media.map((part, i) => `[media ${before + i + 1}: ${part.mediaType}]`).join('\n');
}

/** The section of one call; with instructions it has children `result` and `instructions`. */
export function resultSection(
  name: string,
  text: string,
  instructions: string | undefined,
): FormattedSection {
  if (instructions === undefined || instructions === '') return { name, content: text };
  return {
    name,
    children: [
      { name: 'result', content: text },
      { name: 'instructions', content: instructions },
    ],
  };
}
