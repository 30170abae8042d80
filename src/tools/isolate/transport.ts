/** What carries the messages of one call: a thread or a process. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A thread or process that runs one call. */
export interface Transport {
  /** Tells the code to stop. */
  readonly stop: (name: string, message: string) => void;
  /** Ends it at once. */
  readonly kill: () => void;
  /** Resolves once it takes no more resources, with how it ended: `ended with exit code 3`. */
  readonly ended: Promise<string>;
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
