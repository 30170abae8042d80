/** What a tool returned as text for the model, and the bounds of that text. */
import { byteSize, type Json } from '../base/json.ts';
import type { FormattedSection, MediaPart } from '../base/message.ts';
import { cutWithSizes, type CutSizes } from '../text/cut.ts';
import { toolErrorText } from './call-texts.ts';
import type { Toolchain } from './toolchain.ts';

/** An output within the tool's bounds; `cut` is set when it is the shortened text. */
export interface CappedOutput {
  readonly output?: Json;
  readonly cut?: CutSizes;
}

/** A string bare, nothing as `(no output)`, other values as the toolchain writes them. */
export function resultText(output: Json | undefined, toolchain: Pick<Toolchain, 'write'>): string {
  if (output === undefined) return '(no output)';
  return typeof output === 'string' ? output : toolchain.write(output);
}

/**
 * `output`, or its text cut to `maxBytes` when that text is longer: then the cut text is what is
 * recorded, so that what the model read and what the transcript keeps are the same.
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

/** JSON that a program asked for and that is larger than the tool's bounds: half of it would be none. */
export interface RefusedOutput {
  readonly outcome: 'error';
  readonly error: string;
  readonly reason: 'result_too_large';
}

/** The same for a program: text is cut, JSON over `maxBytes` as compact JSON is refused. */
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

/**
 * The section of one call: `text` and the lines of its media; with instructions the children
 * `result` and `instructions`.
 */
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
