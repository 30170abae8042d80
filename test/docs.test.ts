import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GENERATED_PAGES, renderPage } from '../scripts/generated-docs.ts';
import { EXIT_CODES } from '../src/cli/terminal/exit-codes.ts';
import { usageCodes } from '../src/core/base/usage-codes.ts';
import { cli } from './cli/cli-fixture.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

/** The anchors that a Markdown page has on the web: its headings without marks, joined by dashes. */
function anchorsOf(page: string): readonly string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documentation', () => {
  it.each(PAGES)('links only to what is there: %s', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(
      ([, link]) => link ?? '',
    );
    const local = links.filter((link) => !/^[a-z]+:/.test(link));

    const missing = local.filter((link) => !existsSync(join(ROOT, dirname(page), link)));

    expect(missing).toEqual([]);
  });

  it.each(PAGES)('links only to headings that are there: %s', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#\s:]*\.md)?#([^)\s]+)\)/g)];

    const missing = links.filter(([, file, anchor = '']) => {
      const target = file === undefined ? page : join(dirname(page), file);
      return !anchorsOf(read(target)).includes(anchor);
    });

    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it.each(PAGES)('names only source files that are there: %s', (page) => {
    const named = [...read(page).matchAll(/`([\w.-]+\/[\w./-]+\.ts)`/g)].map(
      ([, path = '']) => path,
    );

    const missing = named.filter(
      (path) => !['', 'src', 'test'].some((folder) => existsSync(join(ROOT, folder, path))),
    );

    expect(missing).toEqual([]);
  });

  it('shows pictures that are there, have words beside them, and have at most 150 KB', () => {
    const shown = PAGES.flatMap((page) =>
      [...read(page).matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, words = '', file = '']) => ({
        words,
        file: join(dirname(page), file).replaceAll('\\', '/'),
      })),
    );
    const files = [...new Set(shown.map(({ file }) => file))].toSorted();

    expect(shown.filter(({ words }) => words.length < 10)).toEqual([]);
    expect(files.filter((file) => statSync(join(ROOT, file)).size > 150_000)).toEqual([]);
    expect(files).toEqual(
      readdirSync(join(ROOT, 'docs/images')).map((name) => `docs/images/${name}`),
    );
    expect(files).toHaveLength(8);
  });

  it('shows the example that is run, in the README', () => {
    const source = read('examples/readme.ts');
    const region = source.split('// region readme\n')[1]?.split('// endregion')[0] ?? '';
    const shown = /```ts\n([\s\S]*?)```/.exec(read('README.md'))?.[1] ?? '';

    // What a user writes in place of what the example imports from this repository.
    const asUsed = region.replace('exampleModel(script)', "openai('gpt-5-mini')");

    expect(shown.split('\n\n').slice(1).join('\n\n')).toBe(asUsed);
    const start = read('README.md').split('\n').slice(0, 20).join('\n');
    expect(start).toContain('npm install everloop @ai-sdk/openai zod tsx\n');
    expect(start).toContain(asUsed.trim());
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

  it.each(GENERATED_PAGES)('has fresh tables, which `npm run docs` writes: %s', async (path) => {
    const page = read(path);

    expect(page).toMatch(/<!-- generated: [a-z ]+ -->/);
    expect(await renderPage(path, page)).toBe(page);
  });

  it('quotes examples as they are', () => {
    const quotes = PAGES.flatMap((page) =>
      [...read(page).matchAll(/<!-- quoted: (\S+) (\S+) -->\n+```ts\n([^]*?)```/g)].map(
        ([, file = '', region = '', shown]) => ({ page, file, region, shown }),
      ),
    );

    const differing = quotes.filter(({ file, region, shown }) => {
      const [, rest = ''] = read(file).split(`// region ${region}\n`);
      return rest.split('// endregion')[0] !== shown;
    });

    expect(quotes).not.toEqual([]);
    expect(differing).toEqual([]);
  });

  // What is not in the table does not compile; this is the other way round.
  it('lists no code of a usage error that nobody throws', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('usage-codes.ts'))
      .map((name) => read(join('src', name)))
      .join('\n');
    // Made from the kind of thing that has the name.
    const made = ['agent_name', 'pipeline_name', 'tool_name', 'validator_name'];

    const unused = Object.keys(usageCodes).filter((code) => !sources.includes(`'${code}'`));

    expect(unused.filter((code) => !made.includes(code))).toEqual([]);
  });

  it('lists each page of docs/ in its index, and each decision in theirs', () => {
    const linkedFrom = (index: string): readonly string[] =>
      [...read(index).matchAll(/\]\(([^)#\s]+)\)/g)].map(([, link = '']) =>
        join(dirname(index), link).replaceAll('\\', '/'),
      );
    const [index, decisions] = ['docs/README.md', 'docs/decisions/README.md'];
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== index);
    const isDecision = (page: string): boolean =>
      page.startsWith('docs/decisions/') && page !== decisions;

    const listed = linkedFrom(index);
    const missing = pages.filter((page) => !isDecision(page) && !listed.includes(page));

    expect(missing).toEqual([]);
    expect(listed.length).toBe(new Set(listed).size);
    expect(linkedFrom(decisions)).toEqual(pages.filter(isDecision).toSorted());
  });

  it('gives each decision a number of its own and the four parts of its template', () => {
    const decisions = PAGES.filter((page) => /^docs\/decisions\/(?!README)/.test(page));

    const numbers = decisions.map((page) => /\/(\d{4})-/.exec(page)?.[1]);
    const titles = decisions.map((page) => /^# (\d+)\. \S/.exec(read(page))?.[1]);
    const parts = decisions.map((page) =>
      [...read(page).matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part]) => part).join(' '),
    );
    const otherParts = decisions.filter(
      (_, place) => parts[place] !== 'Context Options Decision Consequences',
    );

    expect(new Set(numbers).size).toBe(decisions.length);
    expect(titles).toEqual(numbers.map((number) => String(Number(number))));
    expect(otherParts).toEqual([]);
  });

  it('shows the title of each decision in the list of decisions', () => {
    const entries = [...read('docs/decisions/README.md').matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)];

    const differing = entries.filter(
      ([, title, file]) => read(`docs/decisions/${file}`).split('\n')[0] !== `# ${title}`,
    );

    expect(entries.length).toBeGreaterThan(50);
    expect(differing.map(([entry]) => entry)).toEqual([]);
  });

  it('says in the first lines what this is for, and keeps notes for agents short', () => {
    expect(read('README.md').split('\n').slice(0, 10).join(' ')).toContain('LLM agents');
    expect(read('AGENTS.md').trim().split('\n').length).toBeLessThanOrEqual(40);
  });
});
