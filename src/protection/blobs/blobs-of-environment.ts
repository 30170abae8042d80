/** Reads `EVERLOOP_BLOBS`: `dir:/path` or `s3://bucket/prefix`. */
import { shown } from '../../core/text/shown.ts';
import type { BlobStore } from './blob-store.ts';
import { directoryBlobs } from './directory-blobs.ts';

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
  report(
    `Expected \`EVERLOOP_BLOBS\` to be \`dir:/path\`, got ${shown(text)}. Correct or unset it.`,
  );
  return undefined;
}
