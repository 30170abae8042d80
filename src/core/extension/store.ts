/**
 * Where a process keeps the parts that authors add, and in the sandbox a workflow.
 *
 * I1  They are kept in a global, the only one that core knows. In the sandbox each workflow has its
 *     own globals, while the modules of core are shared between workflows; and a file that a loader
 *     imports twice adds to the same parts.
 */

/** The kinds of parts that authors add. */
export type OwnKind = 'formats' | 'sections' | 'toolchains' | 'answers';

/** Own parts by kind and by name, without `own:`. */
export interface Extensions {
  /** The part; undefined if there is none of this name. */
  find(kind: OwnKind, name: string): object | undefined;
  /** The names of all parts of a kind. */
  names(kind: OwnKind): readonly string[];
}

/** The kinds, and what one part of each is called. */
export const OWN_KINDS: Readonly<Record<OwnKind, string>> = {
  formats: 'format',
  sections: 'section',
  toolchains: 'toolchain',
  answers: 'answer',
};

/** The global that keeps the parts of this process, or of this workflow. */
export const OWN_PARTS = '__EVERLOOP_OWN_PARTS__';

type Store = { readonly [kind in OwnKind]: Map<string, object> };

/** The parts of this process; in the sandbox, of this workflow. */
export function ownStore(): Store {
  const kept: unknown = Reflect.get(globalThis, OWN_PARTS);
  if (kept !== undefined) return kept as Store;
  const store: Store = {
    formats: new Map(),
    sections: new Map(),
    toolchains: new Map(),
    answers: new Map(),
  };
  Reflect.set(globalThis, OWN_PARTS, store);
  return store;
}

/** The own parts of this process; in the sandbox, of this workflow. */
export const IN_PROCESS: Extensions = {
  find: (kind, name) => ownStore()[kind].get(name),
  names: (kind) => [...ownStore()[kind].keys()],
};

/** No own parts: those of a worker without a module of its own. */
export const NO_EXTENSIONS: Extensions = { find: () => undefined, names: () => [] };
