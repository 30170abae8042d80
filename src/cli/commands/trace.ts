import type { Command } from 'commander';
import { defined } from '../../core/base/defined.ts';
import { fieldsText } from '../terminal/text.ts';
import { showResult, type CommandRunner } from '../terminal/cli.ts';

/** Where to look at a trace; `{traceId}` stands for its id. */
const URL_VARIABLE = 'EVERLOOP_TRACE_URL';

/** Adds `trace ID`: the trace with the spans of a run's tree. */
export function addTraceCommand(program: Command, act: CommandRunner): void {
  program
    .command('trace')
    .summary('show the id of the trace of a run, and where to look at it')
    .description(
      `Shows the id of the trace with the spans of a run and of the runs above and below it. With ${URL_VARIABLE}, such as https://jaeger.example.com/trace/{traceId}, also its address.`,
    )
    .argument('<id>', 'id of the run')
    .action((id: string) =>
      showResult(
        act,
        async (everloop): Promise<TraceView> => {
          const traceId = await everloop.attach(id).traceId();
          const pattern = process.env[URL_VARIABLE]?.trim() || undefined;
          return defined({ id, traceId, url: pattern?.replaceAll('{traceId}', traceId) });
        },
        ({ traceId, url }) =>
          fieldsText([['trace', traceId], ...(url === undefined ? [] : [['url', url] as const])]),
      ),
    );
}

/** The document of `trace`. */
export interface TraceView {
  readonly id: string;
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  readonly url?: string;
}
