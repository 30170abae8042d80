/** Files that a person gives an agent with its task. */
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { MediaPart } from '../../../core/base/message.ts';
import { mediaTypeOfBytes, mediaTypeOfName } from '../../../core/text/media-type.ts';

/** The most bytes of all files of a start: it has room for as many in base64. */
const MAX_BYTES = 1_000_000;

/** What a file field writes to. */
export interface FileFieldProps {
  readonly id: string;
  readonly files: Signal<readonly MediaPart[]>;
  readonly refusal: Signal<string>;
}

/** A field for files, which are read as they are chosen. */
export function FileField({ id, files, refusal }: FileFieldProps): JSX.Element {
  const choose = async (input: HTMLInputElement): Promise<void> => {
    const chosen = [...(input.files ?? [])];
    files.value = [];
    refusal.value = '';
    if (chosen.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES) {
      input.value = '';
      refusal.value = `Expected files of at most ${MAX_BYTES} bytes together. Give larger ones by URL, or by the command line.`;
      return;
    }
    files.value = await Promise.all(chosen.map(readFile));
  };
  return (
    <div class="field">
      <label for={id}>Images and files</label>
      <input id={id} type="file" multiple onChange={(event) => void choose(event.currentTarget)} />
    </div>
  );
}

async function readFile(file: File): Promise<MediaPart> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mediaType =
    mediaTypeOfBytes(bytes) ?? mediaTypeOfName(file.name) ?? (file.type || 'text/plain');
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { type: 'media', mediaType, data: btoa(binary) };
}

/** A field of a start; nothing without files. */
export function mediaOf(files: readonly MediaPart[]): { readonly media?: readonly MediaPart[] } {
  return files.length === 0 ? {} : { media: files };
}
