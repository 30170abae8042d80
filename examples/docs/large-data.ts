/** The examples of docs/large-data.md; test/docs/large-data.test.ts runs them. */
import {
  directoryBlobs,
  type connect as connectToService,
  type RunHandle,
} from '../../src/index.ts';

/** Starts a run with a document that the service would refuse. */
export async function startWithDocument(
  connect: typeof connectToService,
  folder: string,
  document: string,
): Promise<RunHandle> {
  // #region blobs
  const everloop = await connect({ protection: { blobs: directoryBlobs(folder) } });
  const run = await everloop.start('reader', { task: 'Summarize.', context: { document } });
  // #endregion
  return run;
}
