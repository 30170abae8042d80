/**
 * PostgreSQL, for DBOS and LangGraph: a cluster of its own, in a folder of its own, at a free port.
 *
 * The programs come from the system's packages. They refuse to run as root, so root runs them as the
 * user `postgres`, whom those packages make.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { Unavailable, type Service } from './service.ts';

const DATABASES = ['dbos', 'langgraph', 'langgraph_delta'];
const DEBIAN = '/usr/lib/postgresql';

/** Starts it, with an empty database for each side; the place is an address without a database. */
export async function startPostgres(folder: string): Promise<Service<string>> {
  const programs = findPrograms();
  const data = join(folder, 'postgres');
  mkdirSync(data, { recursive: true });
  const user = userOf();
  if (user !== undefined) {
    chmodSync(folder, 0o755);
    chownSync(data, user.uid, user.gid);
  }
  const as = user === undefined ? {} : user;
  const options = { ...as, cwd: '/', stdio: 'ignore' } as const;
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'peers', '-A', 'trust', '-E', 'UTF8'],
    options,
  );
  const port = await freePort();
  const flags = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', ''];
  const server = spawn(join(programs, 'postgres'), flags, options);
  const ended = once(server, 'exit');
  const place = `postgresql://peers@127.0.0.1:${port}`;
  await createDatabases(`${place}/postgres`);
  return {
    place,
    stop: async () => {
      server.kill('SIGINT');
      await ended;
    },
  };
}

/** The size of a database after a checkpoint, without the write-ahead log. */
export async function databaseBytes(place: string, name: string): Promise<number> {
  const client = new pg.Client(`${place}/${name}`);
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}

async function createDatabases(address: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client(address);
    try {
      await client.connect();
      for (const name of DATABASES) await client.query(`create database ${name}`);
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

function findPrograms(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted().toReversed() : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
  ];
  const found = folders.find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  );
  if (found === undefined) {
    throw new Unavailable('PostgreSQL is not installed (Debian: apt-get install postgresql)');
  }
  return found;
}

/** The user who runs the programs when this process is root. */
function userOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    return { uid: idOf('-u'), gid: idOf('-g') };
  } catch {
    throw new Unavailable('PostgreSQL does not run as root, and there is no user `postgres`');
  }
}
