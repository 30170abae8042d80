import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { LONGEST } from './support/longest-first.ts';

it('the files that run first are there, and named once', () => {
  const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

  expect(LONGEST.filter((path) => !existsSync(file(path)))).toEqual([]);
  expect(new Set(LONGEST).size).toBe(LONGEST.length);
});
