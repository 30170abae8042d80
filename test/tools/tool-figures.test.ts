/** What a worker knows of its tools, and when that is enough to run a call in another way. */
import { describe, expect, it } from 'vitest';
import type { ToolOrder } from '../../src/core/contract/outcome.ts';
import type { Reply } from '../../src/core/contract/model.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { loadAgent } from '../../src/registry/load-agent.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { quickTools } from '../../src/tools/quick-tools.ts';
import { createReadsBeside } from '../../src/tools/reads-beside.ts';
import {
  createToolFigures,
  type CallFigures,
  type ToolFigures,
} from '../../src/tools/tool-figures.ts';
import { withFigures } from '../../src/tools/watch-figures.ts';
import { INLINE_SIZES } from '../../src/core/base/size-limits.ts';

function called(times: number, ms = 10, bytes = 100): ToolFigures {
  const figures = createToolFigures();
  for (let call = 0; call < times; call++) figures.add('clerk', 'look', { ms, bytes });
  return figures;
}

describe('the figures of a tool', () => {
  it('call it quick after twenty calls, and not before', () => {
    expect(called(19).isQuick('clerk', 'look')).toBe(false);
    expect(called(20).isQuick('clerk', 'look')).toBe(true);
    expect(called(20).isQuick('clerk', 'find')).toBe(false);
    expect(called(20).isQuick('desk', 'look')).toBe(false);
  });

  it('allow one slow call of twenty, not two', () => {
    const figures = called(19);
    figures.add('clerk', 'look', { ms: 9_000, bytes: 100 });
    expect(figures.isQuick('clerk', 'look')).toBe(true);
    figures.add('clerk', 'look', { ms: 9_000, bytes: 100 });
    expect(figures.isQuick('clerk', 'look')).toBe(false);
    expect(figures.usual('clerk', 'look')).toEqual({ ms: 9_000, bytes: 100 });
    expect(figures.usual('clerk', 'find')).toEqual({ ms: 0, bytes: 0 });
  });

  it.each([
    ['499 ms and 16,383 bytes', 499, 16_383, true],
    ['500 ms', 500, 100, false],
    ['16,384 bytes', 10, 16_384, false],
  ])('take %s for %s', (_what, ms, bytes, isQuick) => {
    expect(called(20, ms, bytes).isQuick('clerk', 'look')).toBe(isQuick);
  });

  it('forget what is a hundred calls ago, and tools that were not called for long', () => {
    const figures = called(30, 9_000);
    for (let call = 0; call < 100; call++) figures.add('clerk', 'look', { ms: 1, bytes: 1 });
    expect(figures.isQuick('clerk', 'look')).toBe(true);
    for (let tool = 0; tool < 1_000; tool++) figures.add('clerk', `t${tool}`, { ms: 1, bytes: 1 });
    expect(figures.isQuick('clerk', 'look')).toBe(false);
  });
});

const parameters = { type: 'object', properties: { at: { type: 'string' } } } as const;

const tool = (name: string, effect: 'read' | 'idempotent', options: object = {}) =>
  defineTool({ name, description: 'Looks.', effect, parameters, execute: () => 1, ...options });

const agent = defineAgent({
  name: 'clerk',
  mode: 'chat',
  model: { id: 'm', model: async () => 'done' },
  tools: [
    tool('look-up', 'read'),
    tool('never', 'read', { local: false }),
    tool('always', 'read', { local: true }),
    tool('write', 'idempotent'),
    tool('told', 'read', { readsContext: true }),
  ],
});

const registry = createRegistry({ agents: [agent] });
const known = registry.agents.get('clerk');
if (known === undefined) throw new Error('Expected the agent clerk, got none.');

const orderOf = (name: string): ToolOrder => ({
  agent: 'clerk',
  runId: 'run',
  agentPath: 'clerk',
  callId: '1.1',
  tool: name,
  args: {},
});

