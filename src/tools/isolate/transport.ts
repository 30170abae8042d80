/** What carries the messages of one call: a thread or a process. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorText } from '../../core/base/error-text.ts';

/** A thread or process that runs one call. */
export interface Transport {
  /** Tells the code to stop. */
  readonly stop: (name: string, message: string) => void;
  /** Ends it at once. */
  readonly kill: () => void;
  /** Resolves once it takes no more resources. */
  readonly ended: Promise<TransportEnd>;
}

/** How a thread or process ended. */
export interface TransportEnd {
  /** `ended with exit code 3` */
  readonly how: string;
  /** Whether the code may have begun. */
  readonly started: boolean;
}

/** The end of what the system could not start. */
export function notStarted(error: unknown): TransportEnd {
  return { how: `could not be started: ${errorText(error)}`, started: false };
}

/** Gets each message of the code; may be anything. */
export type OnMessage = (message: unknown) => void;

const EXTENSION = extname(fileURLToPath(import.meta.url));

/** The path of a file beside this one, in the sources or in the build. */
export function entryPath(name: string): string {
  return fileURLToPath(new URL(`./${name}${EXTENSION}`, import.meta.url));
}

/** The flags with which Node loads TypeScript, if this program itself runs from its sources. */
export function sourceFlags(): readonly string[] {
  return EXTENSION === '.ts' ? typeScriptFlags() : [];
}

/** The flags with which Node loads TypeScript. */
export function typeScriptFlags(): readonly string[] {
  return ['--import', createRequire(import.meta.url).resolve('tsx')];
}
