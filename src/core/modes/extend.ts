/** `extend`: adds formats, sections, toolchains and answers of an author to those of Everloop. */
import { usageErrorOf, type UsageProblem } from '../base/usage-error.ts';
import { OWN_PART_NAME } from '../extension/own-parts.ts';
import { OWN_KINDS, ownStore, type OwnKind } from '../extension/store.ts';
import type { OwnFormat } from '../format/own-format.ts';
import type { OwnAnswer, OwnSection } from '../section/own-section.ts';
import { shown } from '../text/shown.ts';
import type { OwnToolchain } from '../toolchain/own-calls.ts';

/** Own parts by name; a definition writes `own:` before the name. */
export interface OwnParts {
  readonly formats?: { readonly [name: string]: OwnFormat };
  readonly sections?: { readonly [name: string]: OwnSection };
  readonly toolchains?: { readonly [name: string]: OwnToolchain };
  readonly answers?: { readonly [name: string]: OwnAnswer };
}

/** The functions that a part must have. */
const FUNCTIONS: Readonly<Record<OwnKind, readonly string[]>> = {
  formats: ['describe', 'parse', 'format'],
  sections: ['guidance', 'read'],
  toolchains: ['guidance', 'read'],
  answers: ['guidance', 'read'],
};

/**
 * Adds formats, sections, toolchains and answers of your own. Call it in the module of
 * `workflowsPath`: their code runs in the workflow sandbox, so it must be deterministic. A definition
 * names them with `own:` before the name: `format: 'own:brackets'`. A name that is added again is
 * replaced.
 *
 * @throws UsageError `extension` with all names and parts that are not valid.
 * @example
 * extend({ formats: { brackets }, toolchains: { lines } });
 */
export function extend(parts: OwnParts): void {
  const kinds = Object.keys(OWN_KINDS) as OwnKind[];
  const given = Object.entries((parts ?? {}) as Readonly<Record<string, unknown>>);
  const problems = given.flatMap(([kind, named]) =>
    Object.hasOwn(OWN_KINDS, kind)
      ? partProblems(kind as OwnKind, named)
      : [problem(`one of ${kinds.join(', ')}`, `\`${kind}\``, 'Rename it.')],
  );
  if (problems.length > 0) throw usageErrorOf(problems, '`extend`: ');
  const store = ownStore();
  for (const kind of kinds) {
    for (const [name, part] of Object.entries(parts[kind] ?? {})) store[kind].set(name, part);
  }
}

function partProblems(kind: OwnKind, named: unknown): readonly UsageProblem[] {
  if (named === undefined) return [];
  if (typeof named !== 'object' || named === null) {
    return [problem(`\`${kind}\` to be an object of parts by name`, shown(named), 'Mend it.')];
  }
  return Object.entries(named).flatMap(([name, part]: [string, unknown]) => {
    if (!OWN_PART_NAME.test(name)) {
      const wanted = `names of \`${kind}\` to be 1 to 64 letters, digits, \`_\` or \`-\` that start with a letter`;
      return [problem(wanted, `\`${name}\``, 'Rename it; `own:` is not part of it.')];
    }
    const missing = FUNCTIONS[kind].filter(
      (method) =>
        typeof (Object(part ?? {}) as Readonly<Record<string, unknown>>)[method] !== 'function',
    );
    if (missing.length === 0) return [];
    const wanted = `${OWN_KINDS[kind]} \`${name}\` to have the functions ${FUNCTIONS[kind].join(', ')}`;
    return [problem(wanted, `none named ${missing.join(', ')}`, 'Add it.')];
  });
}

function problem(wanted: string, got: string, advice: string): UsageProblem {
  return { code: 'extension', message: `Expected ${wanted}, got ${got}. ${advice}` };
}
