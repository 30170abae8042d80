import { nearestName } from '../../core/text/nearest.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';

/**
 * A problem for each field of `options` that nobody knows: a misspelt option would be ignored in
 * silence. `owner` completes "an option of …".
 */
export function unknownFields(
  options: object,
  known: readonly string[],
  owner: string,
): readonly UsageProblem[] {
  return Object.keys(options)
    .filter((field) => !known.includes(field))
    .map((field) => {
      const near = nearestName(field, known);
      const advice = near === undefined ? 'Remove it.' : `Did you mean \`${near}\`?`;
      const message = `Expected an option of ${owner}, got \`${field}\`. ${advice}`;
      return { code: 'unknown_option', message };
    });
}
