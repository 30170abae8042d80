/** Keys and blobs of a job: the same for its workers, each of them a process, and for its client. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf, type Protection } from '../../src/protection/protection.ts';

/** What a process is told of them. */
export interface ProtectedWork {
  /** In base64. */
  readonly key: string;
  readonly blobDir: string;
}

/** A new key, and a folder for blobs in `folder`. */
export function newProtection(folder: string): ProtectedWork {
  return { key: randomBytes(32).toString('base64'), blobDir: join(folder, 'blobs') };
}

/** The settings of a process. */
export function protectionFor({ key, blobDir }: ProtectedWork): Protection {
  const keys = keyRing({ current: 'k1', keys: { k1: Buffer.from(key, 'base64') } });
  return protectionOf({ keys, blobs: directoryBlobs(blobDir) });
}
