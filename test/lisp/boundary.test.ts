import { describe, expect, test } from 'vitest';
import {
  advance,
  EMPTY_MEMORY,
  fromJson,
  programStatus,
  readProgram,
  startMachine,
  toJson,
  type Value,
} from '../../src/lisp.ts';
import { runProgram, TOOLS } from './support/host.ts';

/** The value of a program, for turning it into JSON. */
function valueOf(source: string): Value {
  const read = readProgram(source);
  if (!read.ok) throw new Error(read.problem.message);
  const machine = startMachine(read.program, {
    data: {},
    memory: EMPTY_MEMORY,
    limits: {},
    tools: [],
  });
  const end = advance(machine, { now: 0, budget: {}, results: [] });
  if (end.kind !== 'finished' || end.outcome.kind === 'error') throw new Error('no value');
  return end.outcome.value;
}

describe('values as JSON', () => {
  test.each([
    ['{:user-id :admin "a-b" #{2 1}}', { user_id: 'admin', 'a-b': [1, 2] }],
    ['[1 2.5 nil true (LocalDate/of 2024 1 2)]', [1, 2.5, null, true, '2024-01-02']],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['{1 "one"}', { 1: 'one' }],
  ])('%s', (source, json) => {
    expect(toJson(valueOf(source), { dashes: 'underscore' })).toMatchObject({ ok: true, json });
  });

  test('a keyword wins over the text of the same name, with a warning', () => {
    const made = toJson(valueOf('{:a 1 "a" 2}'));

    expect(made).toMatchObject({ ok: true, json: { a: 1 } });
    expect(made.ok && made.warnings).toHaveLength(1);
  });

  test('what has no JSON form says where it is and what to do', () => {
    expect(toJson(valueOf('{:rows [{:n 1} {:f inc}]}'))).toMatchObject({
      ok: false,
      reason: 'not_json',
      path: '[:rows 1 :f]',
      message: 'The function at [:rows 1 :f] has no JSON form: convert it with `str`.',
    });
  });

  test('shared parts do not make endless JSON', () => {
    expect(toJson(valueOf('(reduce (fn [a _] [a a]) [] (range 64))'))).toMatchObject({
      ok: false,
      reason: 'size_exceeded',
    });
  });

  test('numbers and text come in as integers, floats and well-formed text', () => {
    const value = fromJson({ a: 1, b: 1.5, c: 1e300, d: 'x\ud800' });

    expect(toJson(value)).toMatchObject({
      ok: true,
      json: { a: 1, b: 1.5, c: 1e300, d: 'x\ufffd' },
    });
  });
});

describe('requests', () => {
  test('carry names as the tool declares them, positions as ids, and spans', () => {
    const { requests } = runProgram('(tool/get {:user-id 7 "a-b" :k :list #{1}})');

    expect(requests).toEqual([
      {
        id: '1',
        kind: 'tool',
        name: 'get',
        args: { list: [1], user_id: 7, 'a-b': 'k' },
        span: { start: 0, end: 43, line: 1, column: 1 },
      },
    ]);
  });

  test('an ask gives the option itself for its label or number', () => {
    const source = '(:id (ask "Which?" {:options [{:id 1 :name "Ann"} {:id 2 :name "Bob"}]}))';
    const answered = (text: string): string =>
      runProgram(source, { answer: ({ id }) => ({ id, ok: true, value: text }) }).outcome;

    expect(answered('bob ')).toBe('value 2');
    expect(answered('1')).toBe('value 1');
  });

  test('an ask that times out gives its default, else fails so that attempt recovers', () => {
    const answer = ({ id }: { readonly id: string }) =>
      ({ id, ok: false, reason: 'ask_timeout', message: 'Nobody.' }) as const;

    expect(runProgram('(ask "Q" {:default 5})', { answer }).outcome).toBe('value 5');
    expect(runProgram('(ask "Q" {:default nil})', { answer }).outcome).toBe('value nil');
    expect(
      runProgram('(:reason (:error (attempt (ask "Q" {:timeout-ms 3600000}))))', { answer })
        .outcome,
    ).toBe('value :ask_timeout');
    expect(runProgram('(ask "Q" {:timeout-ms 3600000})', { answer }).message).toBe(
      'Nobody answered "Q" within 1 h.',
    );
  });

  test('at most 8 branches of a form run, the next begins when one ends', () => {
    const sizes: number[] = [];
    runProgram('(pmap (fn [x] (tool/get {:id x})) (range 30))', {
      choose: (open) => {
        sizes.push(open.length);
        return open.slice(0, 3);
      },
    });

    expect(Math.max(...sizes)).toBe(8);
  });

  test('a failing branch abandons later ones and lets earlier ones end', () => {
    const order: string[] = [];
    const result = runProgram(
      '(pmap (fn [x] (if (= x 1) (tool/fail {}) (tool/get {:id x}))) (range 4))',
      {
        choose: (open) => {
          const failing = open.find((one) => one.kind === 'tool' && one.name === 'fail');
          const next = failing ?? open[0];
          if (next !== undefined) order.push(next.id);
          return next === undefined ? [] : [next];
        },
      },
    );

    expect(order).toEqual(['1/1/1', '1/0/1']);
    expect(result.reason).toBe('pmap_error');
    expect(result.details).toMatchObject({ index: 1, reason: 'tool_error' });
  });
});

describe('programStatus', () => {
  test('tells forms and effects apart that are done, waiting and to come', () => {
    const read = readProgram('(+ 1 2)\n(tool/get {:id 1})\n(inc 1)');
    if (!read.ok) throw new Error(read.problem.message);
    const machine = startMachine(read.program, {
      data: {},
      memory: EMPTY_MEMORY,
      limits: {},
      tools: TOOLS,
    });
    const before = programStatus(machine).forms.map(({ state }) => state);
    const step = advance(machine, { now: 5, budget: {}, results: [] });
    const status = programStatus(step.machine);

    expect(before).toEqual(['pending', 'pending', 'pending']);
    expect(status.state).toBe('waiting');
    expect(status.forms.map(({ state, preview }) => [state, preview])).toEqual([
      ['done', '3'],
      ['waiting', undefined],
      ['pending', undefined],
    ]);
    expect(status.effects).toMatchObject([{ id: '1', name: 'get', state: 'waiting', since: 5 }]);
  });
});
