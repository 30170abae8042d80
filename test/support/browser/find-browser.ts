/**
 * The browser of tests, benchmarks and pictures. This is the only place that looks for one:
 *
 * 1. the file that `EVERLOOP_CHROMIUM` names;
 * 2. an installed Chromium, Chrome or Edge;
 * 3. the one that `npm run get:chromium` has fetched.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fetchedBrowser } from './fetched-browser.ts';

/** Names in `PATH`, in the order of preference. */
const COMMANDS: readonly string[] = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'microsoft-edge-stable',
];

/** Where macOS and Windows install browsers, which put none of them into `PATH`. */
const INSTALLED: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['Chromium', 'Google Chrome', 'Microsoft Edge'].map(
    (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
  ),
  win32: ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'].flatMap((variable) => {
    const folder = process.env[variable];
    if (folder === undefined) return [];
    const browsers = ['Chromium/Application/chrome', 'Google/Chrome/Application/chrome'];
    return [...browsers, 'Microsoft/Edge/Application/msedge'].map((path) =>
      join(folder, `${path}.exe`),
    );
  }),
};

/** What is said where a browser is needed and there is none. */
export const NO_BROWSER: string =
  'no Chromium, Chrome or Edge was found. Run `npm run get:chromium` (Linux on x64), install one, or name its file in EVERLOOP_CHROMIUM';

/** Where to look; for tests. */
export interface BrowserPlaces {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: where this system installs browsers outside of `PATH`. */
  readonly installed?: readonly string[];
  /** Default: the one that was fetched; null: there is none. */
  readonly fetched?: string | null;
}

/**
 * The file of the browser; null: there is none.
 *
 * @throws if `EVERLOOP_CHROMIUM` names a file that is missing.
 */
export function findBrowser(places: BrowserPlaces = {}): string | null {
  const { env = process.env, fetched = fetchedBrowser() } = places;
  const { EVERLOOP_CHROMIUM: named = '', PATH = '' } = env;
  if (named !== '') {
    if (existsSync(named)) return named;
    throw new Error(
      `Expected the file of a Chromium in EVERLOOP_CHROMIUM, got ${named}, which is missing. Name another file, or unset it.`,
    );
  }
  const inPath = PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => COMMANDS.map((name) => join(folder, name)));
  const { installed = INSTALLED[process.platform] ?? [] } = places;
  return [...inPath, ...installed].find((file) => existsSync(file)) ?? fetched;
}

/**
 * {@link findBrowser} where nothing can be done without one.
 *
 * @throws if there is none.
 */
export function requireBrowser(places?: BrowserPlaces): string {
  const found = findBrowser(places);
  if (found === null) throw new Error(`Expected a browser, but ${NO_BROWSER}.`);
  return found;
}

/**
 * Why tests that need a browser are skipped; null: there is one.
 *
 * @throws if there is none and `EVERLOOP_BROWSER` is `required`, as in CI.
 */
export function reasonToSkip(places: BrowserPlaces = {}): string | null {
  const { EVERLOOP_BROWSER: wish } = places.env ?? process.env;
  if (wish === 'required') requireBrowser(places);
  return findBrowser(places) === null ? NO_BROWSER : null;
}
