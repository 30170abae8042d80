/** Where tests, benchmarks and pictures find a browser, and how a fetched one is unpacked. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchedBrowser, unpackBrowser } from './support/browser/fetched-browser.ts';
import { findBrowser, NO_BROWSER, reasonToSkip } from './support/browser/find-browser.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-browser-'));
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

/** A file that is there. */
async function fileAt(...path: readonly string[]): Promise<string> {
  const file = join(folder, ...path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, '');
  return file;
}

describe('the browser that is found', () => {
  it('is the one that is named, else an installed one, else the one that was fetched', async () => {
    const [named, inPath, installed, fetched] = await Promise.all([
      fileAt('named', 'browser'),
      fileAt('bin', 'microsoft-edge'),
      fileAt('Applications', 'Google Chrome'),
      fileAt('fetched', 'chromium'),
    ]);
    const PATH = join(folder, 'bin');
    const EVERLOOP_CHROMIUM = named;
    const nowhere = { env: {}, installed: [], fetched: null };

    expect(findBrowser({ env: { EVERLOOP_CHROMIUM, PATH }, fetched })).toBe(named);
    expect(findBrowser({ env: { PATH }, installed: [installed], fetched })).toBe(inPath);
    expect(findBrowser({ env: {}, installed: [installed], fetched })).toBe(installed);
    expect(findBrowser({ env: {}, installed: [join(folder, 'none')], fetched })).toBe(fetched);
    expect(findBrowser(nowhere)).toBeNull();
  });

  it('is not another one when the one that is named is missing', () => {
    const env = { EVERLOOP_CHROMIUM: join(folder, 'none'), PATH: process.env['PATH'] };

    expect(() => findBrowser({ env })).toThrow(
      /in EVERLOOP_CHROMIUM, got .*none, which is missing/,
    );
  });

  it('is missing with a reason, or as a failure where it is required', () => {
    const nowhere = { installed: [], fetched: null };

    expect(reasonToSkip({ env: {}, ...nowhere })).toBe(NO_BROWSER);
    expect(() => reasonToSkip({ env: { EVERLOOP_BROWSER: 'required' }, ...nowhere })).toThrow(
      /^Expected a browser, but no Chromium.*npm run get:chromium/,
    );
  });
});

/** A tarball like the package's, whose browser prints where it looks for libraries and fonts. */
async function smallPackage(): Promise<{ readonly tarball: string; readonly integrity: string }> {
  const bin = join(folder, 'package', 'bin');
  await mkdir(bin, { recursive: true });
  const program = '#!/bin/sh\necho "$LD_LIBRARY_PATH $FONTCONFIG_FILE $1"\n';
  await writeFile(join(bin, 'chromium.br'), brotliCompressSync(program));
  for (const [name, file] of [
    ['al2023', 'lib/libnss3.so'],
    ['swiftshader', 'libGLESv2.so'],
    ['fonts', 'fonts/Sans.ttf'],
  ] as const) {
    await fileAt(name, file);
    execFileSync('tar', ['-cf', join(folder, `${name}.tar`), '-C', join(folder, name), '.']);
    const archive = await readFile(join(folder, `${name}.tar`));
    await writeFile(join(bin, `${name}.tar.br`), brotliCompressSync(archive));
  }
  const tarball = join(folder, 'package.tgz');
  execFileSync('tar', ['-czf', tarball, '-C', folder, 'package']);
  const hash = createHash('sha512').update(await readFile(tarball));
  return { tarball, integrity: `sha512-${hash.digest('base64')}` };
}

describe.skipIf(process.platform === 'win32')('a browser that is fetched', () => {
  it('is unpacked, and starts with the libraries and fonts beside it', async () => {
    const { tarball, integrity } = await smallPackage();
    const target = join(folder, 'data', '1.0.0');
    expect(fetchedBrowser(target)).toBeNull();

    await unpackBrowser(tarball, target, integrity);

    const file = fetchedBrowser(target) ?? '';
    const env = { PATH: process.env['PATH'] };
    const [libraries, fonts, given] = execFileSync(file, ['--flag'], { encoding: 'utf8', env })
      .trim()
      .split(' ');
    expect(given).toBe('--flag');
    expect(await readdir(libraries ?? '')).toEqual(['libnss3.so']);
    expect(await readFile(fonts ?? '', 'utf8')).toContain(`<dir>${target}/fonts</dir>`);
    expect(await readdir(join(target, 'browser'))).toEqual(['headless-shell', 'libGLESv2.so']);
    expect(await readdir(join(folder, 'data'))).toEqual(['1.0.0']);
  });

  it('is refused with another hash than the pinned one, and leaves nothing', async () => {
    const { tarball } = await smallPackage();
    const target = join(folder, 'refused', '1.0.0');
    await mkdir(join(folder, 'refused'));

    await expect(unpackBrowser(tarball, target, 'sha512-AAAA')).rejects.toThrow(
      /with the hash sha512-AAAA, got sha512-.*Nothing of it is used/,
    );
    expect(existsSync(target)).toBe(false);
    expect(await readdir(join(folder, 'refused'))).toEqual([]);
  });
});
