/** The program of a run on the command line. */
import { describe, expect, it } from 'vitest';
import type { ProgramView } from '../../src/core/contract/report.ts';
import { programText } from '../../src/cli/views/program-text.ts';
import { startPrograms } from '../support/programs.ts';
import { cli, fakeRun } from './cli-fixture.ts';
import { withoutWaits } from '../support/no-waits.ts';

const SOURCE = `(def orders (tool/search {:query "may"}))
(pcalls #(ask "Refund all of these orders?" {:options [:yes :no] :timeout-ms 3600000})
        #(sleep 60000))
(return (count orders))`;

async function viewOf(source: string): Promise<ProgramView> {
  const { run } = startPrograms([source], { agent: { askUser: true } });
  await run.resultOrPending();
  const view = run.program();
  if (view === null) throw new Error('Expected a program.');
  return view;
}

const WAITING = [
  'program 1.p · waiting · 99 of 1,000,000 units of fuel · 1 effect done',
  '',
  'STATE    LINE  FORM                                                      VALUE',
  `done     1     (def orders (tool/search {:query "may"}))                 #'orders`,
  'waiting  2     (pcalls #(ask "Refund all of these orders?" {:options […',
  'pending  4     (return (count orders))',
  '',
  'EFFECT  SINCE                LINE  WHAT',
  '2/0/1   2026-03-10 09:00:00  2     ask Refund all of these orders?, until 2026-03-10 10:00:00',
  '2/1/1   2026-03-10 09:00:00  3     sleep until 2026-03-10 09:01:00',
].join('\n');

describe('program', () => {
  it('shows each form and what is open [row 24]', async () => {
    const text = programText(await viewOf(SOURCE));

    expect(text.replace(/\d+ of/, '99 of')).toBe(WAITING);
  });

  it('shows one that has ended, with its error', async () => {
    const text = programText(await viewOf('(def a 1)\n(/ a 0)\n(inc a)'));

    expect(text.replace(/\d+ of/, '9 of')).toBe(
      [
        'program 1.p · error · 9 of 1,000,000 units of fuel',
        '',
        'STATE    LINE  FORM       VALUE',
        "done     1     (def a 1)  #'a",
        'failed   2     (/ a 0)',
        'pending  3     (inc a)',
        '',
        'arithmetic_error at line 2, column 1: `/`: division by the integer 0.',
        '   2 | (/ a 0)',
        '     | ^^^^^^^',
      ].join('\n'),
    );
  });

  it('shows one that was never started', async () => {
    const text = programText(await viewOf('(foo)'));

    expect(text).toMatch(/^program 1\.p · error · not started\n\n1 problem was found/);
  });

  it('is a command, whose --json is the view', async () => {
    const view = await viewOf(SOURCE);
    const run = fakeRun('r1', { program: async () => view });

    const shown = await cli(['program', 'r1'], { everloop: { attach: () => run } });
    const json = await cli(['program', 'r1', '--json'], { everloop: { attach: () => run } });

    expect(shown).toMatchObject({ exitCode: 0, stdout: `${programText(view)}\n` });
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(JSON.stringify(view)));
  });

  it('lists the programs of a run, and shows one of them', async () => {
    const ids: (string | undefined)[] = [];
    const run = fakeRun('r1', {
      programs: async () => [
        {
          programId: '1.p',
          iteration: 1,
          since: 0,
          endedAt: 1_500,
          outcome: 'value',
          fuel: 1_234,
          calls: 2,
        },
        { programId: '3.p', iteration: 3, since: 9_000, endedAt: null, fuel: 0, calls: 0 },
      ],
      program: async ({ id } = {}) => {
        ids.push(id);
        return null;
      },
    });
    const everloop = { attach: () => run };

    const listed = await cli(['program', 'r1', '--list'], { everloop });
    const one = await cli(['program', 'r1', '--program', '2.p'], { everloop });

    expect(listed.stdout.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '))).toEqual([
      'PROGRAM BEGAN TOOK OUTCOME FUEL CALLS',
      '1.p 1970-01-01 00:00:00 1.5 s value 1,234 2',
      '3.p 1970-01-01 00:00:09 runs 0 0',
      '',
    ]);
    expect([one.stdout, ids]).toEqual(['Run r1 has not run program 2.p.\n', ['2.p']]);
  });

  it('shows the source of one whose forms are not known', () => {
    const view = { programId: '1.p', source: '(+ 1 2)', since: 0, outcome: 'value' } as const;

    expect(programText({ ...view, isCut: true })).toBe(
      'program 1.p · value\n\n(+ 1 2)\nThe run no longer has the rest.',
    );
  });

  it('says that there was none', async () => {
    const run = fakeRun('r1', { program: async () => null });

    const shown = await cli(['program', 'r1'], { everloop: { attach: () => run } });

    expect(shown).toMatchObject({ exitCode: 0, stdout: 'Run r1 has not run a program.\n' });
  });

  it('follows until the run ends, and shows changes alone', async () => {
    const first = await viewOf(SOURCE);
    const second = await viewOf('1');
    const views = [first, first, second];
    const states = ['running', 'waiting', 'ended'];
    const run = fakeRun('r1', {
      status: async () => ({ state: states.shift() ?? 'ended' }) as never,
      program: async () => views.shift() ?? second,
    });

    const shown = await withoutWaits(() =>
      cli(['program', 'r1', '-f'], { everloop: { attach: () => run } }),
    );

    expect(shown.stdout).toBe(`${programText(first)}\n\n${programText(second)}\n`);
  });
});
