import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { ownAnswer, ownSection, ownToolchain } from '../../../src/define/agent/reply-layout.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { OWN_PARTS } from '../../../src/core/extension/store.ts';
import { extend } from '../../../src/core/modes/extend.ts';
import { previewPrompt } from '../../../src/registry/preview-prompt.ts';
import { ownParts, wrongParsers } from '../../support/own-parts.ts';
import { bodiesOf, searchTool, startRun, type StartedRun } from '../../support/runs.ts';
import { problemsOf } from '../../support/usage-problems.ts';

beforeEach(() => extend(ownParts));
afterEach(() => Reflect.deleteProperty(globalThis, OWN_PARTS));

const all: Partial<AgentOptions> = {
  format: 'own:brackets',
  toolchain: 'own:lines',
  thinking: false,
  sections: [ownSection('own:csv', { name: 'table', schema: z.array(z.array(z.string())) })],
  answer: 'own:verdict',
};

function start(replies: readonly string[], agent: Partial<AgentOptions> = all): StartedRun {
  return startRun(replies, { agent });
}

const CALL = '[table]\na,b\nc,d\n[action]\nsearch {"query": "x"}';

describe('an agent with own parts', () => {
  it('describes them, reads them, runs their calls and ends with their answer', async () => {
    const { run, script } = start([CALL, '[answer]\nyes']);
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value: { ok: true } });
    const [first, second] = script.requests.map(({ messages }) => JSON.stringify(messages));
    expect(first).toContain('Write each call on a line: tool_name');
    expect(first).toContain('Write comma-separated values.');
    expect(first).toContain('Write yes or no.');
    expect(first).toContain('Parameters: query');
    expect(second).toContain('hits for x');
    expect(run.entries[0]?.metadata).toMatchObject({
      sections: {
        table: [
          [
            ['a', 'b'],
            ['c', 'd'],
          ],
        ],
      },
    });
  });

  it('is handed over at each iteration', async () => {
    const { run } = startRun([CALL, CALL, '[answer]\nyes'], {
      agent: all,
      handoverDue: () => true,
    });

    expect((await run.result).value).toEqual({ ok: true });
    expect(bodiesOf(run.events, 'agent:execution:handover').length).toBeGreaterThan(1);
  });

  it('shows results as its toolchain writes them', async () => {
    const tools = [searchTool(() => ({ hits: 2 }))];
    const { run, script } = start([CALL, '[answer]\nno'], { ...all, tools });

    expect((await run.result).value).toEqual({ ok: false });
    expect(JSON.stringify(script.requests[1]?.messages)).toContain('={\\"hits\\":2}');
  });

  it.each([
    ['[action]\nsearch query', 'the arguments of search are no JSON'],
    ['[table]\na;b\n[action]\nsearch {"query": "x"}', 'write commas, not semicolons'],
    ['[answer]\nperhaps', 'expected yes or no, got perhaps'],
    ['nothing', 'it has none of the sections table, action, answer'],
  ])('tells the model what its reader throws: %j', async (reply, words) => {
    const { run, script } = start([reply, '[answer]\nyes']);

    expect(await run.result).toMatchObject({ status: 'success', value: { ok: true } });
    expect(JSON.stringify(script.requests[1]?.messages)).toContain(words);
  });

  it('checks values against the schema of the definition', async () => {
    const answer = ownAnswer('own:verdict', { schema: z.object({ ok: z.literal(true) }) });
    const { run, script } = start(['[answer]\nno', '[answer]\nyes'], { ...all, answer });

    expect((await run.result).value).toEqual({ ok: true });
    expect(JSON.stringify(script.requests[1]?.messages)).toContain('could not be used');
  });

  it.each(Object.keys(wrongParsers))(
    'goes on when its parser %s: a reply that is not read',
    async (name) => {
      const { run } = start(Array(4).fill('[answer]\nyes') as string[], {
        ...all,
        format: `own:${name}`,
      });

      const step = await run.result;
      expect(step).toMatchObject({ status: 'limit_exceeded' });
      expect(bodiesOf(run.events, 'agent:parse_error')[0]).toMatchObject({ family: 'format' });
    },
  );

  it('writes sections as XML when its `format` throws', async () => {
    const { run, script } = start(['[answer]\nyes'], { ...all, format: 'own:throws-writing' });

    expect((await run.result).value).toEqual({ ok: true });
    expect(JSON.stringify(script.requests[0]?.messages)).toContain('<task>');
  });

  it('does not read what the provider cut off', async () => {
    const { run, script } = startRun(
      [{ text: '[answer]\nyes', finishReason: 'length' } as never, '[answer]\nno'],
      { agent: all },
    );

    expect((await run.result).value).toEqual({ ok: false });
    expect(JSON.stringify(script.requests[1]?.messages)).toContain('cut off by the length limit');
  });

  it('fails with a clear error when it is not described', async () => {
    const agent = defineAgent({
      name: 'mute',
      mode: 'react',
      model: () => Promise.resolve(''),
      ...all,
      format: 'own:describes-nothing',
    });

    const run = start([], { ...all, format: 'own:describes-nothing' });
    expect(await run.run.result).toMatchObject({
      reason: 'model_request_refused',
      message: expect.stringContaining('`describe` of format own:describes-nothing'),
    });
    await expect(previewPrompt(agent, { task: 'Go' })).rejects.toMatchObject({
      name: 'UsageError',
      code: 'extension',
      message:
        'Expected `describe` of format own:describes-nothing to return a text, got 42. Mend it.',
    });
  });
});

