#!/usr/bin/env node
/** The program `everloop`. */
import '../client/connection/require-node.ts';
import { processIo } from './terminal/io.ts';
import { leaveSoon } from './terminal/leave.ts';
import { runCli } from './run-cli.ts';

const exitCode = await runCli(process.argv.slice(2), processIo());
process.exitCode = exitCode;
// Once all is written: a pipe may be read slowly.
for (const stream of [process.stdout, process.stderr]) {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
}
leaveSoon({ exit: (code) => process.exit(code) }, exitCode);