describe('the calls that count', () => {
  const figuresAfter = async (
    name: string,
    end: Parameters<typeof withFigures>[3],
  ): Promise<boolean> => {
    const figures = createToolFigures();
    for (let call = 0; call < 20; call++) await withFigures(figures, known, orderOf(name), end);
    return figures.isQuick('clerk', name);
  };
  const ended =
    (outcome: 'ok' | 'error' | 'rejected' | 'canceled', started = true) =>
    async () =>
      ({ kind: 'result', result: { outcome, attempts: 1, started } }) as const;

  it('are those of tools that only read, however they ended', async () => {
    expect(await figuresAfter('look-up', ended('ok'))).toBe(true);
    expect(await figuresAfter('look-up', ended('error'))).toBe(true);
    expect(await figuresAfter('write', ended('ok'))).toBe(false);
  });

  it('are not those that did not begin, or were stopped at once', async () => {
    expect(await figuresAfter('look-up', ended('rejected', false))).toBe(false);
    expect(await figuresAfter('look-up', ended('canceled'))).toBe(false);
  });
});

const loaded = loadAgent(registry, { v: 1, agent: 'clerk', task: { text: 'Look.' } }, INLINE_SIZES);
if (loaded.kind !== 'loaded') throw new Error(`Expected a loaded agent, got ${loaded.kind}.`);
const { spec } = loaded.agent;

describe('the tools of a reply', () => {
  const figures = createToolFigures();
  for (const { spec } of agent.tools) {
    for (let call = 0; call < 20; call++) figures.add('clerk', spec.name, { ms: 1, bytes: 1 });
  }
  const reply = (fields: Partial<Reply>): Reply => ({
    parts: [],
    finishReason: 'stop',
    usage: noUsage,
    usageKnown: true,
    model: 'm',
    ...fields,
  });

  it('are quick by their native name, by what a text says, and by what a program says', () => {
    const native = reply({ parts: [{ type: 'call', tool: 'look_up', args: {} }] });
    expect(quickTools(figures, spec, native)).toEqual(['look-up']);
    const text = reply({ parts: [{ type: 'text', text: 'tool: look-up' }] });
    expect(quickTools(figures, spec, text)).toEqual(['look-up']);
    const program = reply({
      parts: [{ type: 'call', tool: 'run_lisp', args: { code: '(tool/look-up {})' } }],
    });
    expect(quickTools(figures, spec, program)).toEqual(['look-up']);
  });

  it('are not those that say `local` themselves, write, or read the context', () => {
    const parts = ['never', 'always', 'write', 'told'].map((tool) => ({
      type: 'call' as const,
      tool,
      args: {},
    }));
    expect(quickTools(figures, spec, reply({ parts }))).toBeUndefined();
    const now = spec.tools.map(({ name, local, auto }) => [name, local, auto]);
    expect(now).toEqual([
      ['look-up', false, true],
      ['never', false, undefined],
      ['always', true, undefined],
      ['write', false, undefined],
      ['told', false, undefined],
    ]);
  });
});

describe('a read beside a reply', () => {
  const begins = (usual: CallFigures, name = 'look_up'): boolean => {
    let hasBegun = false;
    const reads = createReadsBeside({
      order: {
        agent: 'clerk',
        runId: 'run',
        agentPath: 'clerk',
        model: 'm',
        purpose: 'reply',
        iteration: 1,
        triesBefore: 0,
        lastTurn: false,
        time: 0,
        transcript: { epoch: 'e', length: 0 } as never,
        // An order that names what it must not.
        reads: { calls: 8, tools: { 'look-up': 8, write: 8 } },
      },
      head: { spec, task: { text: 'Look.' } },
      agent: known,
      figures: { usual: () => usual },
      run: () => {
        hasBegun = true;
        return new Promise(() => undefined);
      },
      signal: new AbortController().signal,
      now: () => 0,
      schedule: () => () => undefined,
    });
    reads.offer({ type: 'call', tool: name, args: {} }, 0);
    return hasBegun;
  };

  it('begins while the tool is not known to be slow, or to give more than all may', () => {
    expect(begins({ ms: 0, bytes: 0 })).toBe(true);
    expect(begins({ ms: 1_499, bytes: 131_071 })).toBe(true);
    expect(begins({ ms: 1_500, bytes: 0 })).toBe(false);
    expect(begins({ ms: 0, bytes: 131_072 })).toBe(false);
  });

  it('is none of a tool that writes on this worker, whatever the order says', () => {
    expect(begins({ ms: 0, bytes: 0 }, 'write')).toBe(false);
  });
});
