/**
 * A lock between processes: one file, made exclusively, that names its holder. It is held for the
 * seconds in which a server is looked for and started, so that one database file gets one server.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../core/base/usage-error.ts';

/** How often a waiting process looks whether the lock is free. */
const POLL_MS = 50;

/** How often a holder shows that it lives, by renewing the time of the file. */
const RENEW_MS = 1_000;

/** A lock that nobody renewed for so long is dead, also when another process got its holder's id. */
const STALE_AFTER_MS = 60_000;

/**
 * Runs `body` while this process alone holds `lockFile`; the lock is released however it ends.
 *
 * A lock whose holder has died, or that was not renewed for a minute, is taken over. Throws a
 * `UsageError` with code `server_lock` when it is not free within `waitMs`.
 */
export async function withLock<T>(
  lockFile: string,
  waitMs: number,
  body: () => Promise<T>,
): Promise<T> {
  // The id makes two locks of one process differ, which a take-over must notice.
  const mine = JSON.stringify({ pid: process.pid, id: randomUUID() });
  const deadline = Date.now() + waitMs;
  while (!(await tryToMake(lockFile, mine))) {
    if (await takeAwayIfStale(lockFile)) continue;
    if (Date.now() > deadline) throw lockError(lockFile, waitMs);
    await sleep(POLL_MS);
  }
  const renewal = setInterval(() => {
    const now = new Date();
    // A renewal that fails is made up for by the next one.
    utimes(lockFile, now, now).catch(() => undefined);
  }, RENEW_MS);
  renewal.unref();
  try {
    return await body();
  } finally {
    clearInterval(renewal);
    if ((await readOrUndefined(lockFile)) === mine) await rm(lockFile, { force: true });
  }
}

/** Whether a process with this id runs, also when it belongs to somebody else. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function tryToMake(lockFile: string, content: string): Promise<boolean> {
  // Written under another name and then linked: no other process ever reads a half-written lock.
  const draft = `${lockFile}.${randomUUID()}`;
  await writeFile(draft, content);
  try {
    await link(draft, lockFile);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the lock when its holder is gone; tells whether it was removed. */
async function takeAwayIfStale(lockFile: string): Promise<boolean> {
  const seen = await readOrUndefined(lockFile);
  if (seen === undefined) return true;
  if (!(await isStale(lockFile, seen))) return false;
  // Another process may do the same at this moment and already have made a lock of its own: what
  // was moved away is looked at again, and given back when it is not what was judged stale.
  const aside = `${lockFile}.${randomUUID()}`;
  try {
    await rename(lockFile, aside);
    if ((await readOrUndefined(aside)) !== seen) await link(aside, lockFile);
  } catch {
    // Somebody else was faster; the next round sees what there is.
  } finally {
    await rm(aside, { force: true });
  }
  return true;
}

async function isStale(lockFile: string, content: string): Promise<boolean> {
  const made = await stat(lockFile).catch(() => undefined);
  if (made !== undefined && Date.now() - made.mtimeMs > STALE_AFTER_MS) return true;
  const pid = /"pid":(\d+)/.exec(content)?.[1];
  return pid === undefined || !isRunning(Number(pid));
}

async function readOrUndefined(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

function lockError(lockFile: string, waitMs: number): UsageError {
  return new UsageError(
    'server_lock',
    `Expected \`${lockFile}\` to be released within ${waitMs / 1000} s, got a process that still ` +
      'holds it. Wait until it has started its server, or remove the file if no such process runs.',
  );
}
