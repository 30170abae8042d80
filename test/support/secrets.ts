/** Words that are placed in every part of a run, and the search for them in what is stored. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where a run holds something of its user. */
export const SECRET_PLACES = [
  'task',
  'context-name',
  'context-value',
  'context-nested',
  'hidden-context',
  'history-question',
  'history-answer',
  'instructions',
  'rules',
  'tool-description',
  'parameter-description',
  'tool-argument',
  'tool-result',
  'tool-instructions',
  'tool-error',
  'tool-crash',
  'argument-name',
  'tool-event',
  'example',
  'prose',
  'reasoning',
  'helper-description',
  'helper-instructions',
  'helper-task',
  'helper-answer',
  'question',
  'option',
  'reply-of-person',
  'approval-argument',
  'denial',
  'outside-details',
  'outside-result',
  'sent-message',
  'feedback',
  'refused-answer',
  'answer',
  'validator-event',
  'conversation',
  'model-failure',
  'event-field',
  'cancel-message',
  'large-context',
] as const;

/** One of {@link SECRET_PLACES}. */
export type SecretPlace = (typeof SECRET_PLACES)[number];

/** The word of a place: letters only, so that it may be a name too. */
export function secret(place: SecretPlace): string {
  return `zq${place.replaceAll('-', '')}zq`;
}

/** The places whose word stands in `bytes`. */
export function placesIn(bytes: Uint8Array | string): readonly SecretPlace[] {
  const text = Buffer.from(bytes).toString('latin1');
  return SECRET_PLACES.filter((place) => text.includes(secret(place)));
}

/** The places whose word stands in any file of `folder`. */
export function placesInFolder(folder: string): readonly SecretPlace[] {
  const found = filesOf(folder).flatMap((bytes) => placesIn(bytes));
  return SECRET_PLACES.filter((place) => found.includes(place));
}

/** Whether any file of `folder` has `text`. */
export function hasInFolder(folder: string, text: string): boolean {
  return filesOf(folder).some((bytes) => bytes.includes(text));
}

function filesOf(folder: string): readonly Buffer[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file));
}
