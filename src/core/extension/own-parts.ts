/**
 * How a specification names the parts that authors add, and where they are found.
 *
 * I1  A worker asks the sandbox for them, so for its activities they are bound to the specification
 *     that an activity reads, and never those of its own process.
 */
import type { AgentSpec, OwnName } from '../contract/spec.ts';
import { IN_PROCESS, OWN_KINDS, type Extensions, type OwnKind } from './store.ts';

const PREFIX = 'own:';

/** The form of a name in `extend`. */
export const OWN_PART_NAME: RegExp = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Whether `kind` has the form of the name of an own part, `own:name`. */
export function isOwnName(kind: unknown): kind is OwnName {
  return (
    typeof kind === 'string' &&
    kind.startsWith(PREFIX) &&
    OWN_PART_NAME.test(kind.slice(PREFIX.length))
  );
}

/** A part of a specification that may be an author's. */
interface NamedPart {
  readonly kind: string;
}

/** The parts of the specification, by I1. */
const bound = new WeakMap<NamedPart, Extensions>();

/** Binds the own parts of `spec` to those of a worker. */
export function bindExtensions(spec: AgentSpec, extensions: Extensions): void {
  for (const [, part] of ownPartsOf(spec)) bound.set(part, extensions);
}

/** A specification names an own part that this worker lacks. `what` names it in words. */
class MissingPart extends Error {
  override readonly name = 'MissingPart';
  readonly what: string;

  constructor(what: string) {
    super(
      `Expected ${what} to be added by \`extend\` in the module of \`workflowsPath\`, got none.`,
    );
    this.what = what;
  }
}

/** The own part that a specification names. Throws MissingPart if there is none. */
export function ownPart(kind: OwnKind, part: NamedPart): object {
  const found = (bound.get(part) ?? IN_PROCESS).find(kind, part.kind.slice(PREFIX.length));
  if (found === undefined) throw new MissingPart(partText(kind, part));
  return found;
}

/** The first own part of `spec` that is missing, in words such as `format own:toml`; undefined: none. */
export function missingPart(
  spec: Pick<AgentSpec, 'react' | 'toolchain' | 'answer'>,
  extensions: Extensions = IN_PROCESS,
): string | undefined {
  const missing = ownPartsOf(spec).find(
    ([kind, part]) => extensions.find(kind, part.kind.slice(PREFIX.length)) === undefined,
  );
  return missing && partText(...missing);
}

function partText(kind: OwnKind, part: NamedPart): string {
  return `${OWN_KINDS[kind]} ${part.kind}`;
}

/** The own parts that a specification names. */
function ownPartsOf({
  react,
  toolchain,
  answer,
}: Pick<AgentSpec, 'react' | 'toolchain' | 'answer'>): readonly (readonly [OwnKind, NamedPart])[] {
  if (react === null) return [];
  const { format, thinking, sections } = react;
  const all: readonly (readonly [OwnKind, NamedPart])[] = [
    ['formats', format],
    ...(thinking === null ? [] : [['sections', thinking] as const]),
    ...sections.map((section) => ['sections', section] as const),
    ['toolchains', toolchain],
    ['answers', answer],
  ];
  return all.filter(([, part]) => isOwnName(part.kind));
}
