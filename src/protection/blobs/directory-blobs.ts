/**
 * A folder as a store of large payloads, on one machine or on a file system that all workers share:
 * `{namespace}/{run}/{sha256}`.
 *
 * I1  A blob is written beside its place, synced, and renamed, and so are the folders above it before
 *     it is referred to: a reader never sees half a blob, and what is referred to survives a loss of
 *     power.
 * I2  Storing a blob again renews its time, so that no deletion of old blobs takes it.
 * I3  A deletion first gives a blob a name of its own, then looks at its time, and puts it back if it
 *     was renewed meanwhile. Readers find it under either name, and no other deletion brings another
 *     blob to that name.
 * I4  Only the user of the process may read its files and folders.
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { basename, dirname, join, resolve } from 'node:path';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { codeOf, namesIn } from './gone-files.ts';
import { digestOf, folderOf, isCut, isDigest, ownerFileOf, runIdOf } from './blob-names.ts';
import { syncFile } from './sync-file.ts';
import { takeLease } from './directory-lease.ts';
import {
  blobDriver,
  type BlobBytes,
  type BlobStore,
  type RemovedBlobs,
  type StoredRun,
} from './blob-store.ts';

/** The calls to the file system that tests make fail. */
export const disk: Pick<typeof import('node:fs/promises'), 'open' | 'rename' | 'rm' | 'stat'> & {
  readonly sync: typeof syncFile;
} = { open, rename, rm, stat, sync: syncFile };

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Beside the blobs of a run whose folder name was cut: the id of the run. */
const RUN_FILE = 'run-id';

/** Ends the name of a blob that is being deleted; it begins with the hash. */
const GONE = '.gone';

/** The digits of a hash. */
const HASH_LENGTH = 64;

/** A file that is being written. */
const DRAFT = '.tmp';

/** A file costs a few ms, and a reference to it has some 400 bytes of history. */
const CALL_BYTES = 4_096;

/** Folders of runs that are known to survive a loss of power. */
const MAX_SYNCED = 1_000;

/** How often a folder is made again that a deletion removes meanwhile. */
const WRITE_TRIES = 5;

/**
 * Keeps large payloads in the folder `path`, which the first write creates. All processes of a
 * namespace need the same folder.
 *
 * @example
 * await runWorker({ agents, protection: { blobs: directoryBlobs('/var/lib/everloop/blobs') } });
 */
export function directoryBlobs(path: string): BlobStore {
  if (typeof path !== 'string' || path === '') {
    throw new UsageError(
      'protection',
      'Expected the path of a folder for blobs, got none. Name a folder.',
    );
  }
  const root = resolve(path);
  const place = `dir:${root}`;
  const synced = new LRUCache<string, true>({ max: MAX_SYNCED });
  const bytes: BlobBytes = {
    name: 'everloop-files',
    type: 'everloop.files',
    place,
    put: async ({ folder, sha256, bytes: content, runId }) => {
      const key = `${folder}/${sha256}`;
      await put(join(root, key), content, runId);
      await syncAbove(join(root, folder), synced);
      return key;
    },
    get: (key, maxBytes) => get(join(root, key), maxBytes),
  };
  return {
    driver: blobDriver(bytes),
    callBytes: CALL_BYTES,
    place,
    probe: () => probe(root, place),
    takeLease: (ms, holder) => takeLease(root, ms, holder),
    own: (namespace, owner) => own(join(root, ownerFileOf(namespace)), owner),
    async *runs(namespace) {
      const folder = join(root, folderOf(namespace));
      for (const name of await namesIn(folder)) yield await storedRun(join(folder, name), name);
    },
    async *heads(namespace, maxBytes) {
      const folder = join(root, folderOf(namespace));
      for (const name of await namesIn(folder)) {
        for (const file of await namesIn(join(folder, name))) {
          const head = isDigest(file)
            ? await headOf(join(folder, name, file), maxBytes)
            : undefined;
          if (head !== undefined) yield head;
        }
      }
    },
    remove: (namespace, workflowId, before = Number.POSITIVE_INFINITY) =>
      remove(join(root, folderOf(namespace), folderOf(workflowId)), before),
  };
}

async function put(path: string, content: Uint8Array, runId: string | undefined): Promise<void> {
  const folder = dirname(path);
  for (let tries = 1; ; tries++) {
    try {
      if (!(await renewed(path, content))) {
        await makeFolder(folder);
        await writeSynced(path, content);
        if (runId !== undefined && isCut(basename(folder))) await noteRun(folder, runId);
      }
      // Another process may have written it, and not have come as far as this.
      await sync(folder);
      return;
    } catch (error) {
      // A deletion has removed the folder, which was empty for a moment.
      if (codeOf(error) !== 'ENOENT' || tries === WRITE_TRIES) throw error;
    }
  }
}

/** Whether the blob was there, whole, and now counts as stored just now (I2). */
async function renewed(path: string, content: Uint8Array): Promise<boolean> {
  try {
    const { size } = await disk.stat(path);
    if (size !== content.length || digestOf(await readFile(path)) !== digestOf(content))
      return false;
    const now = new Date();
    await utimes(path, now, now);
    return true;
  } catch {
    // It is not there, or not any more: it is written.
    return false;
  }
}

