/** Reads `EVERLOOP_BLOBS`: `dir:/path` or `s3://bucket/prefix`. */
import { shown } from '../../core/text/shown.ts';
import type { BlobStore } from './blob-store.ts';
import { directoryBlobs } from './directory-blobs.ts';
import { isS3Place, s3Blobs } from './s3-blobs.ts';

/**
 * The store that the environment names; undefined if it names none. A problem goes to `report` as a
 * whole sentence.
 */
export function blobsOfEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  report: (problem: string) => void,
): BlobStore | undefined {
  const text = env['EVERLOOP_BLOBS']?.trim() ?? '';
  if (text === '') return undefined;
  const path = text.startsWith('dir:') ? text.slice('dir:'.length) : '';
  if (path !== '') return directoryBlobs(path);
  if (isS3Place(text)) return s3Blobs(text);
  report(
    `Expected \`EVERLOOP_BLOBS\` to be \`dir:/path\` or \`s3://bucket/prefix\`, got ${shown(text)}. Correct or unset it.`,
  );
  return undefined;
}
