/** Tool search as a whole run sees it: observations, requests, events, statistics. */
import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { SearchEngine } from '../../src/define/definition/tool-search-options.ts';
import { modeLoop } from '../../src/core/loop/mode-loop.ts';
import { chatMode } from '../../src/core/modes/chat.ts';
import type { Next } from '../../src/core/loop/work.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel, type ScriptedReply } from '../../src/testing/scripted-model.ts';

const tools = ['alpha', 'beta', 'gamma', 'delta'].map((name) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    search: { domain: 'Letters', keywords: ['letter'] },
    execute: () => `${name} done`,
  }),
);

interface Played {
  readonly run: MemoryRun;
  readonly requests: readonly ModelRequest[];
  /** The message before the marker of the last request. */
  readonly observed: string;
}

async function play(
  replies: readonly ScriptedReply[],
  options: Partial<AgentOptions> = {},
  next?: Next,
): Promise<Played> {
  const script = scriptedModel(replies);
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model: script.model,
    tools,
    toolSearch: {},
    ...(options.mode === 'chat' ? {} : { thinking: false }),
    ...options,
  });
  const run = startInMemory({ agent, task: 'Go.', ...(next === undefined ? {} : { next }) });
  await run.result;
  script.assertDone();
  const observation = script.requests.at(-1)?.messages.at(-2);
  return {
    run,
    requests: script.requests,
    observed: observation === undefined ? '' : textOf(observation),
  };
}

function act(...calls: readonly string[]): string {
  return `<action>\n[${calls.join(', ')}]\n</action>`;
}

const done = '<answer>done</answer>';

