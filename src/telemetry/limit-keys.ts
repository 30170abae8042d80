/** Keys of limits and reasons as labels: without the names in them, so that they are few. */

const KEY = /^(?:\$self:)?(agent:[a-z_]+)/;
const CODE = /^[a-z_]{1,60}$/;

/**
 * `agent:model_calls` of `$self:agent:model_calls:gpt-5`; the codes of endings as they are; `other` for
 * keys of users.
 */
export function baseKeyOf(key: string): string {
  return KEY.exec(key)?.[1] ?? (CODE.test(key) ? key : 'other');
}
