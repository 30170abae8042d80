/** A service of a peer: where it is, and how many bytes it keeps. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A service that runs. */
export interface Service<Place> {
  readonly place: Place;
  stop(): Promise<void>;
}

/** Why a peer is left out. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Bytes of all files below `folder`. */
export function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (found?.isFile() ? found.size : 0);
  }, 0);
}
