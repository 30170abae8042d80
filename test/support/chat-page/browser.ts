/** The browser of this machine. None is downloaded: a package of Debian or a user's own will do. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Where macOS has it. */
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/** What a test without a browser says. */
export const NO_BROWSER: string =
  'no Chromium was found: install one, such as `apt-get install chromium`, or name its file in TEST_BROWSER';

/**
 * The file of Chromium or Chrome: what `TEST_BROWSER` names, or the first in `PATH`; undefined if
 * there is none.
 *
 * @throws if there is none and `TEST_BROWSER` is `required`, as in CI.
 */
export function findBrowser(): string | undefined {
  const { TEST_BROWSER: given = '', PATH = '' } = process.env;
  if (given !== '' && given !== 'required') return given;
  const files = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = [...files, MAC].find((file) => existsSync(file));
  if (found === undefined && given === 'required') throw new Error(NO_BROWSER);
  return found;
}
