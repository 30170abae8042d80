/**
 * A lock between processes: a file with the process id of its holder, created exclusively. It is
 * held while a server is looked for and started, so that a database file never gets two servers.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../core/base/usage-error.ts';

/** How often a waiting process checks the lock. */
const POLL_MS = 50;

/** How often a holder renews the time of the file, to show that it is alive. */
const RENEW_MS = 1_000;

/** An older lock counts as abandoned, even if another process now has the holder's id. */
const STALE_AFTER_MS = 60_000;

/**
 * Runs `body` while this process holds `lockFile`, and then releases it.
 *
 * Takes over a lock whose holder has died or has not renewed it for a minute. Throws a `UsageError`
 * with code `server_lock` when the lock is not free within `waitMs`.
 */
export async function withLock<T>(
  lockFile: string,
  waitMs: number,
  body: () => Promise<T>,
): Promise<T> {
  // The id distinguishes two locks of one process, which matters for a takeover.
  const mine = JSON.stringify({ pid: process.pid, id: randomUUID() });
  const deadline = Date.now() + waitMs;
  while (!(await tryToMake(lockFile, mine))) {
    if (await takeAwayIfStale(lockFile)) continue;
    if (Date.now() > deadline) throw lockError(lockFile, waitMs);
    await sleep(POLL_MS);
  }
  const renewal = setInterval(() => {
    const now = new Date();
    // The next renewal makes up for a failed one.
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

/** Whether a process with this id runs, even as another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function tryToMake(lockFile: string, content: string): Promise<boolean> {
  // Written under another name and then linked, so that no process reads a half-written lock.
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

/** Removes the lock if its holder is gone; returns whether it was removed. */
async function takeAwayIfStale(lockFile: string): Promise<boolean> {
  const seen = await readOrUndefined(lockFile);
  if (seen === undefined) return true;
  if (!(await isStale(lockFile, seen))) return false;
  // Another process may do the same at this moment and already have a new lock. So the file that
  // was moved away is checked again, and put back if it is not the stale one.
  const aside = `${lockFile}.${randomUUID()}`;
  try {
    await rename(lockFile, aside);
    if ((await readOrUndefined(aside)) !== seen) await link(aside, lockFile);
  } catch {
    // Another process was faster; the next round sees the result.
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
