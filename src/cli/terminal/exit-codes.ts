/** The exit codes of the command line; docs/cli.md has the same table. */
import type { Step } from '../../core/contract/step.ts';
import { isUsageError } from '../../core/base/usage-error.ts';

/** What each exit code means. */
export const EXIT_CODES = {
  success: 0,
  /** The run ended with an error, at a limit, or canceled; a history does not fit. */
  runFailed: 1,
  /** The command is wrong: its arguments, agent file, environment or id. */
  usage: 2,
  /** No server or no worker answers. */
  noServer: 3,
  /** An unexpected error: a bug, or a service that failed. */
  unexpected: 4,
  /** Ctrl-C: 128 and the number of SIGINT. */
  interrupted: 130,
} as const;

/** Codes of usage errors that mean that no server or worker answers. */
const NO_SERVER_CODES: readonly string[] = [
  'no_server',
  'no_worker',
  'service_unavailable',
  'service_refused',
  'server_address',
  'server_hanging',
  'server_namespace',
  'server_port',
];

/** The exit code for an error that ends a command. */
export function exitCodeOf(error: unknown): number {
  if (!isUsageError(error)) return EXIT_CODES.unexpected;
  return NO_SERVER_CODES.includes(error.code) ? EXIT_CODES.noServer : EXIT_CODES.usage;
}

/** The exit code for a run that has ended. */
export function exitCodeOfStep(step: Step): number {
  return step.status === 'success' ? EXIT_CODES.success : EXIT_CODES.runFailed;
}
