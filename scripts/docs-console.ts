/**
 * `npm run docs:console`: takes the pictures of docs/console.md into docs/images, from fixed data at a
 * fixed moment. The same pages look different in another Chromium, so no test compares pixels.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  AIRLINE_PATH,
  CLERK_PATH,
  takePictures,
  type Picture,
} from '../test/console/web/pictures.ts';

const FOLDER = fileURLToPath(new URL('../docs/images', import.meta.url));

/** Of one picture; a test asserts it too. */
const MAX_BYTES = 150_000;

const LIGHT = { scheme: 'light', width: 1200, height: 720 } as const;
const DARK = { ...LIGHT, scheme: 'dark' } as const;

const PICTURES: readonly Picture[] = [
  { name: 'console-runs', path: '/', ...LIGHT },
  { name: 'console-run', path: AIRLINE_PATH, ...LIGHT },
  { name: 'console-program', path: `${CLERK_PATH}?tab=program`, ...DARK },
  { name: 'console-tree', path: '/runs/top-31?tab=tree', ...LIGHT },
  { name: 'console-inbox', path: '/inbox', ...LIGHT },
  { name: 'console-prompt', path: `${AIRLINE_PATH}?tab=prompt`, ...DARK },
  { name: 'console-agent', path: '/agents/clerk', ...LIGHT },
  { name: 'console-phone', path: '/inbox', scheme: 'dark', width: 390, height: 760 },
];

const notes = [...(await takePictures(FOLDER, PICTURES))];
const wanted = new Set(PICTURES.map(({ name }) => `${name}.png`));
for (const file of await readdir(FOLDER)) {
  if (!wanted.has(file)) await rm(join(FOLDER, file));
}
for (const file of wanted) {
  const { size } = await stat(join(FOLDER, file));
  console.log(`docs/images/${file}: ${size} bytes`);
  if (size > MAX_BYTES) notes.push(`${file} has ${size} bytes, of at most ${MAX_BYTES}.`);
}
for (const note of notes) console.error(note);
if (notes.length > 0) process.exitCode = 1;
