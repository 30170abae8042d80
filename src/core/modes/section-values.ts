import type { Json } from '../base/json.ts';
import type { JudgeResult } from '../contract/outcome.ts';
import type { SectionError, TurnBase } from '../contract/turn.ts';

/** The structured sections of a turn after their check. */
export interface SettledSections {
  /** What the entry keeps under `metadata.sections`: name → values, in order of appearance. */
  readonly values: { readonly [name: string]: readonly Json[] };
  /** Unreadable ones first, then those that do not fit their schema. */
  readonly errors: readonly SectionError[];
}

/**
 * Separates values that fit from those that do not. `checked`: one for each of `turn.sections`;
 * null: no check.
 */
export function settleSections(
  turn: Pick<TurnBase, 'sections' | 'sectionErrors'>,
  checked: JudgeResult['sections'] | null,
): SettledSections {
  const values = new Map<string, Json[]>();
  const errors: SectionError[] = [...turn.sectionErrors];
  turn.sections.forEach(({ name, value }, index) => {
    const check = checked?.[index];
    if (check !== undefined && check.problems.length > 0) {
      const problems = check.problems.map((message) => ({ code: 'schema', message }));
      errors.push({ name, problems });
      return;
    }
    const list = values.get(name) ?? [];
    list.push(check?.value === undefined ? value : check.value);
    values.set(name, list);
  });
  return { values: Object.fromEntries(values), errors };
}