/** Writes a file as a whole (I1). */
async function writeSynced(path: string, content: Uint8Array): Promise<void> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    const file = await disk.open(draft, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(content);
      await disk.sync(file);
    } finally {
      await file.close();
    }
    await disk.rename(draft, path);
  } finally {
    await disk.rm(draft, { force: true });
  }
}

async function noteRun(folder: string, runId: string): Promise<void> {
  await writeSynced(join(folder, RUN_FILE), Buffer.from(runId));
}

/** Makes `folder`, and syncs what holds the folders that this makes (I1). */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) {
    await sync(dirname(made));
  }
}

/** Syncs what holds `folder`, of a run, and its namespace: another process may have made them (I1). */
async function syncAbove(folder: string, synced: LRUCache<string, true>): Promise<void> {
  if (synced.has(folder)) return;
  await sync(dirname(folder));
  await sync(dirname(dirname(folder)));
  synced.set(folder, true);
}

async function sync(folder: string): Promise<void> {
  const handle = await disk.open(folder, 'r');
  try {
    await disk.sync(handle);
  } finally {
    await handle.close();
  }
}

async function get(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const found = await read(path, maxBytes);
  if (found !== undefined) return found;
  for (const name of await namesIn(dirname(path))) {
    if (!name.startsWith(basename(path)) || !name.endsWith(GONE)) continue;
    const gone = await read(join(dirname(path), name), maxBytes);
    if (gone !== undefined) return gone;
  }
  // It may have been put back.
  return read(path, maxBytes);
}

/** The bytes of a file, `maxBytes` and one at most; undefined if there is none. */
async function read(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    const file = await disk.open(path, 'r');
    try {
      const { size } = await file.stat();
      return size > maxBytes ? new Uint8Array(maxBytes + 1) : await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

/** The first bytes of a file; undefined if it has been deleted meanwhile. */
async function headOf(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    const file = await disk.open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(new Uint8Array(maxBytes + 1));
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function storedRun(folder: string, name: string): Promise<StoredRun> {
  let [newestAt, blobs, bytes] = [0, 0, 0];
  for (const file of await namesIn(folder)) {
    const found = await disk.stat(join(folder, file)).catch(() => undefined);
    if (found === undefined) continue;
    newestAt = Math.max(newestAt, found.mtimeMs);
    bytes += found.size;
    if (isDigest(file)) blobs += 1;
  }
  return { workflowId: await workflowIdOf(folder, name), newestAt, blobs, bytes };
}

async function workflowIdOf(folder: string, name: string): Promise<string | undefined> {
  if (!isCut(name)) return runIdOf(name);
  const id = await readFile(join(folder, RUN_FILE), 'utf8').catch(() => undefined);
  return id !== undefined && folderOf(id) === name ? id : undefined;
}

async function remove(folder: string, before: number): Promise<RemovedBlobs> {
  let [blobs, bytes, kept] = [0, 0, 0];
  for (const file of await namesIn(folder)) {
    if (file === RUN_FILE) continue;
    const removed = await removeFile(join(folder, file), before);
    if (removed === undefined) kept += 1;
    else {
      bytes += removed;
      if (isDigest(file)) blobs += 1;
    }
  }
  if (kept === 0) {
    await disk.rm(join(folder, RUN_FILE), { force: true });
    // A blob may have come meanwhile.
    await rmdir(folder).catch(() => undefined);
  }
  return { blobs, bytes };
}

/** The bytes of the file that was deleted; undefined if it stays (I3). */
async function removeFile(path: string, before: number): Promise<number | undefined> {
  try {
    if ((await disk.stat(path)).mtimeMs >= before && !path.endsWith(GONE)) return undefined;
    const gone =
      path.endsWith(GONE) || path.endsWith(DRAFT) ? path : `${path}.${randomUUID()}${GONE}`;
    if (gone !== path) await disk.rename(path, gone);
    const { mtimeMs, size } = await disk.stat(gone);
    if (mtimeMs < before) {
      await disk.rm(gone, { force: true });
      return size;
    }
    // It was stored again, or a deletion ended before it could put it back.
    if (gone.endsWith(GONE)) {
      const name = basename(gone).slice(0, HASH_LENGTH);
      await link(gone, join(dirname(gone), name)).catch(ignoreExisting);
      await disk.rm(gone, { force: true });
    }
    return undefined;
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function probe(root: string, place: string): Promise<void> {
  try {
    await makeFolder(root);
    const path = join(root, `${randomUUID()}.probe`);
    await writeSynced(path, Buffer.from('probe'));
    await disk.rm(path);
  } catch (error) {
    throw new UsageError(
      'blob_store',
      `Expected blob store \`${place}\` to be a folder that this user may write, got: ${errorText(error)} Give this user the folder, or name another by \`EVERLOOP_BLOBS\`.`,
    );
  }
}

/** Of several processes, one makes the file, with its content. */
async function own(path: string, owner: string): Promise<string> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    await makeFolder(dirname(path));
    await writeSynced(draft, Buffer.from(owner));
    await link(draft, path).catch(ignoreExisting);
  } finally {
    await disk.rm(draft, { force: true });
  }
  return readFile(path, 'utf8');
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}
