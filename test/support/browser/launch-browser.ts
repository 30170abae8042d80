/** Starts the browser of tests, benchmarks and pictures, with the same flags for all. */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { requireBrowser } from './find-browser.ts';

/** Files that container engines leave in a container. */
const CONTAINER_FILES: readonly string[] = ['/.dockerenv', '/run/.containerenv'];

/** Starts the browser that {@link requireBrowser} finds; the caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: requireBrowser(),
    chromiumSandbox: hasSandbox(),
    args: ['--disable-gpu', '--font-render-hinting=none'],
  });
}

/** False where a browser cannot start its sandbox: as root, or in a container. */
function hasSandbox(): boolean {
  return process.getuid?.() !== 0 && !CONTAINER_FILES.some((file) => existsSync(file));
}
