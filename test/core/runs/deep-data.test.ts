/** Data that nests so deeply that whoever writes it as text, recursively, runs out of stack. */
import { describe, expect, it } from 'vitest';
import { isDeeperThan, MAX_JSON_DEPTH, type Json } from '../../../src/core/base/json.ts';
import { checkOwnEvent } from '../../../src/core/stats/user-keys.ts';
import { act, answer, bodiesOf, searchTool, startRun } from '../../support/runs.ts';

/** `levels` objects inside each other. */
function nested(levels: number): { readonly in?: Json } {
  let value: { readonly in?: Json } = {};
  for (let level = 1; level < levels; level++) value = { in: value };
  return value;
}

const ACTS = {
  yaml: act('x'),
  json: '<action>{"tool": "search", "args": {"query": "x"}}</action>',
} as const;

const PLACE = Array.from({ length: MAX_JSON_DEPTH }, () => 'in').join('.');
const TOO_DEEP = `Error: the result of search is not JSON: ${PLACE} is deeper than ${MAX_JSON_DEPTH} levels.`;

describe.each(['yaml', 'json'] as const)('a result of a tool that is shown as %s', (toolchain) => {
  it.each([
    { levels: MAX_JSON_DEPTH, outcome: 'ok', error: undefined },
    { levels: MAX_JSON_DEPTH + 1, outcome: 'error', error: TOO_DEEP },
    { levels: 999, outcome: 'error', error: TOO_DEEP },
    { levels: 20_000, outcome: 'error', error: TOO_DEEP },
  ])('and nests $levels levels never ends the run', async ({ levels, outcome, error }) => {
    const tools = [searchTool(() => nested(levels))];
    const { run } = startRun([ACTS[toolchain], answer()], { agent: { toolchain, tools } });

    expect(await run.result).toMatchObject({ status: 'success', value: 'done' });
    const [call] = bodiesOf(run.events, 'agent:tool_call:after');
    expect(call).toMatchObject({ outcome });
    expect(call?.error).toBe(error);
  });
});

it.each([
  { levels: 999, problem: 'call 1 (search): line 1, column 604: deeper than 100 levels' },
  {
    levels: 20_000,
    problem: 'call 1 (search): line 1, column 1: expected a value, got `(not JSON)`',
  },
])(
  'native arguments that nest $levels levels are told to the model',
  async ({ levels, problem }) => {
    const calls = { toolCalls: [{ name: 'search', args: { query: nested(levels) } }] };
    const { run } = startRun([calls, 'done'], { agent: { mode: 'chat' } });

    expect(await run.result).toMatchObject({ status: 'success', value: 'done', iterations: 2 });
    expect(
      bodiesOf(run.events, 'agent:parse_error').flatMap(({ problems }) =>
        problems.map(({ message }) => message),
      ),
    ).toEqual([problem]);
  },
);

it('an event of a user of such depth is refused', () => {
  expect(() => checkOwnEvent('my:event', nested(20_000))).toThrow(
    `Expected the data of event \`my:event\` to nest at most ${MAX_JSON_DEPTH} levels, got a deeper one. Change it.`,
  );
});

it('a cycle is deeper than any number of levels', () => {
  const cycle: { in?: unknown } = {};
  cycle.in = [cycle];

  expect(isDeeperThan(cycle, 1_000)).toBe(true);
  expect(isDeeperThan(nested(3), 3)).toBe(false);
  expect(isDeeperThan(nested(4), 3)).toBe(true);
  expect(isDeeperThan('text', 0)).toBe(false);
});
