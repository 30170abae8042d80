/** Where the built pages stand: in the package, or built from the sources of a checkout. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWeb, newestSource } from './build-web.ts';

/** The folder of the pages beside the compiled console. */
const PACKAGED: string = fileURLToPath(new URL('./web', import.meta.url));

/** Where a checkout keeps them. */
const OF_CHECKOUT: string = fileURLToPath(new URL('../../dist/console/web', import.meta.url));

/**
 * The folder with `index.html` and `assets/`. A checkout builds it when it is missing or older than
 * its sources. Null: there are neither built pages nor what builds them.
 */
export async function builtWeb(): Promise<string | null> {
  if ((await builtAt(PACKAGED)) !== null) return PACKAGED;
  const sources = await newestSource();
  const built = await builtAt(OF_CHECKOUT);
  if (built !== null && built >= sources) return OF_CHECKOUT;
  if (sources === 0) return built === null ? null : OF_CHECKOUT;
  try {
    await buildWeb(OF_CHECKOUT);
    return OF_CHECKOUT;
  } catch {
    return built === null ? null : OF_CHECKOUT;
  }
}

/** When the pages in `folder` were built; null: it has none. */
async function builtAt(folder: string): Promise<number | null> {
  // The sources have an `index.html` too; only built pages have the licences.
  const found = await stat(join(folder, 'THIRD-PARTY.txt')).catch(() => null);
  return found === null ? null : found.mtimeMs;
}
