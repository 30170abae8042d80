/** A reader of histories with the workflows that this package carries. */
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HistoryReader, ReaderSetup } from '../../client/reading/run-reader.ts';
import { bundleFile, loadWorkflowBundle } from '../bundle/bundle.ts';
import { cliFolder } from '../server/cli-folder.ts';
import { createHistoryReader } from './history-reader.ts';

/** Opens a reader, which loads the bundle with the first link that it reads. */
export function openReader({ protection, dataDir }: ReaderSetup): HistoryReader {
  return createHistoryReader({
    protection,
    loadBundle: async () => loadWorkflowBundle({ cacheDir: await bundleFolder(dataDir) }),
  });
}

/**
 * Where a checkout keeps the bundle that it makes; the package carries it. That of the workers of this
 * folder is used; else one is made once for each user of a machine, beside the fetched CLI.
 */
async function bundleFolder(dataDir: string): Promise<string> {
  const own = join(dataDir, 'cache');
  const isThere = await access(bundleFile({ cacheDir: own })).then(
    () => true,
    () => false,
  );
  return isThere ? own : join(dirname(await cliFolder(dataDir)), 'bundles');
}
