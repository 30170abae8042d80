/** The values of named environment variables, which no text that leaves a worker may have. */
import type { HideText } from '../core/text/hide.ts';
import { hiderOf, MIN_CHARACTERS } from './hide-values.ts';

/** What a worker hides. */
export interface SecretValues {
  /** Named variables that are not set, so that there is nothing to hide. */
  readonly unset: readonly string[];
  readonly hide: HideText;
}

/** A private key has some 3,000. */
const MAX_CHARACTERS = 8_192;

/** Each has several forms, and all of them are one expression. */
const MAX_NAMES = 50;

const NAME = /^[A-Za-z_]\w{0,199}$/;

/**
 * The values of the variables `names` of `env`. Problems go to `report` as sentences, which never
 * show a value.
 */
export function secretValues(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  report: (problem: string) => void,
): SecretValues {
  if (names.length > MAX_NAMES) {
    report(
      `Expected \`secrets\` to name at most ${MAX_NAMES} variables, got ${names.length}. Name fewer.`,
    );
  }
  const values: string[] = [];
  const unset: string[] = [];
  for (const name of new Set(names.slice(0, MAX_NAMES))) {
    const problem = nameProblem(name);
    // A file that a variable was read from may end with a line break.
    const value = (env[name] ?? '').trim().toWellFormed();
    if (problem !== undefined) report(problem);
    else if (value === '') unset.push(name);
    else if (value.length < MIN_CHARACTERS || value.length > MAX_CHARACTERS) {
      report(
        `Expected the value of secret \`${name}\` to have ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters, got ${value.length}. Take another, or take the name out of \`secrets\`.`,
      );
    } else values.push(value);
  }
  return { unset, hide: hiderOf(values) };
}

/** The text may be a secret in a wrong place, so it is not shown. */
function nameProblem(name: string): string | undefined {
  if (typeof name === 'string' && NAME.test(name)) return undefined;
  return 'Expected `secrets` to be names of environment variables, got another text. Give the names, not the values.';
}
