import { nearestName } from '../core/text/nearest.ts';
import type { UsageProblem } from '../core/usage-error.ts';

/**
 * A problem for each field of `options` that nobody knows: a misspelt option would be ignored in
 * silence. `owner` completes "an option of …"; `later` are options of a later version.
 */
export function unknownFields(
  options: object,
  known: readonly string[],
  owner: string,
  later: readonly string[] = [],
): readonly UsageProblem[] {
  return Object.keys(options)
    .filter((field) => !known.includes(field))
    .map((field) => {
      if (later.includes(field)) {
        const message = `Expected an option of ${owner}, got \`${field}\`, which is not available yet. Remove it.`;
        return { code: 'option_not_available', message };
      }
      const near = nearestName(field, known);
      const advice = near === undefined ? 'Remove it.' : `Did you mean \`${near}\`?`;
      const message = `Expected an option of ${owner}, got \`${field}\`. ${advice}`;
      return { code: 'unknown_option', message };
    });
}
