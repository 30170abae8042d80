/**
 * Option checks by table: each field names what it takes, and one maker writes the message when the
 * value does not fit. Every message has the form "Expected …, got …. Advice."
 */
import { defined } from '../../core/base/defined.ts';
import type { UsageCode } from '../../core/base/usage-codes.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { nearestName } from '../../core/text/nearest.ts';
import { unknownOptions } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';

/** Options as a program without types may write them. */
export type Fields = { readonly [field: string]: unknown };

/** What a field takes. */
export interface Kind {
  /** Follows the field in "Expected `field` …": `to be a text`, `from 1 up`. */
  readonly wanted: string;
  readonly fits: (value: unknown) => boolean;
  /** How the message shows the value. Default: `shown`. */
  readonly got?: (value: unknown) => string;
  /** Ends the message. Default `Change it.` */
  readonly advice?: string;
  /** Default: the code of the table. */
  readonly code?: UsageCode;
  /** True: a missing field is a problem as well. Default false. */
  readonly required?: boolean;
  /** The fields of a value that fits; others are unknown. */
  readonly fields?: FieldRules;
}

/** A check whose messages the kinds cannot write, such as one for each item of a list. */
export type Check = (value: unknown, options: Fields) => readonly UsageProblem[];

/**
 * The checks of one field. In a list, only the first check that finds problems reports them. An
 * empty list is for a field that is checked elsewhere or takes anything.
 */
export type Rule = Kind | Check | readonly (Kind | Check)[];

/** The rules of an options object by field, in the order in which problems are reported. */
export type FieldRules<Field extends string = string> = { readonly [Name in Field]: Rule };

/** How the messages of a table name its fields. */
export interface Naming {
  /** The code of fields that have none of their own. */
  readonly code: UsageCode;
  /** Prefix of the field: `retry.` */
  readonly within?: string;
  /** The owner in "Expected `field` of owner …". Default: none is named. */
  readonly of?: string;
  /** Completes "an option of …" for unknown fields, which are then reported last. */
  readonly owner?: string;
}

/**
 * The problems of all fields that `rules` names, and of unknown fields when `naming` has an owner.
 */
export function fieldProblems(
  options: object,
  rules: FieldRules,
  naming: Naming,
): readonly UsageProblem[] {
  const fields = options as Fields;
  const known = Object.entries(rules).flatMap(([field, rule]) => {
    for (const check of [rule].flat()) {
      const problems =
        typeof check === 'function'
          ? check(fields[field], fields)
          : kindProblems(field, fields[field], check, naming);
      if (problems.length > 0) return problems;
    }
    return [];
  });
  if (naming.owner === undefined) return known;
  return [...known, ...unknownOptions(options, Object.keys(rules), naming.owner)];
}

function kindProblems(
  field: string,
  value: unknown,
  kind: Kind,
  { code: general, within = '', of }: Naming,
): readonly UsageProblem[] {
  const { got = shown, code = general, fields } = kind;
  const path = `${within}${field}`;
  const place = of === undefined ? `\`${path}\`` : `\`${path}\` of ${of}`;
  if (value === undefined ? kind.required === true : !kind.fits(value)) {
    return [expected(code, `${place} ${kind.wanted}`, got(value), kind.advice)];
  }
  if (value === undefined || fields === undefined) return [];
  const naming = defined({ code, within: `${path}.`, of, owner: place });
  return fieldProblems(value as object, fields, naming);
}

/** A problem in the form that all messages have. */
export function expected(
  code: UsageCode,
  what: string,
  got: string,
  advice = 'Change it.',
): UsageProblem {
  return { code, message: `Expected ${what}, got ${got}. ${advice}` };
}

/** Suggests the known name that is nearest to `name`; `otherwise` when none is near. */
export function adviceFor(name: string, known: readonly string[], otherwise: string): string {
  const near = nearestName(name, known);
  return near === undefined ? otherwise : `Did you mean \`${near}\`?`;
}

/** A name in backticks, cut at 200 characters; other values as `shown` writes them. */
export function shownName(name: unknown): string {
  return typeof name === 'string' ? `\`${name.slice(0, 200)}\`` : shown(name);
}
