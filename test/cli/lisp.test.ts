import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LispReport } from '../../src/cli/commands/lisp-session.ts';
import { eventually } from '../support/eventually.ts';
import { cli, type CliResult, type CliSetup } from './cli-fixture.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'everloop-lisp-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** Runs `everloop lisp run` with a program in a file. */
async function runFile(
  source: string,
  options: readonly string[] = [],
  setup: CliSetup = {},
): Promise<CliResult> {
  await writeFile(join(cwd, 'program.lisp'), source);
  return cli(['lisp', 'run', 'program.lisp', ...options], { cwd, ...setup });
}

describe('lisp run', () => {
  it('writes the value to stdout and notes to stderr', async () => {
    const { exitCode, stdout, stderr } = await runFile(
      '(println "rows:" (count data/rows))\n(map :n data/rows)',
      ['--data', '{"rows": [{"n": 1}, {"n": 2}]}'],
    );

    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: '[1 2]\n',
      stderr: 'rows: 2\n',
    });
  });

  it('reads the program from stdin, and data from a file', async () => {
    await writeFile(join(cwd, 'data.json'), '{"name": "Ann"}');
    const { exitCode, stdout } = await cli(['lisp', 'run', '-', '--data', '@data.json'], {
      cwd,
      stdin: ['(str "Hello, "', '  data/name)'],
    });

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '"Hello, Ann"\n' });
  });

  it('says that there are no tools and nobody to ask', async () => {
    const { exitCode, stdout, stderr } = await runFile('(tool/search {:q 1})\n(ask "Who?")');

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe(
      [
        '2 problems were found before the program ran. Nothing was executed.',
        '',
        '1. unknown_tool at line 1, column 2: There is no tool `search`. There are no tools.',
        '   1 | (tool/search {:q 1})',
        '     |  ^^^^^^^^^^^',
        '2. unknown_tool at line 2, column 2: There is nobody to ask: `ask` is not available here.',
        '   2 | (ask "Who?")',
        '     |  ^^^',
        '',
        'A program that runs on its own has no tools and no one to ask. Give it what it needs with ' +
          '`--data`, and read it as `data/name`.',
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['(fail "no")', 1, 'failed', '"no"', null],
    ['(return {:a 1.5})', 0, 'returned', '{:a 1.5}', null],
    ['(do (sleep 5) inc)', 0, 'value', '#fn[inc]', null],
    ['(/ 1 0)', 1, 'error', null, 'arithmetic_error'],
    ['(+ 1', 1, 'refused', null, 'parse_error'],
    ['(inc 1 2)', 1, 'refused', null, 'arity_error'],
    ['(count (pmap sleep [3 1 2]))', 0, 'value', '3', null],
  ] as const)('reports on %s with --json', async (source, exitCode, status, printed, reason) => {
    const result = await runFile(source, ['--json']);
    const report = JSON.parse(result.stdout) as LispReport;

    expect(result).toMatchObject({ exitCode, stderr: '' });
    expect(report).toMatchObject({ status, printed });
    expect(report.error?.reason ?? null).toBe(reason);
  });

  it('counts fuel and gives the whole document', async () => {
    const { stdout } = await runFile('(println 1) [data/missing 2]', ['--json']);

    expect(JSON.parse(stdout)).toEqual({
      status: 'value',
      value: [null, 2],
      printed: '[nil 2]',
      error: null,
      warnings: [expect.stringContaining('data/missing')],
      notes: ['1'],
      fuelUsed: expect.any(Number),
    });
    expect((await runFile('(range 500)', ['--fuel', '100'])).stderr).toContain(
      'fuel_exceeded at line 1, column 1: the program used its 100 units of fuel.',
    );
  });

  it.each([
    [['lisp', 'run', 'nowhere.lisp'], 'got `nowhere.lisp`. Correct it.'],
    [['lisp', 'run', '-', '--data', '[1]'], 'Expected `--data` to be a JSON object'],
    [['lisp', 'run', '-', '--fuel', 'x'], 'Expected `--fuel` to be a whole number'],
    [['lisp', 'run'], "missing required argument 'file'"],
    [['lisp', 'walk'], "unknown command 'walk'"],
  ])('ends with 2 for %j', async (argv, message) => {
    const { exitCode, stdout, stderr } = await cli(argv, { cwd });

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('ends a waiting program at Ctrl-C', async () => {
    const listeners: (() => void)[] = [];
    const exits: number[] = [];
    const running = runFile('(sleep 2000000000)', [], {
      io: {
        signals: {
          on: (_signal, listener) => listeners.push(listener),
          off: () => undefined,
          exit: (code) => exits.push(code),
        },
      },
    });
    await eventually('a listener', () => listeners.length > 0);
    listeners[0]?.();

    expect((await running).exitCode).toBe(130);
    // What the program had begun may hold the process.
    await expect.poll(() => exits).toEqual([130]);
  });
});

describe('lisp repl', () => {
  it('keeps definitions and the last value, and goes on after an error', async () => {
    const { exitCode, stdout, stderr } = await cli(['lisp', 'repl'], {
      cwd,
      stdin: ['(defn sq [x]', '  (* x x))', '', '(sq 5)', '(inc *1)', '(sq', '1 2)', '(nope)'],
    });

    expect(exitCode).toBe(0);
    expect(stdout).toBe("#'sq\n25\n26\n");
    expect(stderr).toContain('arity_error at line 1, column 1: `sq` takes 1 argument (x), got 2.');
    expect(stderr).toContain('unbound_var at line 1, column 2: `nope` is not defined.');
  });

  it('writes one document on a line with --json', async () => {
    const { stdout } = await cli(['lisp', 'repl', '--json'], { cwd, stdin: ['1', '"a', 'b"'] });
    const reports = stdout.trimEnd().split('\n');

    expect(reports.map((line) => (JSON.parse(line) as LispReport).value)).toEqual([1, 'a\nb']);
  });

  it('tells what was left open', async () => {
    const { stderr } = await cli(['lisp', 'repl'], { cwd, stdin: ['(+ 1'] });

    expect(stderr).toContain('Unclosed `(` opened at line 1, column 1.');
  });
});