describe('a name', () => {
  it.each<[string, Partial<AgentOptions>]>([
    ['own:bracket` of agent `tester` to be added by `extend`', { format: 'own:bracket' }],
    ['own:line', { toolchain: ownToolchain('own:line', { section: 'do' }) }],
    ['own:tsv', { sections: [ownSection('own:tsv', { name: 'table' })] }],
    ['own:maybe', { answer: 'own:maybe' }],
  ])('that nothing adds is refused where the agent is loaded: %s', (words, fields) => {
    expect(problemsOf(() => start([], { ...all, ...fields }))).toEqual([
      { code: 'extension_not_found', message: expect.stringContaining(words) },
    ]);
  });

  it('is suggested when it is near', () => {
    const [problem] = problemsOf(() => start([], { format: 'own:bracket' }));
    expect(problem?.message).toContain('Did you mean `own:brackets`?');
  });

  it.each<[string, AgentOptions]>([
    ['`format`', { format: 'own:' } as never],
    ['`format`', { format: 'toml' } as never],
    ['`toolchain`', { toolchain: 'own:a b' } as never],
    ['`answer`', { answer: 'verdict' } as never],
    ['section `table`', { sections: [ownSection('csv' as never, { name: 'table' })] } as never],
  ])('of the wrong form is refused by the definition: %s', (words, fields) => {
    const options: AgentOptions = { ...fields, name: 'a', mode: 'react', model: 'm' };

    expect(
      problemsOf(() => defineAgent(options))
        .map(({ message }) => message)
        .join(),
    ).toContain(words);
  });
});

describe('extend', () => {
  it.each([
    [{ formats: { 'own:x': ownParts.formats?.['brackets'] } }, 'names of `formats`'],
    [{ formats: { x: { describe: () => '' } } }, 'format `x` to have the functions'],
    [{ formats: { x: null } }, 'none named describe, parse, format'],
    [{ toolchains: [], parsers: {} }, 'one of formats, sections, toolchains, answers'],
    [{ answers: 'verdict' }, '`answers` to be an object'],
  ])('refuses %o', (parts, words) => {
    expect(problemsOf(() => extend(parts as never))).toContainEqual({
      code: 'extension',
      message: expect.stringContaining(words),
    });
  });
});
