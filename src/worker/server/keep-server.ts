/**
 * Keeps a server of this process running: starts it again when it ends by itself, and
 * says when its database is gone.
 */
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../core/base/error-text.ts';

/** A server of this process, or a shared one, which has no `ended`. */
export interface KeepableServer {
  readonly address: string;
  readonly pid?: number;
  readonly stop: () => Promise<void>;
  readonly ended?: Promise<void>;
}

/** What {@link keepServer} needs. */
export interface KeptParts<Server extends KeepableServer> {
  readonly databaseFile: string;
  /** Starts the server again, at the same address. */
  readonly start: () => Promise<Server>;
  /** Receives a line for people. */
  readonly onProgress: (line: string) => void;
}

/** A server that ends soon after its start waits before the next; longer each time. */
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 30_000;

/** A server that ran for longer than this started well. */
const WELL_AFTER_MS = 10_000;

/** How often the database file is checked. */
const LOOK_MS = 2_000;

/** Keeps `server`, and each server that replaces it, running until `stop`. */
export function keepServer<Server extends KeepableServer>(
  server: Server,
  parts: KeptParts<Server>,
): Server {
  const { start, onProgress } = parts;
  const stopped = new AbortController();
  let current = server;
  const restart = async (): Promise<void> => {
    for (let waitMs = FIRST_WAIT_MS; !stopped.signal.aborted;) {
      try {
        current = await start();
        onProgress(`The Temporal server runs again at ${current.address}.`);
        return;
      } catch (error) {
        onProgress(`The Temporal server could not be started again: ${errorText(error)}`);
        await pause(waitMs, stopped.signal);
        waitMs = Math.min(2 * waitMs, MAX_WAIT_MS);
      }
    }
  };
  const keep = async (): Promise<void> => {
    let waitMs = FIRST_WAIT_MS;
    while (current.ended !== undefined) {
      const startedAt = Date.now();
      await current.ended;
      if (stopped.signal.aborted) return;
      onProgress(
        'The Temporal server ended. Starting it again; runs wait meanwhile and lose nothing.',
      );
      waitMs = Date.now() - startedAt > WELL_AFTER_MS ? FIRST_WAIT_MS : waitMs;
      await pause(waitMs, stopped.signal);
      waitMs = Math.min(2 * waitMs, MAX_WAIT_MS);
      await restart();
      if (stopped.signal.aborted) return;
    }
  };
  const kept = keep();
  const unwatch = watchDatabase(parts, () => current);
  return {
    ...server,
    get pid() {
      return current.pid;
    },
    stop: async () => {
      stopped.abort();
      unwatch();
      await current.stop();
      await kept;
      // A new server may have been starting.
      await current.stop();
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** Warns, once for each server, when its database file was deleted or replaced. */
function watchDatabase(
  { databaseFile, onProgress }: Pick<KeptParts<KeepableServer>, 'databaseFile' | 'onProgress'>,
  server: () => KeepableServer,
): () => void {
  let watched: { readonly pid: number | undefined; readonly file: number | null } | null = null;
  let warnedPid: number | undefined;
  const look = async (): Promise<void> => {
    const { pid } = server();
    const file = await fileNumber(databaseFile);
    if (watched === null || watched.pid !== pid) watched = { pid, file };
    if (file === watched.file || warnedPid === pid) return;
    warnedPid = pid;
    onProgress(
      `The database ${databaseFile} was deleted while the Temporal server uses it. Its runs are ` +
        'lost. Stop this command and start it again; it begins with an empty database.',
    );
  };
  void look();
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Identifies the file itself, unlike its path; null when there is none. */
async function fileNumber(file: string): Promise<number | null> {
  return stat(file).then(
    ({ ino }) => ino,
    () => null,
  );
}
