import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  checkAny,
  checkConverters,
  checkCycles,
  checkDocs,
  checkEntries,
  checkExports,
  checkNames,
  checkPurity,
  checkRecorded,
  checkRings,
  checkSize,
  checkTypeNames,
} from './support/architecture.ts';
import { checkFloors, checkFolderCycles, houseFigures } from './support/house.ts';
import { parseSourceFile, readSourceFiles, type SourceFile } from './support/source-file.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const sources = readSourceFiles(ROOT, ['src']);

/** Entries of the exports map whose file is still to come. Take a name out when its file arrives. */
const ENTRIES_TO_COME: readonly string[] = [];

describe('the source', () => {
  it.each([
    { name: 'imports inwards only', check: checkRings },
    { name: 'has no import cycles', check: checkCycles },
    { name: 'has no import that runs up a floor', check: checkFloors },
    { name: 'has no cycles of folders', check: checkFolderCycles },
    { name: 'is pure in core and lisp', check: checkPurity },
    { name: 'exports by name', check: checkExports },
    { name: 'has one meaning for the name of a type', check: checkTypeNames },
    { name: 'has no any', check: checkAny },
    { name: 'has its data converters from protection', check: checkConverters },
    { name: 'decides by what is recorded, in workflows', check: checkRecorded },
    { name: 'has at most 400 code lines a file', check: checkSize },
    { name: 'documents every export', check: checkDocs },
  ])('$name', ({ check }) => {
    expect(check(sources)).toEqual([]);
  });

  it('has no folder whose name says nothing', () => {
    const paths = ['src', 'test'].flatMap((folder) =>
      readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name.replaceAll('\\', '/')}`,
      ),
    );

    expect(checkNames(paths)).toEqual([]);
  });

  it('has a file for each entry of the exports map, and the other way round', () => {
    const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
      readonly exports: Parameters<typeof checkEntries>[0];
    };
    const entryFiles = readdirSync(`${ROOT}/src`).filter((name) => name.endsWith('.ts'));

    expect(checkEntries(manifest.exports, entryFiles, ENTRIES_TO_COME)).toEqual([]);
  });

  it('shows the figures of the house, and keeps them within their bounds', () => {
    const figures = houseFigures(sources);

    for (const { name, value, atMost, places } of figures) {
      const shown = places.slice(0, 5).map((place) => `\n       ${place}`);
      console.log(`${String(value).padStart(4)} ${name}, at most ${atMost}${shown.join('')}`);
    }

    expect(figures.filter(({ value, atMost }) => value > atMost)).toEqual([]);
  });
});

/** A canary: small bad code that a check must refuse, in exactly these words. */
interface Canary {
  readonly name: string;
  readonly check: (files: readonly SourceFile[]) => readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly violations: readonly string[];
}

function ringCanary(path: string, specifier: string): Canary {
  return {
    name: `${path} importing ${specifier}`,
    check: checkRings,
    files: { [path]: `import { x } from '${specifier}';` },
    violations: [`${path}: ${path.split('/')[1]?.replace('.ts', '')} must not import ${specifier}`],
  };
}

function purityCanary(code: string, what: string): Canary {
  return {
    name: `${what} in core`,
    check: checkPurity,
    files: { 'src/core/a.ts': code },
    violations: [`src/core/a.ts:1: ${what} in pure code`],
  };
}

const CANARIES: readonly Canary[] = [
  ringCanary('src/lisp/a.ts', '../core/b.ts'),
  ringCanary('src/lisp/a.ts', 'yaml'),
  ringCanary('src/core/a.ts', 'node:fs'),
  ringCanary('src/core/a.ts', '../workflows/b.ts'),
  ringCanary('src/workflows/a.ts', '../activities/b.ts'),
  ringCanary('src/workflows/a.ts', 'ajv'),
  ringCanary('src/activities/a.ts', '../workflows/b.ts'),
  ringCanary('src/activities/a.ts', '@temporalio/client'),
  ringCanary('src/client/a.ts', '../workflows/agent.ts'),
  ringCanary('src/client/a.ts', '@temporalio/worker'),
  ringCanary('src/worker/a.ts', '../cli/main.ts'),
  ringCanary('src/cli/a.ts', '../workflows/b.ts'),
  ringCanary('src/testing/a.ts', '../worker/b.ts'),
  ringCanary('src/index.ts', './worker/b.ts'),
  {
    name: 'an unknown ring',
    check: checkRings,
    files: { 'src/extras/a.ts': '' },
    violations: ['src/extras/a.ts: expected a folder that is a ring, got extras'],
  },
  {
    name: 'a dynamic import that points outwards',
    check: checkRings,
    files: { 'src/core/a.ts': "const x = import('../worker/b.ts');" },
    violations: ['src/core/a.ts: core must not import ../worker/b.ts'],
  },
  {
    name: 'a type that is named through an import outwards',
    check: checkRings,
    files: { 'src/core/a.ts': "type X = import('../worker/b.ts').X;" },
    violations: ['src/core/a.ts: core must not import ../worker/b.ts'],
  },
  {
    name: 'a re-export that points outwards',
    check: checkRings,
    files: { 'src/core/a.ts': "export { x } from '../worker/b.ts';" },
    violations: ['src/core/a.ts: core must not import ../worker/b.ts'],
  },
  {
    name: 'a folder of core that stands on no floor',
    check: checkFloors,
    files: { 'src/core/cellar/a.ts': '' },
    violations: ['src/core/cellar/a.ts: expected a folder that is on a floor of src/core'],
  },
  {
    name: 'an import that runs up a floor, types included',
    check: checkFloors,
    files: { 'src/core/base/a.ts': "import type { X } from '../run/b.ts';" },
    violations: ['src/core/base/a.ts: must not import ../run/b.ts, which is not on a lower floor'],
  },
  {
    name: 'an import of a folder on the same floor',
    check: checkFloors,
    files: { 'src/core/ask/a.ts': "import { x } from '../people/b.ts';" },
    violations: [
      'src/core/ask/a.ts: must not import ../people/b.ts, which is not on a lower floor',
    ],
  },
  {
    name: 'folders that import each other, by types and through other files',
    check: checkFolderCycles,
    files: {
      'src/client/a/one.ts': "import { x } from '../b/two.ts';",
      'src/client/b/three.ts': "import type { Y } from '../a/four.ts';",
    },
    violations: ['folder cycle: src/client/a → src/client/b → src/client/a'],
  },
  {
    name: 'a cycle of three files',
    check: checkCycles,
    files: {
      'src/core/a.ts': "import { b } from './b.ts';",
      'src/core/b.ts': "import type { C } from './c.ts';",
      'src/core/c.ts': "export { a } from './a.ts';",
    },
    violations: ['import cycle: src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts'],
  },
  purityCanary('const x = () => Date.now();', 'Date.now'),
  purityCanary('const x = () => new Date();', 'new Date()'),
  purityCanary('const x = () => Date();', 'Date()'),
  purityCanary('const x = () => Math.random();', 'Math.random'),
  purityCanary('const x = () => process.pid;', 'process'),
  purityCanary("const x = () => console.log('');", 'console'),
  purityCanary('const x = () => setTimeout(x, 1);', 'setTimeout'),
  purityCanary("const x = () => fetch('');", 'fetch'),
  purityCanary("const x = () => ''.toLocaleUpperCase();", 'toLocaleUpperCase'),
  purityCanary("const x = () => ''.localeCompare('');", 'localeCompare'),
  purityCanary('const x = () => new Intl.Collator();', 'Intl'),
  purityCanary('const x = { fetch };', 'fetch'),
  purityCanary('let x = 1;', 'top-level let'),
  purityCanary('export let x = 1;', 'top-level let'),
  purityCanary('class X { #x = 1; }', '#x'),
  {
    name: 'a default export',
    check: checkExports,
    files: {
      'src/core/a.ts': 'export default 1;',
      'src/core/b.ts': 'export { b as default };const b = 1;',
    },
    violations: ['src/core/a.ts: default export', 'src/core/b.ts: default export'],
  },
  {
    name: 'an export of everything',
    check: checkExports,
    files: { 'src/core/a.ts': "export * from './b.ts';" },
    violations: ['src/core/a.ts: export *'],
  },
  {
    name: 'types of one name in two files',
    check: checkTypeNames,
    files: {
      'src/core/a.ts': 'export interface A {}\nexport const b = 1;\nexport class C {}',
      'src/core/b.ts': 'export type A = 1;\nexport type B = 1;\nexport enum C {}',
      'src/core/c.ts': "interface A {}\nexport type { B } from './b.ts';\nexport const b = 2;",
    },
    violations: [
      'A: exported by src/core/a.ts, src/core/b.ts',
      'C: exported by src/core/a.ts, src/core/b.ts',
    ],
  },
  {
    name: 'any',
    check: checkAny,
    files: { 'src/core/a.ts': '\nconst x = (y: Array<any>) => y;' },
    violations: ['src/core/a.ts:2: any'],
  },
  {
    name: 'a client and workers with a data converter of their own',
    check: checkConverters,
    files: {
      'src/client/a.ts': 'const a = new Client({ connection });',
      'src/worker/b.ts': 'const b = await Worker.create({ dataConverter: {} });',
      'src/worker/c.ts': 'const c = Worker.create({ dataConverter: workerConverter(protection) });',
      'src/replay/d.ts': 'Worker.runReplayHistories(options, histories);',
    },
    violations: [
      'src/client/a.ts:1: expected new Client to have its converter from clientConverter',
      'src/worker/b.ts:1: expected Worker.create to have its converter from workerConverter',
      'src/replay/d.ts:1: expected Worker.runReplayHistories to have its converter from workerConverter',
    ],
  },
  {
    name: 'a workflow that reads what a replay sees otherwise',
    check: checkRecorded,
    files: {
      'src/workflows/a.ts': 'const isDue = workflowInfo().continueAsNewSuggested;',
      'src/workflows/b.ts': 'const { runId, historyLength } = workflowInfo();',
      'src/workflows/c/d.ts': '\nconst at = Date.now();',
      'src/workflows/recorded/recorded.ts': 'const at = Date.now();',
      'src/client/e.ts': 'const at = Date.now();',
    },
    violations: [
      'src/workflows/a.ts:1: workflowInfo().continueAsNewSuggested',
      'src/workflows/b.ts:1: { runId, historyLength } = workflowInfo()',
      'src/workflows/c/d.ts:2: Date.now()',
    ],
  },
  {
    name: 'a file of 401 code lines',
    check: checkSize,
    files: { 'src/core/a.ts': '/** A\n * comment. */\n\n' + 'f();\n'.repeat(401) },
    violations: ['src/core/a.ts: expected at most 400 code lines, got 401'],
  },
  {
    name: 'an export whose comment is none, plain, or of something else',
    check: checkDocs,
    files: {
      'src/core/a.ts': 'export const a = 1;',
      'src/core/b.ts': '// Plain.\nexport type B = 1;',
      'src/core/c.ts': '/** Of x. */\nconst x = 1;\nexport function c() {}',
      'src/core/d.ts': 'const x = 1;\nexport { x };',
    },
    violations: [
      'src/core/a.ts:1: export without a doc comment',
      'src/core/b.ts:2: export without a doc comment',
      'src/core/c.ts:3: export without a doc comment',
      'src/core/d.ts:2: export without a doc comment',
    ],
  },
];

/** The value of each figure of the house for small bad code. */
function figuresOf(files: Readonly<Record<string, string>>): Readonly<Record<string, number>> {
  return Object.fromEntries(houseFigures(parseAll(files)).map(({ name, value }) => [name, value]));
}

describe('a figure of the house', () => {
  it('counts functions that are long or take many arguments', () => {
    const long = `function f(a, b, c, d, e) {${'\n'.repeat(60)}}`;

    expect(
      figuresOf({ 'src/core/base/a.ts': `${long}\nconst g = (a, b, c, d) => 1;` }),
    ).toMatchObject({
      'functions over 60 lines': 1,
      'functions with more than four parameters': 1,
    });
  });

  it('counts spreads of an object or of nothing', () => {
    const spreads =
      '{ ...(a ? {} : { a }), ...(a && { a }), ...(a ? { a } : {}), ...a, ...(a ? b : c) }';

    expect(figuresOf({ 'src/core/base/a.ts': `const x = (${spreads});` })).toMatchObject({
      'conditional spreads': 3,
    });
  });

  it('counts comparisons of mode names in core outside of modes', () => {
    const code = `
      a(spec.mode === 'lisp', 'chat' !== mode, ['json', 'text'].includes(spec?.mode), wantedMode == 'react');
      switch (run.spec.mode) {}
      b(format === 'json', spec.mode === other.mode, modes.get(spec.mode));`;

    expect(figuresOf({ 'src/core/base/a.ts': code, 'src/core/modes/a.ts': code })).toMatchObject({
      'comparisons of mode names in core outside modes/': 5,
    });
  });

  it('counts the members of the port', () => {
    const code = 'interface Host { readonly a: string; b(): void } interface Guest { c: string }';

    expect(figuresOf({ 'src/core/run/host.ts': code })).toMatchObject({
      'members of the port `Host`': 2,
    });
  });

  it('finds the largest folder and the length of most files', () => {
    expect(
      figuresOf({ 'src/core/a/a.ts': 'a\n', 'src/core/b/a.ts': 'a\na\n', 'src/core/b/b.ts': '' }),
    ).toMatchObject({ 'files of the largest folder': 2, 'p90 of the lines of a file': 2 });
  });
});

describe('an architecture check', () => {
  it.each(CANARIES)('refuses $name', ({ check, files, violations }) => {
    expect(check(parseAll(files))).toEqual(violations);
  });

  it('refuses folders and files whose name says nothing', () => {
    expect(checkNames(['src/core/utils/a.ts', 'src/core/shared.ts', 'src/core/text/a.ts'])).toEqual(
      [
        'src/core/utils/a.ts: expected a name that says what is inside',
        'src/core/shared.ts: expected a name that says what is inside',
      ],
    );
  });

  it('refuses entries without a file, with another target, and files without an entry', () => {
    const problems = checkEntries(
      {
        '.': { types: './dist/index.d.ts', default: './dist/index.js' },
        './core': { types: './dist/core.d.ts', default: './dist/main.js' },
      },
      ['core.ts', 'other.ts'],
    );

    expect(problems).toEqual([
      'exports["."]: expected src/index.ts, which is not there',
      'exports["./core"]: expected ./dist/core.js, got ./dist/main.js',
      'src/other.ts: expected an entry in the exports map',
    ]);
  });

  it('accepts what looks bad and is not', () => {
    const files = parseAll({
      'src/lisp/a.ts': '',
      'src/core/a.ts': `
        import { x } from '../lisp/a.ts';
        import { parse } from 'yaml';
        /** Mentions Date.now(), any, import('../worker/b.ts') and fetch. */
        export const text = 'Date.now() any console';
        const when = (at: number) => new Date(at).process;
        const keys = { fetch: 1, process: 2 };`,
      'src/workflows/a.ts': "import type { A } from '../activities/a.ts';",
      'src/workflow.ts': "export { a } from './workflows/a.ts';",
      'src/client/a.ts': "import { send } from '../workflows/messages.ts';",
    });

    const violations = [
      checkRings,
      checkCycles,
      checkPurity,
      checkExports,
      checkTypeNames,
      checkAny,
      checkDocs,
    ].flatMap((check) => check(files));

    expect(violations).toEqual([]);
  });
});

function parseAll(files: Readonly<Record<string, string>>): readonly SourceFile[] {
  return Object.entries(files).map(([path, text]) => parseSourceFile(path, text));
}
