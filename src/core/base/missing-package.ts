/** What to say when an optional package is not installed. */
import { errorText } from './error-text.ts';
import { UsageError } from './usage-error.ts';
import type { UsageCode } from './usage-codes.ts';

/** A package that only some programs need. */
export interface OptionalPackage {
  readonly code: UsageCode;
  /** Its name: `@aws-sdk/client-s3`. */
  readonly name: string;
  /** What needs it: `a blob store in a bucket`. */
  readonly what: string;
  /** The command that installs it. */
  readonly install: string;
}

/** The error to throw in place of `cause`, with which a module did not load. */
export function missingPackage(
  cause: unknown,
  { code: usage, name, what, install }: OptionalPackage,
): unknown {
  const code = (cause as { readonly code?: unknown } | null)?.code;
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return cause;
  const message = `Expected package \`${name}\` for ${what}, got none. Run ${install}`;
  // Its stack leads nowhere, and would be longer than the message.
  return Object.assign(new UsageError(usage, message), { cause: errorText(cause) });
}
