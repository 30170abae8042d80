/**
 * A Chromium from the npm package `@sparticuz/chromium`, in the data folder of the repository. The
 * version is the newest that allows Node 20. The package is no dependency: it is fetched once, and
 * only where `npm run get:chromium` is called.
 *
 * I1  What is unpacked has the pinned hash, whatever a registry or proxy answered.
 * I2  The folder is complete or missing: it gets its name when everything is in it.
 */
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';

/** The package whose Chromium is fetched, and the hash of its tarball as npm writes it. */
const CHROMIUM = {
  name: '@sparticuz/chromium',
  version: '147.0.0',
  integrity:
    'sha512-4ZKeAQQa8up2mt675qSitztLdbQrlf8BKdC5naeap+5Mv1OV1OlJdPoU+EJC/p5sQUJUQmN4r+q5+EhaaOUHpQ==',
};

const FOLDER = fileURLToPath(
  new URL(`../../../.everloop/chromium/${CHROMIUM.version}`, import.meta.url),
);

/** What starts the browser: a script that names the libraries and fonts beside it. */
const START = 'chromium';

/** Archives of the package: what is in them is beside the browser, or in a folder of its own. */
const ARCHIVES: readonly (readonly [name: string, folder: string])[] = [
  ['al2023', ''],
  ['swiftshader', 'browser'],
  ['fonts', ''],
];

/** The file of the browser that was fetched before; null: none was. */
export function fetchedBrowser(folder: string = FOLDER): string | null {
  const file = join(folder, START);
  return existsSync(file) ? file : null;
}

/**
 * Fetches the browser with npm, with its settings of registry and proxy, unless it is there.
 *
 * @returns the file of the browser.
 * @throws on other systems than Linux on x64, and for a tarball with another hash.
 */
export async function fetchBrowser(): Promise<string> {
  const present = fetchedBrowser();
  if (present !== null) return present;
  const machine = `${process.platform} on ${process.arch}`;
  if (machine !== 'linux on x64') {
    throw new Error(
      `Expected Linux on x64, for which there is a Chromium to fetch, got ${machine}. Install Chromium, Chrome or Edge.`,
    );
  }
  const downloads = `${FOLDER}-${randomUUID()}`;
  await mkdir(downloads, { recursive: true });
  try {
    const { name, version, integrity } = CHROMIUM;
    const args = ['pack', `${name}@${version}`, '--json', '--pack-destination', downloads];
    const told = execFileSync('npm', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [packed] = JSON.parse(told) as readonly { readonly filename: string }[];
    await unpackBrowser(join(downloads, packed?.filename ?? ''), FOLDER, integrity);
  } finally {
    await rm(downloads, { recursive: true, force: true });
  }
  return join(FOLDER, START);
}

/**
 * Unpacks the tarball of the package into `folder`.
 *
 * @throws for a tarball with another hash than `integrity`; nothing is unpacked then.
 */
export async function unpackBrowser(
  tarball: string,
  folder: string,
  integrity: string,
): Promise<void> {
  await checkIntegrity(tarball, integrity);
  const partial = `${folder}-${randomUUID()}`;
  const contents = join(partial, 'package');
  await mkdir(join(partial, 'browser'), { recursive: true });
  try {
    execFileSync('tar', ['-xzf', tarball, '-C', partial]);
    const browser = join(partial, 'browser', 'headless-shell');
    await decompress(join(contents, 'bin', 'chromium.br'), browser);
    await chmod(browser, 0o755);
    for (const [name, target] of ARCHIVES) {
      const archive = join(contents, `${name}.tar`);
      await decompress(join(contents, 'bin', `${name}.tar.br`), archive);
      execFileSync('tar', ['-xf', archive, '--no-same-owner', '-C', join(partial, target)]);
    }
    await writeFile(join(partial, 'fonts.conf'), fontsOf(folder));
    await writeFile(join(partial, START), START_SCRIPT, { mode: 0o755 });
    await rm(contents, { recursive: true });
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function checkIntegrity(file: string, expected: string): Promise<void> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(file), hash);
  const got = `sha512-${hash.digest('base64')}`;
  if (got === expected) return;
  throw new Error(
    `Expected a tarball of ${CHROMIUM.name} with the hash ${expected}, got ${got}. Nothing of it is used. Ask another registry, or install Chromium.`,
  );
}

async function decompress(from: string, to: string): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
}

/** The fonts of the package alone: pages look the same on every machine. */
function fontsOf(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`;
}

const START_SCRIPT = `#!/bin/sh
# Starts the browser with the libraries and fonts beside it.
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/browser/headless-shell" "$@"
`;
