/** Programs of a run as its events and its transcript have them, after the run has forgotten them. */
import { describe, expect, it } from 'vitest';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { ProgramView } from '../../../src/core/contract/report.ts';
import { endedProgram, wholeSource } from '../../../src/core/program-text/ended-program.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { searchTool } from '../../support/runs.ts';
import { scriptedModel, type ScriptedReply } from '../../../src/testing/scripted-model.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';

const block = (source: string): string => `I look it up.\n\n\`\`\`clojure\n${source}\n\`\`\``;
const call = (source: string): ScriptedReply =>
  ({ toolCalls: [{ id: 'c', name: 'lisp_eval', args: { program: source } }] }) as never;
const section = (source: string): string =>
  `<thinking>I look it up.</thinking>\n<program>\n${source}\n</program>`;

/** A source of so many bytes more than an event has, with signs of several bytes. */
const LONG = `; ${'é€ '.repeat(2_000)}\n(def a 1)\n(return "ü")`;

async function play(
  replies: readonly ScriptedReply[],
  agent: Partial<AgentOptions> = {},
): Promise<MemoryRun> {
  const { model } = scriptedModel(replies);
  const definition = defineAgent({ name: 'p', mode: 'lisp', model: { id: 'm', model }, ...agent });
  const run = startInMemory({ agent: definition, task: 'Go.' });
  await run.result;
  return run;
}

function viewOf(
  { events, entries }: Pick<MemoryRun, 'events' | 'entries'>,
  programId: string,
): ProgramView {
  const own = <Type extends AgentEvent['type']>(type: Type) =>
    events.find(
      (event): event is Extract<AgentEvent, { readonly type: Type }> =>
        event.type === type && 'programId' in event && event.programId === programId,
    );
  const before = own('agent:program:before');
  if (before === undefined) throw new Error(`Expected a program ${programId}.`);
  return endedProgram(
    { before, after: own('agent:program:after') },
    wholeSource(before.source, entries),
  );
}

describe('endedProgram', () => {
  it.each([
    ['a value', '(def a 1)\n(+ a 1)\n(return a)'],
    ['a return in the middle', '(def a 1)\n(if (= a 1) (return [a]) nil)\n(inc a)'],
    ['an error', '(def a 1)\n(/ a 0)\n(inc a)'],
    ['a failure', '(def a 1)\n(fail "no")\n(inc a)'],
    ['one that was refused by the checks', '(foo)'],
  ])('shows %s as the run did', async (_name, source) => {
    const run = await play([block(source)], { maxTurns: 1, retryTurns: 0 });

    const view = viewOf(run, '1.p');

    const shown = run.program();
    const { effects: _effects, ...status } = shown?.status ?? {};
    expect(view).toMatchObject({ ...shown, ...(shown?.status === undefined ? {} : { status }) });
    expect(view.source).toBe(source);
  });

  it('shows those before the newest', async () => {
    const run = await play([block('(def a 1)'), block('(def b (inc a))'), block('(return b)')]);

    expect(['1.p', '2.p', '3.p'].map((id) => viewOf(run, id))).toMatchObject([
      {
        source: '(def a 1)',
        outcome: 'value',
        status: { state: 'done', forms: [{ preview: "#'a" }] },
      },
      { source: '(def b (inc a))', outcome: 'value' },
      { source: '(return b)', outcome: 'returned' },
    ]);
  });

  it('has the values of as many forms as fit', async () => {
    const source = `${Array.from({ length: 40 }, (_, n) => `(str "${'x'.repeat(90)}" ${n})`).join('\n')}\n(return 1)`;
    const run = await play([block(source)]);

    const forms = viewOf(run, '1.p').status?.forms ?? [];

    expect(forms.map(({ state }) => state)).toEqual(Array.from({ length: 41 }, () => 'done'));
    const shown = forms.filter(({ preview }) => preview !== undefined);
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.length).toBeLessThan(40);
  });
});

describe('wholeSource', () => {
  it.each([
    ['a block of text', [block(LONG)], {}],
    ['a call', [call(LONG)], { transport: 'tool_call' }],
    [
      'a section',
      [section(LONG), '<answer>ü</answer>'],
      { mode: 'react', programs: true, tools: [searchTool()] },
    ],
  ] as const)('finds it in %s', async (_name, replies, agent) => {
    const run = await play(replies, agent as Partial<AgentOptions>);

    const view = viewOf(run, '1.p');

    expect(view.source).toBe(LONG);
    expect(view).not.toHaveProperty('isCut');
    expect(view.status?.forms.length).toBe(2);
  });

  it('says when the transcript does not have it', async () => {
    const { events } = await play([block(LONG)]);

    const view = viewOf({ events, entries: [] }, '1.p');

    expect(view).toMatchObject({ isCut: true, outcome: 'returned' });
    expect(view.source.length).toBeLessThan(LONG.length);
    expect(view).not.toHaveProperty('status');
  });
});
