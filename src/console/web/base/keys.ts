/** Keys of the pages. No single key acts in a field, and single keys can be switched off. */
import { hasSingleKeys } from './session.ts';

/** What a key does; `key` as `KeyboardEvent.key`, two keys as `g r`. */
export interface KeyBinding {
  readonly key: string;
  /** For the list of keys. */
  readonly text: string;
  readonly run: () => void;
}

const layers: (readonly KeyBinding[])[] = [];
let begun = '';
let forget: ReturnType<typeof setTimeout> | undefined;

/** Binds keys until the returned function is called; a later binding hides an earlier one. */
export function bindKeys(bindings: readonly KeyBinding[]): () => void {
  layers.push(bindings);
  return () => {
    const place = layers.indexOf(bindings);
    if (place !== -1) layers.splice(place, 1);
  };
}

/** All keys that act now, the innermost first, each once. */
export function boundKeys(): readonly KeyBinding[] {
  const seen = new Set<string>();
  return layers.toReversed().flatMap((layer) =>
    layer.filter(({ key }) => {
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    }),
  );
}

/** Acts on a key. */
export function takeKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (event.defaultPrevented || event.isComposing || altKey) return;
  if (ctrlKey || metaKey) {
    if (key.toLowerCase() === 'k') act('Ctrl K', event);
    return;
  }
  if (isField(target) || document.querySelector('dialog[open]') !== null) return;
  if (key === 'Escape') {
    act('Escape', event);
    return;
  }
  if (!hasSingleKeys.value) return;
  const isActivation = key === 'Enter' && target instanceof Element && target.closest('a,button');
  if (isActivation) return;
  const sequence = begun === '' ? key : `${begun} ${key}`;
  begun = '';
  clearTimeout(forget);
  if (act(sequence, event)) return;
  if (key === 'g') {
    begun = 'g';
    forget = setTimeout(() => (begun = ''), 1_200);
  }
}

function act(key: string, event: KeyboardEvent): boolean {
  const found = boundKeys().find((binding) => binding.key === key);
  if (found === undefined) return false;
  event.preventDefault();
  // A key that is held down moves on; one of an approval must not approve what comes next as well.
  if (!event.repeat || /[jk]/.test(key)) found.run();
  return true;
}

/** A field in a dialog that has just closed has the focus until the next frame, and is none any more. */
function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.checkVisibility() &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type))
  );
}
