/** The parts of a message that a model writes, one after another, and the steps in which they stand. */
import type { UIChunk } from './ui-chunk.ts';

/** A piece of what a model wrote. */
export interface WrittenText {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** Writes text into chunks. */
export interface TextParts {
  /** Begins a step of the message for each iteration. */
  readonly toIteration: (iteration: number) => void;
  /** Begins a step of this name beside those of iterations, unless the last one has it. */
  readonly aside: (name: string) => void;
  readonly write: (kind: WrittenText['type'], delta: string) => void;
  /** Ends the open part. */
  readonly close: () => void;
  /** Ends the open part and marks it as void. */
  readonly discard: () => void;
  /** Ends the open part and the open step. */
  readonly finish: () => void;
  /** What of the newest iteration is not void; of another one, nothing. */
  readonly written: (iteration?: number) => readonly WrittenText[];
  /** Whether a part is open. */
  readonly isOpen: () => boolean;
}

/** The text of `pieces`, without reasoning. */
export function plainText(pieces: readonly WrittenText[]): string {
  return pieces.map(({ type, text }) => (type === 'text' ? text : '')).join('');
}

/** `pieces` with neighbours of one kind as one. */
export function merged(pieces: readonly WrittenText[]): readonly WrittenText[] {
  const all: WrittenText[] = [];
  for (const { type, text } of pieces) {
    const last = all.at(-1);
    if (last?.type === type) all[all.length - 1] = { type, text: last.text + text };
    else if (text !== '') all.push({ type, text });
  }
  return all;
}

/** What of `whole` comes after `beginning`; undefined: it begins in another way. Both are merged. */
export function restAfter(
  whole: readonly WrittenText[],
  beginning: readonly WrittenText[],
): readonly WrittenText[] | undefined {
  const rest = [...whole];
  for (const [index, { type, text }] of beginning.entries()) {
    const first = rest.shift();
    if (first?.type !== type || !first.text.startsWith(text)) return undefined;
    if (first.text === text) continue;
    if (index < beginning.length - 1) return undefined;
    rest.unshift({ type, text: first.text.slice(text.length) });
  }
  return rest;
}

/** Writes to `out`. */
export function createTextParts(out: UIChunk[]): TextParts {
  let open: { readonly kind: WrittenText['type']; readonly id: string } | undefined;
  let step: number | string | undefined;
  /** The iteration that `written` is of. */
  let current: number | undefined;
  let parts = 0;
  let written: readonly WrittenText[] = [];
  const close = (isVoid = false): void => {
    if (open === undefined) return;
    const { kind, id } = open;
    const mark = isVoid ? { providerMetadata: { everloop: { void: true as const } } } : {};
    out.push({ type: `${kind}-end`, id, ...mark });
    open = undefined;
  };
  const finish = (): void => {
    close();
    if (step !== undefined) out.push({ type: 'finish-step' });
    step = undefined;
  };
  const begin = (next: number | string): void => {
    if (next === step) return;
    finish();
    step = next;
    out.push({ type: 'start-step' });
  };
  return {
    toIteration: (iteration) => {
      begin(iteration);
      if (iteration !== current) written = [];
      current = iteration;
    },
    aside: begin,
    write: (kind, delta) => {
      if (open?.kind !== kind) {
        close();
        parts += 1;
        open = { kind, id: `${parts}` };
        out.push({ type: `${kind}-start`, id: open.id });
      }
      written = merged([...written, { type: kind, text: delta }]);
      out.push({ type: `${kind}-delta`, id: open.id, delta });
    },
    close: () => close(),
    discard: () => {
      close(true);
      written = [];
    },
    finish,
    written: (iteration = current) => (iteration === current ? written : []),
    isOpen: () => open !== undefined,
  };
}
