/** `lisp run` and `lisp repl`: runs programs of the language without a server. */
import type { Command } from 'commander';
import { defined } from '../../core/base/defined.ts';
import { readCount, readJsonObject, readTextFile } from '../terminal/arguments.ts';
import { untilInterrupted, type CommandRunner, type Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { createSession, isUnfinished, type LispSession, type LispReport } from './lisp-session.ts';

interface LispOptions {
  readonly data?: string;
  readonly fuel?: string;
}

const PROMPT = '=> ';
const PROMPT_INSIDE = '.. ';

/** Adds `lisp run FILE` and `lisp repl`. */
export function addLispCommand(program: Command, act: CommandRunner): void {
  const lisp = program
    .command('lisp')
    .summary('run programs of the language on their own')
    .description(
      'Runs programs of the language that agents write, in this process and without a server. There ' +
        'are no tools and no one to ask; `sleep` waits in real time.',
    );
  withOptions(lisp.command('run'))
    .summary('run a file')
    .description(
      'Runs the program in a file. Its value goes to stdout, its notes and errors go to stderr. The ' +
        'exit code is 1 when the program is refused, fails, or ends with an error.',
    )
    .argument('<file>', 'the program, or - for stdin')
    .action((file: string, options: LispOptions) => act((cli) => runFile(cli, file, options)));
  withOptions(lisp.command('repl'))
    .summary('read programs from stdin, one after another')
    .description(
      'Reads programs from stdin and prints the value of each. Later programs have the definitions of ' +
        'earlier ones; `*1` is the last value. A program ends on the line that closes all of its ' +
        'forms. Ctrl-D ends the session. With --json, each result is a document on one line.',
    )
    .action((options: LispOptions) => act((cli) => repl(cli, options)));
}

function withOptions(command: Command): Command {
  return command
    .option(
      '--data <json>',
      "data that programs read as data/…: a JSON object, or @ and a file's path",
    )
    .option('--fuel <units>', 'fuel of each program, at most 2,000,000');
}

async function sessionOf(cli: Cli, options: LispOptions): Promise<LispSession> {
  const data = (await readJsonObject('--data', options.data, cli.io.cwd)) ?? {};
  const fuel = options.fuel === undefined ? undefined : readCount('--fuel', options.fuel, 1);
  return createSession(defined({ data, fuel }));
}

async function runFile(cli: Cli, file: string, options: LispOptions): Promise<number> {
  const session = await sessionOf(cli, options);
  return untilInterrupted(cli, async (signal) => {
    const source = file === '-' ? await readAll(cli, signal) : await readTextFile(file, cli.io.cwd);
    const report = await session.run(source, signal);
    writeReport(cli, report);
    cli.output.json(report);
    const isGood = report.status === 'value' || report.status === 'returned';
    return isGood ? EXIT_CODES.success : EXIT_CODES.runFailed;
  });
}

async function readAll({ io }: Cli, signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  for await (const line of io.lines(() => '', signal)) lines.push(line);
  return lines.join('\n');
}

async function repl(cli: Cli, options: LispOptions): Promise<number> {
  const session = await sessionOf(cli, options);
  return untilInterrupted(cli, async (signal) => {
    const evaluate = async (source: string): Promise<void> => {
      const report = await session.run(source, signal);
      if (cli.output.isJson) cli.io.stdout.write(`${JSON.stringify(report)}\n`);
      else writeReport(cli, report);
    };
    let entry = '';
    const lines = cli.io.lines(() => (entry === '' ? PROMPT : PROMPT_INSIDE), signal);
    for await (const line of lines) {
      entry = entry === '' ? line : `${entry}\n${line}`;
      if (isUnfinished(entry)) continue;
      if (entry.trim() !== '') await evaluate(entry);
      entry = '';
    }
    // An unfinished program is reported as a parse error.
    if (entry !== '') await evaluate(entry);
    return EXIT_CODES.success;
  });
}

/** Writes a report as text; with `--json`, the document has all of it. */
function writeReport({ output }: Cli, report: LispReport): void {
  if (output.isJson) return;
  const { paintNote } = output;
  for (const note of report.notes) output.note(note);
  for (const warning of report.warnings) output.note(paintNote('yellow', warning));
  if (report.error !== null) output.note(paintNote('red', report.error.text));
  if (report.status === 'failed') output.note(paintNote('red', 'The program ended with `fail`.'));
  if (report.printed !== null) output.text(report.printed);
}