describe('[row 27] a search in a run', () => {
  test('goes the way of any call: observation, events, statistics', async () => {
    const { run, observed } = await play([
      act('{tool: tool_registry_search, args: {query: beta}}'),
      done,
    ]);

    const text = '- beta: Does beta.\n  Parameters: none\n\nPage 1 of 1, 1 tools.';
    expect(observed).toBe(
      `<observation>\n<tool_registry_search>\n${text}\n</tool_registry_search>\n</observation>`,
    );
    expect(
      run.events.flatMap((event) =>
        event.type === 'agent:tool_call:after'
          ? [{ tool: event.tool, outcome: event.outcome, output: event.output }]
          : [],
      ),
    ).toEqual([{ tool: 'tool_registry_search', outcome: 'ok', output: text }]);
    expect(run.state.stats.counters['agent:tool_calls:tool_registry_search']).toBe(1);
  });

  test('repeats no block within a batch, in request order', async () => {
    const { observed } = await play([
      act(
        '{tool: tool_registry_search, args: {query: letter, page: 2}}',
        '{tool: tool_registry_search, args: {query: letter}}',
        '{tool: tool_registry_search, args: {query: gamma alpha}}',
      ),
      done,
    ]);

    expect(observed).toBe(`<observation>
<tool_registry_search>
- gamma: Does gamma.
  Parameters: none

Page 2 of 2, 4 tools.
</tool_registry_search>
<tool_registry_search>
- alpha: Does alpha.
  Parameters: none

- beta: Does beta.
  Parameters: none

- delta: Does delta.
  Parameters: none

Page 1 of 2, 4 tools.
</tool_registry_search>
<tool_registry_search>
Already shown above: alpha, gamma

Page 1 of 1, 2 tools.
</tool_registry_search>
</observation>`);
  });

  test.each([
    {
      name: 'a tool that nothing has shown runs',
      call: '{tool: delta}',
      text: '<delta>\ndelta done\n</delta>',
    },
    {
      name: 'an unknown tool says how to search',
      call: '{tool: epsilon}',
      text: '<unknown_tool>\nError: unknown tool "epsilon". Find tools with tool_registry_search.\n</unknown_tool>',
    },
    {
      name: 'nothing found is a success',
      call: '{tool: tool_registry_search, args: {query: xyzzy}}',
      text: '<tool_registry_search>\nNo tool matches. Try other words, or a broader query.\n</tool_registry_search>',
    },
    {
      name: 'a bad pattern is an error',
      call: '{tool: tool_registry_search, args: {query: "(", query_type: regex}}',
      text: '<tool_registry_search>\nError: the pattern `(` is not valid.\n</tool_registry_search>',
    },
    {
      name: 'an unknown engine is refused by the schema',
      call: '{tool: tool_registry_search, args: {query: a, query_type: bm26}}',
      text: `<tool_registry_search>
Error: the arguments do not fit tool_registry_search.
- query_type: expected one of "bm25", "regex", got string "bm26"
Parameters:
- query (string, required)
- query_type (one of bm25, regex)
- page (integer >= 1)
</tool_registry_search>`,
    },
  ])('$name', async ({ call, text }) => {
    const { observed } = await play([act(call), done]);

    expect(observed).toBe(`<observation>\n${text}\n</observation>`);
  });

  test.each<{
    readonly name: string;
    readonly search: SearchEngine['search'];
    readonly text: string;
  }>([
    {
      name: 'ranks; unknown and repeated names are dropped before counting',
      search: (query, catalogue) => ['nobody', 'delta', 'delta', ...catalogue.map((it) => it.name)],
      text: '- delta: Does delta.\n  Parameters: none\n\nPage 1 of 4, 4 tools.',
    },
    {
      name: 'tells the model what it throws on purpose',
      search: () => {
        throw new ToolError('the index is being built');
      },
      text: 'Error: the index is being built',
    },
    {
      name: 'is told when it returns no list',
      search: () => 'alpha' as never,
      text: 'Error: the search engine mine returned no list of names',
    },
  ])("an engine of a user's own $name", async ({ search, text }) => {
    const { observed } = await play(
      [act('{tool: tool_registry_search, args: {query: any}}'), done],
      { toolSearch: { pageSize: 1, engines: [{ id: 'mine', guidance: 'Anything.', search }] } },
    );

    expect(observed).toBe(
      `<observation>\n<tool_registry_search>\n${text}\n</tool_registry_search>\n</observation>`,
    );
  });

  test('without tools there is nothing to search', () => {
    const agent = defineAgent({ name: 'a', mode: 'react', model: async () => '', toolSearch: {} });

    expect([agent.spec.tools, agent.spec.toolSearch, agent.toolSearch]).toEqual([
      [],
      undefined,
      undefined,
    ]);
  });
});

const searchFor = (query: string): ScriptedReply => ({
  toolCalls: [{ name: 'tool_registry_search', args: { query } }],
});

function declared(requests: readonly ModelRequest[]): readonly (readonly string[])[] {
  return requests.map((request) => (request.tools ?? []).map(({ name }) => name));
}

describe('[row 27] chat', () => {
  test('declares the search tool, the pins, and from the next call on what was found', async () => {
    const { requests, run } = await play([searchFor('gamma'), searchFor('beta gamma'), 'done'], {
      mode: 'chat',
      toolSearch: { pins: ['delta'] },
    });

    expect(declared(requests)).toEqual([
      ['tool_registry_search', 'delta'],
      ['tool_registry_search', 'delta', 'gamma'],
      ['tool_registry_search', 'delta', 'gamma', 'beta'],
    ]);
    // No epoch for a discovery: the digest covers the messages that tell of it.
    expect(run.state.mark.epoch).toBe(1);
  });

  test('keeps what was found when the messages are dropped', async () => {
    const chat = modeLoop(chatMode);
    const { requests, run } = await play(
      [searchFor('gamma'), searchFor('beta'), 'done'],
      { mode: 'chat' },
      async (work) => {
        work.setScratchpad([]);
        return chat(work);
      },
    );

    expect(declared(requests)).toEqual([
      ['tool_registry_search'],
      ['tool_registry_search', 'gamma'],
      ['tool_registry_search', 'gamma', 'beta'],
    ]);
    expect(run.state.head.discovered).toEqual(['gamma', 'beta']);
  });
});
