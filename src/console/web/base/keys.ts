/**
 * Keys of the pages. A key that is pressed by mistake must not act:
 *
 * I1  No single key acts in a field, nor while a dialog or a form is open or opening.
 * I2  A key acts only on what has been shown for a moment when it is pressed, so not on what has just
 *     taken the place of something else. Keys that only show something else act at once.
 * I3  A key right after a letter that went into a field, or means nothing here, is typing, and does
 *     not act either.
 */
import { say } from './actions.ts';
import { hasSingleKeys } from './session.ts';

/** What a key does; `key` as `KeyboardEvent.key`, two keys as `g r`. */
export interface KeyBinding {
  readonly key: string;
  /** For the list of keys. */
  readonly text: string;
  readonly run: () => void;
}

/** Keys that are bound together. */
interface KeyLayer {
  readonly bindings: readonly KeyBinding[];
  /** `view`: they show something else · `form`: no keys but these act */
  readonly kind: 'act' | 'view' | 'form';
  /** What any other key does. */
  readonly onOther: () => void;
  /** When a frame with it had been shown, as `timeStamp` of events; Infinity: not yet. */
  shownAt: number;
}

/** How long something has to have been shown before a key acts on it, in ms. */
const SHOWN_MS = 300;

/** How long after a letter that was typed the next ones are typed as well, in ms, unless Enter or Escape ends it. */
const TYPING_MS = 1_000;

const layers: KeyLayer[] = [];
let begun = '';
let forget: ReturnType<typeof setTimeout> | undefined;
let typed = { key: '', until: -Infinity };

/**
 * Binds keys that act on what is shown, or open what does, until the returned function is called; a
 * later binding hides an earlier one. Bind them anew when they act on something else.
 */
export function bindKeys(bindings: readonly KeyBinding[]): () => void {
  return addLayer(bindings, 'act');
}

/** Binds keys that show something else and change nothing but the view. */
export function bindViewKeys(bindings: readonly KeyBinding[]): () => void {
  return addLayer(bindings, 'view');
}

/** Binds the only keys that act while a form is open; `onOther` hears of any other. */
export function bindFormKeys(
  bindings: readonly KeyBinding[],
  onOther: () => void = () => undefined,
): () => void {
  return addLayer(bindings, 'form', onOther);
}

function addLayer(
  bindings: readonly KeyBinding[],
  kind: KeyLayer['kind'],
  onOther: () => void = () => undefined,
): () => void {
  const layer: KeyLayer = { bindings, kind, onOther, shownAt: Infinity };
  layers.push(layer);
  // The second frame begins when the first is on its way to the screen.
  requestAnimationFrame(() => requestAnimationFrame(() => (layer.shownAt = timeOfEvents())));
  return () => {
    const place = layers.indexOf(layer);
    if (place !== -1) layers.splice(place, 1);
  };
}

function timeOfEvents(): number {
  return new Event('shown').timeStamp;
}

/** All keys that are bound now, the innermost first, each once. */
export function boundKeys(): readonly KeyBinding[] {
  const seen = new Set<string>();
  return layers.toReversed().flatMap(({ bindings }) =>
    bindings.filter(({ key }) => {
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    }),
  );
}

/** Acts on a key. */
export function takeKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (event.isComposing || altKey) return;
  if (event.defaultPrevented) return noteTyped(event);
  if (document.querySelector('dialog[open]') !== null) return noteTyped(event);
  const form = layers.findLast(({ kind }) => kind === 'form');
  if (ctrlKey || metaKey) {
    if (form === undefined && key.toLowerCase() === 'k') act('Ctrl K', event, form);
    return;
  }
  if (isField(target)) return noteTyped(event);
  if (key === 'Escape') {
    act('Escape', event, form);
    return;
  }
  if (!hasSingleKeys.value) return;
  const isActivation = key === 'Enter' && target instanceof Element && target.closest('a,button');
  if (isActivation && form === undefined) return;
  const sequence = begun === '' ? key : `${begun} ${key}`;
  begun = '';
  clearTimeout(forget);
  if (act(sequence, event, form)) return;
  if (form === undefined && key === 'g') {
    begun = 'g';
    forget = setTimeout(() => (begun = ''), 1_200);
    return;
  }
  if (key.length === 1) form?.onOther();
  noteTyped(event);
}

function noteTyped({ key, timeStamp }: KeyboardEvent): void {
  if (/^(Enter|Escape)$/.test(key)) typed = { key, until: timeStamp + SHOWN_MS };
  // A space may have moved the page on.
  else if (key.length === 1 && key !== ' ') typed = { key, until: timeStamp + TYPING_MS };
}

/** Whether something is bound to `key`. */
function act(key: string, event: KeyboardEvent, form: KeyLayer | undefined): boolean {
  const open = form === undefined ? layers.toReversed() : [form];
  const layer = open.find(({ bindings }) => bindings.some((binding) => binding.key === key));
  const found = layer?.bindings.find((binding) => binding.key === key);
  if (layer === undefined || found === undefined) return false;
  event.preventDefault();
  // A key that is held down moves on; one of an approval must not approve what comes next as well.
  if (event.repeat && !/[jk]/.test(key)) return true;
  if (layer.kind === 'view' || key === 'Escape' || isMeant(key, event, layer)) {
    found.run();
    return true;
  }
  noteTyped(event);
  say(
    'No key acted: other keys came right before it, or what is shown had just changed. Try again.',
  );
  return true;
}

/** Whether who pressed `key` has seen what it acts on, and was not typing a text. */
function isMeant(key: string, { timeStamp }: KeyboardEvent, { shownAt }: KeyLayer): boolean {
  // Who presses the same key again means the key.
  const isTyped = typed.key !== key && timeStamp < typed.until;
  return !isTyped && timeStamp - shownAt >= SHOWN_MS;
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
