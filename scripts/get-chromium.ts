/** `npm run get:chromium`: fetches a Chromium for tests and pictures into the data folder. */
import { errorText } from '../src/core/base/error-text.ts';
import { fetchBrowser } from '../test/support/browser/fetched-browser.ts';

try {
  console.log(await fetchBrowser());
} catch (error) {
  console.error(errorText(error));
  process.exitCode = 1;
}
