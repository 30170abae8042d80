/**
 * The programs of a cluster: those of PostgreSQL, which must be installed, and Temporal's server and
 * its tool for schemas, which are built once from Go's module proxy, or named by the environment.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { fetchTemporalCli, pinnedCliName } from '../../src/worker/server/temporal-cli.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

/** The repository. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/** What docker-compose.yml says of Temporal: the cluster is one such as it starts. */
export interface ComposedServer {
  /** `1.32.0` */
  readonly version: string;
  /** The variables by which the server is configured. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The service `temporal` of docker-compose.yml. */
export function composedServer(): ComposedServer {
  const file = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    readonly services: {
      readonly temporal: {
        readonly image: string;
        readonly environment: ComposedServer['environment'];
      };
    };
  };
  const { image, environment } = file.services.temporal;
  return { version: image.split(':')[1] ?? '', environment };
}

/** Paths of programs. */
export interface ClusterPrograms {
  /** The folder of `initdb` and `pg_ctl`. */
  readonly postgresBin: string;
  /** Whom PostgreSQL runs as, which is never root; absent: the user of this process. */
  readonly postgresUser?: { readonly uid: number; readonly gid: number };
  readonly server: string;
  readonly sqlTool: string;
  /** Temporal's CLI. */
  readonly cli: string;
}

const run = promisify(execFile);

/** Building takes five minutes on two cores. */
const BUILD_MS = 1_800_000;

/** Finds or builds them all; rejects with what is missing and how to get it. */
export async function findPrograms(): Promise<ClusterPrograms> {
  const postgresBin = await findPostgres();
  const user = process.getuid?.() === 0 ? { postgresUser: await unprivilegedUser() } : {};
  const cli = join(CLI_FOLDER, pinnedCliName());
  const [server, sqlTool] = await temporalPrograms();
  return {
    postgresBin,
    ...user,
    server,
    sqlTool,
    cli: existsSync(cli) ? cli : await fetchTemporalCli({ folder: CLI_FOLDER }),
  };
}

const DEBIAN = '/usr/lib/postgresql';

async function findPostgres(): Promise<string> {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).toSorted((left, right) => Number(right) - Number(left))
    : [];
  const configured = await run('pg_config', ['--bindir']).then(
    ({ stdout }) => [stdout.trim()],
    () => [],
  );
  const named = process.env['POSTGRES_BIN'];
  const folders =
    named === undefined
      ? [...configured, ...versions.map((version) => join(DEBIAN, version, 'bin'))]
      : [named];
  const found = folders.find((folder) =>
    ['initdb', 'pg_ctl'].every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new Error(
    `Expected PostgreSQL, got no folder with \`initdb\` and \`pg_ctl\` among [${folders.join(', ')}]. Install it (\`apt-get install postgresql\`), or name its folder in POSTGRES_BIN.`,
  );
}

/** PostgreSQL refuses to run as root. */
async function unprivilegedUser(): Promise<{ readonly uid: number; readonly gid: number }> {
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(
      () => undefined,
    );
    const [uid, gid] = (ids ?? []).map(({ stdout }) => Number(stdout));
    if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid };
  }
  throw new Error(
    'Expected a user for PostgreSQL, which does not run as root, got neither `postgres` nor `nobody`. Add one, or run the tests as another user.',
  );
}

async function temporalPrograms(): Promise<readonly [server: string, sqlTool: string]> {
  const { TEMPORAL_SERVER: server, TEMPORAL_SQL_TOOL: sqlTool } = process.env;
  if (server !== undefined && sqlTool !== undefined) return [server, sqlTool];
  const { version } = composedServer();
  const folder = join(dirname(CLI_FOLDER), `temporal-${version}`);
  return [server ?? (await built(folder, 'server')), sqlTool ?? (await built(folder, 'tools/sql'))];
}

/** The program of a package below `cmd` of Temporal's server; `go install` names it by its folder. */
async function built(folder: string, name: string): Promise<string> {
  const file = join(folder, name.split('/').at(-1) ?? '');
  if (existsSync(file)) return file;
  const source = `go.temporal.io/server/cmd/${name}@v${composedServer().version}`;
  process.stderr.write(`Builds ${source} into ${folder}. This takes some minutes, once.\n`);
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod', GOWORK: 'off' };
  try {
    // Outside of any module.
    await run('go', ['install', source], { env, cwd: '/', timeout: BUILD_MS });
  } catch (error) {
    throw new Error(
      `Expected to build ${source}, got: ${String(error).slice(0, 2_000)}. Install Go, or name the programs in TEMPORAL_SERVER and TEMPORAL_SQL_TOOL.`,
      { cause: error },
    );
  }
  return file;
}
