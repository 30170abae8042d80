/** Rules for statistics and events of users' tools, validators and loops. */
import { byteSize, isDeeperThan, MAX_JSON_DEPTH, type Json } from '../base/json.ts';
import { defined } from '../base/defined.ts';
import { UsageError } from '../base/usage-error.ts';
import type { EventPart } from '../contract/outcome.ts';
import { unknownOptions } from '../text/option-names.ts';
import { SELF_PREFIX } from '../contract/stats.ts';
import { AGENT_PREFIX } from './stat-keys.ts';

/** Bytes of JSON in a user event, because events are kept in history. */
const MAX_OWN_EVENT_BYTES: number = 16 * 1024;

/** Checks an increment of a user's counter; throws a {@link UsageError} that says what to do. */
export function checkOwnCount(key: string, by: number): void {
  checkOwnKey(key);
  if (!Number.isSafeInteger(by) || by < 0) {
    throw new UsageError(
      'stat_step',
      `Expected a step of \`${key}\` to be a whole number from 0 up, got ${by}. ` +
        'Use a gauge for values that fall.',
    );
  }
}

/** Checks a value of a user's gauge; throws a {@link UsageError} that says what to do. */
export function checkOwnGauge(key: string, value: number): void {
  checkOwnKey(key);
  if (!Number.isFinite(value)) {
    throw new UsageError(
      'stat_value',
      `Expected the value of \`${key}\` to be a finite number, got ${value}. Change it.`,
    );
  }
}

/** Checks a user event; throws a {@link UsageError} that says what to do. */
export function checkOwnEvent(name: string, data: Json): void {
  checkOwnKey(name);
  if (isDeeperThan(data, MAX_JSON_DEPTH)) {
    throw new UsageError(
      'event_data',
      `Expected the data of event \`${name}\` to nest at most ${MAX_JSON_DEPTH} levels, got a deeper one. Change it.`,
    );
  }
  const bytes = byteSize(data);
  if (bytes > MAX_OWN_EVENT_BYTES) {
    throw new UsageError(
      'event_size',
      `Expected the data of event \`${name}\` to be at most ${MAX_OWN_EVENT_BYTES} bytes, ` +
        `got ${bytes}. Send less, or a reference.`,
    );
  }
}

/** Characters of the id of a part. */
const MAX_PART_ID = 200;

/** What makes a user's event a part; throws a {@link UsageError} for options that do not fit. */
export function checkedPart(name: string, options: object = {}): EventPart {
  const problems = unknownOptions(options, ['id', 'keep'], `the event \`${name}\``);
  const { id, keep } = options as { readonly id?: unknown; readonly keep?: unknown };
  const isId = typeof id === 'string' && id !== '' && id.length <= MAX_PART_ID;
  const [first] = [
    ...problems.map(({ message }) => message),
    ...(id === undefined || isId
      ? []
      : [
          `Expected the \`id\` of event \`${name}\` to be text of 1 to ${MAX_PART_ID} characters. Change it.`,
        ]),
    ...(keep === true && id === undefined
      ? [`Expected an \`id\` of event \`${name}\`, which is kept, got none. Set it.`]
      : []),
    ...(keep === undefined || typeof keep === 'boolean'
      ? []
      : [`Expected \`keep\` of event \`${name}\` to be true or false. Change it.`]),
  ];
  if (first !== undefined) throw new UsageError('event_part', first);
  return defined({ id: isId ? id : undefined, keep: keep === true ? keep : undefined });
}

/** Checks a key of a user's statistic or event; throws a {@link UsageError} that says what to do. */
export function checkOwnKey(key: string): void {
  if (key.startsWith(AGENT_PREFIX) || key.startsWith(SELF_PREFIX)) {
    throw new UsageError(
      'stat_key',
      `Expected a key of your own, that starts with neither \`agent:\` nor \`$self:\`, ` +
        `got \`${key}\`. Rename it.`,
    );
  }
  if (!key.includes(':')) {
    throw new UsageError(
      'stat_key',
      `Expected a key of your own to contain \`:\`, got \`${key}\`. Write it as \`name:${key}\`.`,
    );
  }
}
