/** Every example in a doc comment compiles, against the sources. */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const ENTRIES = ['index', 'worker', 'testing', 'ui', 'console', 'core', 'lisp', 'workflow'];

/** What an example takes from the program around it. */
const GIVEN: { readonly [name: string]: string } = {
  agent: 'AgentDefinition',
  agents: 'readonly AgentDefinition[]',
  app: "import('hono').Hono",
  assert: "typeof import('node:assert/strict')",
  book: '(city: string, hotel: string) => Promise<Json>',
  brackets: 'OwnFormat',
  clerk: 'AgentDefinition',
  context: '{ readonly review: string }',
  counts: "import('ROOT/src/core/contract/model.ts').TokenUsage",
  csv: 'OwnSection',
  event: 'AgentEvent',
  everloop: 'Everloop',
  factChecker: 'AgentDefinition',
  feedback: "Parameters<typeof import('ROOT/src/core/loop/text-calls.ts').observationMessages>[1]",
  fetchHits: '(query: string, signal: AbortSignal) => Promise<Json>',
  k1: 'Uint8Array',
  k2: 'Uint8Array',
  lines: 'OwnToolchain',
  model: 'AgentModel',
  models: 'readonly ModelEntry[]',
  note: 'EventListener',
  oracleWith: '(model: AgentModel) => AgentDefinition',
  pages: 'readonly string[]',
  protection: 'ProtectionOptions',
  reader: 'AgentDefinition',
  render: '(update: unknown) => void',
  researcher: 'AgentDefinition',
  results: "Awaited<ReturnType<import('ROOT/src/core/loop/work.ts').Work['call']>>",
  review: 'AgentDefinition<{ readonly sentiment: string }, { readonly review: string }>',
  run: 'RunHandle<{ readonly sentiment: string }>',
  search: 'ToolDefinition',
  startBuild:
    '(commit: string, options: { readonly callback: string }) => Promise<{ readonly url: string }>',
  stylist: 'AgentDefinition',
  task: 'string',
  test: '(name: string, run: () => void | Promise<void>) => void',
  text: 'string',
  token: 'string',
  twiceAsked: 'Next',
  work: "import('ROOT/src/core/loop/work.ts').Work",
  worker: '{ readonly run: () => Promise<void>; readonly shutdown: () => void }',
  writer: 'AgentDefinition',
  z: "typeof import('zod').z",
};

/** What has the option that an example shows alone. */
const OPTIONS_OF: { readonly [file: string]: string } = {
  'src/define/agent/agent-options.ts': 'AgentOptions',
  'src/define/tool/ask.ts':
    "ToolOptions<import('zod').ZodObject<{ city: import('zod').ZodString }>>",
  'src/define/tool/external.ts':
    "ToolOptions<import('zod').ZodObject<{ commit: import('zod').ZodString }>>",
  'src/protection/protection.ts': 'ProtectionOptions',
  'src/worker/serve/run-worker.ts': 'RunWorkerOptions',
};

interface Example {
  readonly file: string;
  readonly code: string;
}

function examples(): readonly Example[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${file}`)
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\/\*\*([^]*?)\*\//g)].flatMap(
        ([, comment = '']) => {
          const [, after] = comment.split('@example');
          const [code = ''] = (after ?? '').split(/\n\s*\* @/);
          const lines = code.split('\n').map((line) => line.replace(/^\s*\* ?/, ''));
          return after === undefined ? [] : [{ file, code: lines.join('\n').trim() }];
        },
      ),
    );
}

/** The names that a module exports, and the module of each. */
function exportsOf(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const own = [
    ...text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm),
  ];
  const others = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']*)'/gm)];
  return new Map([
    ...own.map(([, name = '']) => [name, file] as const),
    ...others.flatMap(([, names = '', from = '']) =>
      names
        .split(',')
        .map((name) => name.replace('type ', '').trim())
        .filter((name) => /^\w+$/.test(name))
        .map((name) => [name, join(dirname(file), from)] as const),
    ),
  ]);
}

/** Finds a name that is no property; it may be spread. */
function names(name: string): RegExp {
  return new RegExp(`(?<![\\w'])(?<!(?<!\\.\\.)\\.)${name}\\b`);
}

/** An example as a module: what it names is imported or given. */
function moduleOf({ file, code }: Example, entries: ReadonlyMap<string, string>): string {
  const known = new Map([...entries, ...exportsOf(file)]);
  const declares = (name: string): boolean =>
    new RegExp(`(?:const|let) (?:\\{[^}=]*\\b${name}\\b[^}=]*\\}|${name}\\b)`).test(code) ||
    new RegExp(`^import .*\\b${name}\\b`, 'm').test(code);
  const option = /^\w+: /.test(code) ? (OPTIONS_OF[file] ?? 'an unknown owner') : undefined;
  const given = Object.entries(GIVEN)
    .filter(([name]) => names(name).test(code) && !declares(name))
    .map(([name, type]) => `declare const ${name}: ${type.replaceAll('ROOT', ROOT.slice(0, -1))};`);
  const body =
    option !== undefined
      ? `export const options: Partial<${option}> = { ${code} };`
      : /^return /m.test(code)
        ? `export async function example() {\n${code}\n}`
        : code.replaceAll(
            /'everloop\/(\w+)'/g,
            (_all, entry: string) => `'${ROOT}src/${entry}.ts'`,
          );
  const text = [...given, body].join('\n');
  const imports = [...known]
    .filter(([name]) => names(name).test(text) && !declares(name))
    .filter(([name]) => !given.some((line) => line.startsWith(`declare const ${name}:`)))
    .map(([name, from]) => `import { ${name} } from '${join(ROOT, from)}';`);
  const hono = /new Hono\b/.test(text) ? ["import { Hono } from 'hono';"] : [];
  return `// ${file}\n${[...imports, ...hono, text].join('\n')}\nexport {};\n`;
}

test('every example in a doc comment compiles', async () => {
  const entries = new Map(ENTRIES.flatMap((entry) => [...exportsOf(`src/${entry}.ts`)]));
  const found = examples();
  expect(found.length).toBeGreaterThan(50);
  const folder = mkdtempSync(join(tmpdir(), 'everloop-examples-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'examples'));
    for (const [index, example] of found.entries()) {
      writeFileSync(join(folder, 'examples', `e${index}.ts`), moduleOf(example, entries));
    }
    const compilerOptions = {
      isolatedDeclarations: false,
      declaration: false,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: false,
      verbatimModuleSyntax: false,
      noPropertyAccessFromIndexSignature: false,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    };
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions,
      include: ['examples'],
      exclude: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const compile = promisify(execFile)(
      process.execPath,
      [resolve(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'],
      { cwd: folder },
    );
    const said = await compile.then(
      () => '',
      (error: { readonly stdout: string }) => error.stdout,
    );
    const problems = said.replaceAll(
      /examples\/e(\d+)\.ts/g,
      (_all, index) => found[Number(index)]?.file ?? '',
    );
    expect(problems).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
