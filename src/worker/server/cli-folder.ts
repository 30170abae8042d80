/** Where the fetched Temporal CLI is: once for each user of a machine, not once for each project. */
import { access, constants } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../../client/connection/temporal-environment.ts';
import { makeFolder } from '../files/write-whole.ts';
import { pinnedCliName } from './temporal-cli.ts';

/**
 * The folder of the CLI for the data folder `dataDir`: `bin` in it if somebody put the CLI there; else
 * `everloop/bin` in the user's cache folder; else, if that cannot be written, `bin` in the data folder.
 */
export async function cliFolder(
  dataDir: string,
  env: Environment = process.env,
  platform: string = process.platform,
): Promise<string> {
  const own = join(dataDir, 'bin');
  if (existsSync(join(own, pinnedCliName()))) return own;
  const cache = userCacheFolder(env, platform);
  if (cache === undefined) return own;
  const shared = join(cache, 'everloop', 'bin');
  return (await isWritable(shared)) ? shared : own;
}

/** The cache folder of this user; undefined if the environment names no absolute one. */
function userCacheFolder(env: Environment, platform: string): string | undefined {
  const home = env['HOME'] ?? homedir();
  const folders = [
    env['XDG_CACHE_HOME'],
    ...(platform === 'win32' ? [env['LOCALAPPDATA']] : []),
    platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache'),
  ];
  return folders.find((folder) => folder !== undefined && isAbsolute(folder));
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
