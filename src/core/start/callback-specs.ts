/** `onEvent` of definitions and starts: its problems, and the callbacks that a run records. */
import { isPlainObject } from '../base/json.ts';
import type { UsageProblem } from '../base/usage-error.ts';
import {
  CALLBACK_TYPES,
  MAX_CALLBACK_URL,
  MAX_CALLBACKS,
  type CallbackInput,
  type CallbackSpec,
  type CallbackType,
  type OnEventInput,
} from '../contract/callback.ts';
import { nearestName } from '../text/nearest.ts';
import { shown } from '../text/shown.ts';

/** A run inherits callbacks from the runs above it, so their number needs a bound of its own. */
const MAX_OF_A_RUN = 16;

/** A host, an optional port, and the rest; no user name and no spaces. */
const WEB_ADDRESS = /^https?:\/\/[^\s/?#@\\]+(?:[/?#]\S*)?$/i;

const FIELDS: readonly string[] = ['url', 'events', 'content'];

/** All problems of `onEvent`, in the order in which it is written. */
export function callbackProblems(input: unknown): readonly UsageProblem[] {
  if (input === undefined) return [];
  if (!Array.isArray(input)) return problemsOf(input, 'onEvent');
  if (input.length > MAX_CALLBACKS) {
    return [
      problem(`at most ${MAX_CALLBACKS} callbacks in \`onEvent\``, `${input.length}`, 'Join some.'),
    ];
  }
  return input.flatMap((item, index) => problemsOf(item, `onEvent[${index}]`));
}

function problemsOf(input: unknown, place: string): readonly UsageProblem[] {
  if (!isPlainObject(input)) {
    return [problem(`\`${place}\` to be { url, events?, content? }`, shown(input), 'Change it.')];
  }
  const { url, events, content } = input;
  const unknown = Object.keys(input).find((name) => !FIELDS.includes(name));
  return [
    ...(isWebAddress(url)
      ? []
      : [
          problem(
            `\`${place}.url\` to be an address such as https://example.com/hook, without a user name`,
            shown(url),
            'Change it.',
          ),
        ]),
    ...eventProblems(events, place),
    ...(content === undefined || typeof content === 'boolean'
      ? []
      : [problem(`\`${place}.content\` to be true or false`, shown(content), 'Change it.')]),
    ...(unknown === undefined
      ? []
      : [
          problem(
            `an option of \`${place}\``,
            `\`${unknown.slice(0, 200)}\``,
            near(unknown, FIELDS),
          ),
        ]),
  ];
}

function isWebAddress(url: unknown): boolean {
  return typeof url === 'string' && url.length <= MAX_CALLBACK_URL && WEB_ADDRESS.test(url);
}

function eventProblems(events: unknown, place: string): readonly UsageProblem[] {
  if (events === undefined) return [];
  if (!Array.isArray(events) || events.length === 0) {
    const what = `\`${place}.events\` to be a list of types such as ['run.ended']`;
    return [problem(what, shown(events), 'Leave it out for all types.')];
  }
  const unknown: unknown = events.find((type) => !isCallbackType(type));
  if (unknown === undefined) return [];
  const what = `\`${place}.events\` to name types of callbacks (${CALLBACK_TYPES.join(', ')})`;
  return [
    problem(what, shown(unknown), near(typeof unknown === 'string' ? unknown : '', CALLBACK_TYPES)),
  ];
}

function isCallbackType(type: unknown): type is CallbackType {
  return (CALLBACK_TYPES as readonly unknown[]).includes(type);
}

function problem(what: string, got: string, advice: string): UsageProblem {
  return { code: 'callback', message: `Expected ${what}, got ${got}. ${advice}` };
}

function near(name: string, known: readonly string[]): string {
  const found = nearestName(name, known);
  return found === undefined ? 'Remove it.' : `Did you mean \`${found}\`?`;
}

/** The callbacks of a run from all that ask for some; those to one address become one. */
export function compileCallbacks(
  ...inputs: readonly (OnEventInput | undefined)[]
): readonly CallbackSpec[] {
  const byUrl = new Map<string, CallbackSpec>();
  const given = inputs.flatMap((input) => input ?? []) as readonly CallbackInput[];
  for (const { url, events = CALLBACK_TYPES, content } of given) {
    const known = byUrl.get(url);
    const isAsked = (type: CallbackType): boolean =>
      events.includes(type) || known?.events.includes(type) === true;
    const hasContent = content === true || known?.content === true;
    const asked = { url, events: CALLBACK_TYPES.filter(isAsked) };
    byUrl.set(url, hasContent ? { ...asked, content: true } : asked);
  }
  return [...byUrl.values()].slice(0, MAX_OF_A_RUN);
}
