/** What a run does while it goes on: `logs`, and tokens for others who read its text. */
import { Option, type Command } from 'commander';
import type { CallAttempt } from '../../client/reading/attempts.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import { defined } from '../../core/base/defined.ts';
import { readCount, readDuration } from '../terminal/arguments.ts';
import {
  onRun,
  showResult,
  untilInterrupted,
  type CommandRunner,
  type Cli,
} from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { createProgressPrinter, printStream } from '../views/follow.ts';
import { cellText, durationText, oneLine, tableText } from '../terminal/text.ts';
import { eventText } from '../views/run-text.ts';

interface LogOptions {
  readonly follow?: boolean;
  readonly stream?: boolean;
  readonly from: string;
  readonly limit?: string;
}

/** Adds `logs ID`: the events of a run, over its whole chain. */
export function addLogsCommand(program: Command, act: CommandRunner): void {
  program
    .command('logs')
    .summary('show the events of a run')
    .description(
      'Shows the events of a run, over its whole chain. With --json, prints one list of events; with ' +
        '--json and --follow, one event per line. With --follow, provisional text of the model goes ' +
        'to stderr, by default only on a terminal.',
    )
    .argument('<id>', 'id of the run')
    .option('-f, --follow', 'follow the run until it ends')
    .option('--stream', 'show provisional text even if stderr is not a terminal')
    .option('--no-stream', 'show events only')
    .option('--from <seq>', 'number of the first event', '1')
    .addOption(
      new Option('--limit <number>', 'maximum number of events; reads no more').conflicts('follow'),
    )
    .action((id: string, options: LogOptions) => {
      const from = readCount('--from', options.from, 1) - 1;
      return onRun(act, id, async (cli, run) => {
        if (options.follow === true) {
          return followLog(cli, run, from, options.stream ?? cli.output.isLive);
        }
        const limit =
          options.limit === undefined ? undefined : readCount('--limit', options.limit, 1);
        const events = await run.events(defined({ from, limit }));
        for (const event of events) cli.output.text(eventText(event));
        cli.output.json(events);
        return EXIT_CODES.success;
      });
    });
}

function followLog(cli: Cli, run: RunHandle, from: number, streams: boolean): Promise<number> {
  return untilInterrupted(cli, async (interrupted) => {
    const ended = new AbortController();
    const signal = AbortSignal.any([interrupted, ended.signal]);
    const printer = createProgressPrinter(cli.output);
    // Provisional text is optional: if it fails, the events still come.
    if (streams) void printStream(run, printer, signal).catch(() => undefined);
    try {
      for await (const event of run.followEvents({ from, signal })) {
        printer.clear();
        writeEvent(cli, event);
      }
    } finally {
      ended.abort();
    }
    return EXIT_CODES.success;
  });
}

function writeEvent({ io, output }: Cli, event: AgentEvent): void {
  if (output.isJson) io.stdout.write(`${JSON.stringify(event)}\n`);
  else output.text(eventText(event));
}

/** Adds `attempts ID`: when each attempt of a call began and ended, and on which worker. */
export function addAttemptsCommand(program: Command, act: CommandRunner): void {
  program
    .command('attempts')
    .summary('show the attempts of the calls of a run')
    .description(
      'Shows each attempt of a model call, a tool call and a check of an answer: when a worker took ' +
        'it, how long it had it, which worker that was, and how it ended. From the histories that ' +
        'the service still has; needs no worker.',
    )
    .argument('<id>', 'id of the run')
    .option('--from <iteration>', 'first iteration', '0')
    .option('--lost', 'only attempts that ended with their worker')
    .action((id: string, { from, lost = false }: AttemptOptions) =>
      showResult(
        act,
        async (everloop) => {
          const range = { from: readCount('--from', from, 0) };
          const attempts = await everloop.attach(id).attempts(range);
          return attempts.filter(({ outcome }) => !lost || outcome === 'lost');
        },
        attemptsText,
      ),
    );
}

interface AttemptOptions {
  readonly from: string;
  readonly lost?: boolean;
}

function attemptsText(attempts: readonly CallAttempt[]): string {
  if (attempts.length === 0) return 'No attempts.';
  return tableText(
    ['AT', 'ITERATION', 'CALL', 'OUTCOME', 'TOOK', 'WORKER', 'REASON'],
    attempts.map(({ kind, name, callId, iteration, outcome, worker, reason = '', ...times }) => {
      const { scheduledAt, startedAt, endedAt } = times;
      return [
        new Date(startedAt ?? scheduledAt).toISOString(),
        String(iteration),
        cellText([kind, name, callId ?? ''].filter((part) => part !== '').join(' ')),
        outcome,
        startedAt === null || endedAt === null ? '' : durationText(endedAt - startedAt),
        cellText(worker?.split('/')[0] ?? ''),
        oneLine(reason, REASON_WIDTH),
      ];
    }),
  );
}

/** Characters of a reason; a line should fit on a wide terminal. */
const REASON_WIDTH = 60;

/** Adds `stream-token ID`: a token with which others read the provisional text of a run's tree. */
export function addStreamTokenCommand(program: Command, act: CommandRunner): void {
  program
    .command('stream-token')
    .summary('print a token that opens the stream of a run and of all runs below it')
    .description(
      'Prints a token with which others, such as a page in a browser, read the text of a run and of ' +
        'all runs below it while it is written, and nothing else. It is signed with the first token ' +
        'of EVERLOOP_STREAM_TOKEN, and workers that have this token take it until it expires.',
    )
    .argument('<id>', 'id of the run, which has no run above it')
    .option('--ttl <time>', 'how long it opens the stream, at most 1d; default 1h')
    .action((id: string, { ttl }: { readonly ttl?: string }) =>
      showResult(
        act,
        async (everloop): Promise<StreamTokenView> => {
          const ttlMs = ttl === undefined ? undefined : readDuration('--ttl', ttl);
          const { token, expiresAt } = await everloop.attach(id).streamToken(defined({ ttlMs }));
          return { id, token, expiresAt: new Date(expiresAt).toISOString() };
        },
        ({ token }) => token,
      ),
    );
}

/** The document of `stream-token`. */
export interface StreamTokenView {
  readonly id: string;
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}
