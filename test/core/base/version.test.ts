import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { VERSION } from '../../../src/core/base/version.ts';

it('the version is that of package.json', () => {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');

  expect(VERSION).toBe((JSON.parse(manifest) as { readonly version: string }).version);
});
