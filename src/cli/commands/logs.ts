import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RunHandle } from '../../client/run-handle.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import { readCount } from '../terminal/arguments.ts';
import { untilInterrupted, withClient, type Act, type Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { createProgressPrinter, POLL_MS, printStream } from '../views/follow.ts';
import { eventText } from '../views/run-text.ts';

interface LogOptions {
  readonly follow?: boolean;
  readonly stream?: boolean;
  readonly from: string;
}

/** Adds `logs ID`: what happened in a run, over its whole chain. */
export function addLogsCommand(program: Command, act: Act): void {
  program
    .command('logs')
    .summary('show what happened in a run')
    .description(
      'Shows what happened in a run, over its whole chain. With --json one list of events; with ' +
        '--json and --follow one event on a line. With --follow, what the model writes is shown on ' +
        'stderr as it comes: provisional, and on a terminal unless told otherwise.',
    )
    .argument('<id>', 'id of the run')
    .option('-f, --follow', 'go on until the run ends')
    .option('--stream', 'show provisional text also where stderr is no terminal')
    .option('--no-stream', 'show events only')
    .option('--from <seq>', 'number of the first event', '1')
    .action((id: string, options: LogOptions) =>
      act((cli) => {
        const from = readCount('--from', options.from, 1) - 1;
        return withClient(cli, (everloop) => {
          const run = everloop.attach(id);
          if (options.follow !== true) return showLog(cli, run, from);
          return followLog(cli, run, from, options.stream ?? cli.output.isLive);
        });
      }),
    );
}

async function showLog({ output }: Cli, run: RunHandle, from: number): Promise<number> {
  const events = await run.events({ from });
  for (const event of events) output.text(eventText(event));
  output.json(events);
  return EXIT_CODES.success;
}

function followLog(cli: Cli, run: RunHandle, from: number, streams: boolean): Promise<number> {
  return untilInterrupted(
    cli,
    async (interrupted) => {
      const ended = new AbortController();
      const signal = AbortSignal.any([interrupted, ended.signal]);
      const printer = createProgressPrinter(cli.output);
      // Provisional text is a courtesy: when it breaks off, the events still come.
      if (streams) void printStream(run, printer, signal).catch(() => undefined);
      try {
        for await (const events of newEvents(run, from, signal)) {
          printer.clear();
          for (const event of events) writeEvent(cli, event);
        }
      } finally {
        ended.abort();
      }
      return EXIT_CODES.success;
    },
    () => EXIT_CODES.interrupted,
  );
}

function writeEvent({ io, output }: Cli, event: AgentEvent): void {
  if (output.isJson) io.stdout.write(`${JSON.stringify(event)}\n`);
  else output.text(eventText(event));
}

/**
 * The events of a run as they come, in lists, until the run has ended. Asks once a second where the
 * run stands, and for events only when something has happened.
 */
async function* newEvents(
  run: Pick<RunHandle, 'status' | 'events'>,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[]> {
  let next = from;
  let version = -1;
  while (!signal.aborted) {
    const status = await run.status();
    if (status.version !== version) {
      version = status.version;
      const events = await run.events({ from: next });
      next += events.length;
      yield events;
    }
    // The state was read before the events: what an ended run had to say is all there.
    if (status.state === 'ended') return;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
