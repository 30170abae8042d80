import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { failureTypes } from '../src/core/failure-types.ts';
import { cli } from './cli/cli-fixture.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

describe('the documentation', () => {
  it.each(PAGES)('links only to what is there: %s', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(
      ([, link]) => link ?? '',
    );
    const local = links.filter((link) => !/^[a-z]+:/.test(link));

    const missing = local.filter((link) => !existsSync(join(ROOT, dirname(page), link)));

    expect(missing).toEqual([]);
  });

  it('shows the example that is run, in the README', () => {
    const source = read('examples/readme.ts');
    const region = source.split('// region readme\n')[1]?.split('// endregion')[0] ?? '';
    const shown = /```ts\n([\s\S]*?)```/.exec(read('README.md'))?.[1] ?? '';

    // What a user writes in place of what the example imports from this repository.
    const asUsed = region.replace('exampleModel(script)', "openai('gpt-5-mini')");

    expect(shown.split('\n\n').slice(1).join('\n\n')).toBe(asUsed);
    expect(asUsed.trim().split('\n').length).toBeLessThanOrEqual(20);
  });

  it('lists every command and exit code of the command line', async () => {
    const page = read('docs/cli.md');
    const { stdout } = await cli(['--help']);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[options\]|<|\s)/gm)].map(
      ([, name]) => name,
    );

    const undocumented = commands.filter((name) => name !== 'help' && !page.includes(`\`${name}`));
    const codes = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));

    expect(commands.length).toBeGreaterThan(12);
    expect(undocumented).toEqual([]);
    expect(codes).toEqual(Object.values(EXIT_CODES));
  });

  it('lists every type of failure with its meaning', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `([a-z_]+)` +\| (.*?) +\|$/gm)];

    expect(Object.fromEntries(rows.map(([, type, meaning]) => [type, meaning]))).toEqual(
      failureTypes,
    );
  });

  it('says in the first lines what this is for, and keeps notes for agents short', () => {
    expect(read('README.md').split('\n').slice(0, 10).join(' ')).toContain('LLM agents');
    expect(read('AGENTS.md').trim().split('\n').length).toBeLessThanOrEqual(40);
  });
});
