/** Messages for a wrong number of arguments, found by the checks or during the run. */

/** "1 argument", "2 arguments". */
function argumentCount(count: number): string {
  return count === 1 ? '1 argument' : `${count} arguments`;
}

/** `` `max` takes at least 1 argument, got 0. `` */
export function arityMessage(name: string, min: number, max: number, got: number): string {
  let takes = argumentCount(min);
  if (max === 0) takes = 'no arguments';
  else if (max === Infinity) takes = `at least ${argumentCount(min)}`;
  else if (max === min + 1) takes = `${min} or ${argumentCount(max)}`;
  else if (max > min) takes = `${min} to ${argumentCount(max)}`;
  return `\`${name}\` takes ${takes}, got ${got}.`;
}

/** `` `area` takes 2 arguments (w h), got 1. `` */
export function closureArity(
  name: string,
  arity: { readonly params: number; readonly rest: boolean; readonly signature: string },
  got: number,
): string {
  const count = arity.params === 1 ? '1 argument' : `${arity.params} arguments`;
  const takes = arity.rest ? `at least ${count}` : arity.params === 0 ? 'no arguments' : count;
  const signature = arity.signature === '()' ? '' : ` ${arity.signature}`;
  return `\`${name}\` takes ${takes}${signature}, got ${got}.`;
}
