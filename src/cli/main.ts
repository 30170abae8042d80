#!/usr/bin/env node
/** The program `everloop`. */
import { processIo } from './terminal/io.ts';
import { runCli } from './run-cli.ts';

process.exitCode = await runCli(process.argv.slice(2), processIo());
