import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { nodeProblem } from '../../src/client/connection/require-node.ts';

const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url));

it.each(['20.19.0', '20.20.2', '22.0.0', '24.11.1', process.versions.node])(
  'takes Node %s',
  (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  },
);

it.each([
  ['20.18.3', 'Node 20.18.3'],
  ['18.20.8', 'Node 18.20.8'],
  ['8.17.0', 'Node 8.17.0'],
  [undefined, 'another runtime'],
])('refuses %s in words', (version, got) => {
  expect(nodeProblem(version)).toBe(
    `Expected Node 20.19 or newer, got ${got}. Run this program with a newer Node.`,
  );
});

it('refuses what the package refuses', () => {
  const { engines } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly engines: object };

  expect(engines).toEqual({ node: '>=20.19' });
});
