import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildWeb } from '../../../src/console/build-web.ts';
import { webSizes } from './web-sizes.ts';

const STYLES = new URL('../../../src/console/web/style/', import.meta.url);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-web-'));
  await buildWeb(folder);
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

describe('the built pages', () => {
  it('load at most 45 KB of script and 8 KB of style at first', async () => {
    const { firstScripts, styles } = await webSizes(folder);

    expect(firstScripts).toBeLessThanOrEqual(45_000);
    expect(styles).toBeLessThanOrEqual(8_000);
  });

  it('have parts of at most 30 KB, and take at most 404 KB', async () => {
    const sizes = await webSizes(folder);

    expect(sizes.largestLater).toBeLessThanOrEqual(30_000);
    expect(sizes.folder).toBeLessThanOrEqual(404_000);
  });

  it('hold of the reader of Markdown no writer of HTML', async () => {
    const assets = join(folder, 'assets');
    const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'));
    const texts = await Promise.all(scripts.map((name) => readFile(join(assets, name), 'utf8')));

    expect(texts.some((text) => text.includes('blockquote'))).toBe(true);
    expect(texts.filter((text) => text.includes('</blockquote>'))).toEqual([]);
  });

  it('stay as they were when they cannot be built again', async () => {
    const before = await readdir(folder, { recursive: true });

    await expect(buildWeb(folder, join(folder, 'nowhere'))).rejects.toThrow('nowhere');
    expect(await readdir(folder, { recursive: true })).toEqual(before);
  });

  it('name the licence of each package in them', async () => {
    const text = await readFile(join(folder, 'THIRD-PARTY.txt'), 'utf8');

    for (const name of ['preact', '@preact/signals', 'marked', '@fontsource-variable/inter']) {
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
  });
});

/** Colours that a sheet writes itself. */
const COLOUR = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/gi;

describe('the styles', () => {
  it('name colours by their tokens', async () => {
    const names = (await readdir(STYLES)).filter((name) => name.endsWith('.css'));
    const found = await Promise.all(
      names
        .filter((name) => name !== 'tokens.css')
        .map(async (name) => [name, (await readFile(new URL(name, STYLES), 'utf8')).match(COLOUR)]),
    );

    expect(found.filter(([, colours]) => colours !== null)).toEqual([]);
  });

  const TEXT = ['text', 'muted', 'faint', 'accent', 'run', 'ok', 'wait', 'bad', 'idle'];
  const PAIRS: readonly (readonly [text: string, ground: string])[] = [
    ...TEXT.flatMap((text) => ['ground', 'panel', 'sunk'].map((ground) => [text, ground] as const)),
    ...['run', 'ok', 'wait', 'bad', 'idle'].map((state) => [state, `${state}-ground`] as const),
    ...['code-string', 'code-key', 'code-call', 'code-tool', 'code-number'].flatMap((name) =>
      ['panel', 'sunk', 'wait-ground', 'run-ground'].map((ground) => [name, ground] as const),
    ),
    ...['model', 'tool', 'child', 'bad'].map((kind) => ['on-span', `span-${kind}`] as const),
    ['on-accent', 'accent'],
    ['lost-text', 'lost-ground'],
    ['lost-text', 'lost'],
    ['text', 'run-ground'],
    ['text', 'wait-ground'],
    ['text', 'ok-ground'],
    ['muted', 'idle-ground'],
    ['muted', 'run-ground'],
    ['faint', 'run-ground'],
    ['ground', 'text'],
  ];

  it.each(['light', 'dark'] as const)('have a contrast of 4.5 in %s', async (scheme) => {
    const tokens = tokensOf(await readFile(new URL('tokens.css', STYLES), 'utf8'), scheme);
    const low = PAIRS.map(([text, ground]) => ({
      pair: `${text} on ${ground}`,
      ratio: contrast(tokens.get(text) ?? '', tokens.get(ground) ?? ''),
    })).filter(({ ratio }) => !(ratio >= 4.5));

    expect(low).toEqual([]);
  });
});

function tokensOf(sheet: string, scheme: 'light' | 'dark'): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', light = '', dark = ''] of sheet.matchAll(
    /--([\w-]+):\s*(?:light-dark\()?(#[0-9a-f]{6})(?:,\s*(#[0-9a-f]{6})\))?/g,
  )) {
    found.set(name, scheme === 'light' || dark === '' ? light : dark);
  }
  return found;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
