/** Builds the pages of the console into `dist/console/web`, as the package carries them. */
import { fileURLToPath } from 'node:url';
import { buildWeb } from '../src/console/build-web.ts';

await buildWeb(fileURLToPath(new URL('../dist/console/web', import.meta.url)));
