import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isServerTest, LEFT_OUT_OF_SAMPLE } from './support/server-tests.ts';

it.each(LEFT_OUT_OF_SAMPLE)('%s is a test of the projects `server` or `console`', (path) => {
  expect(existsSync(path)).toBe(true);
  expect(isServerTest(path) || path.startsWith('test/console/browser/')).toBe(true);
});
