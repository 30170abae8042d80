import { describe, expect, it } from 'vitest';
import type { ToolSpec, ToolStub } from '../../../src/core/contract/spec.ts';
import {
  foundAfter,
  MAX_FOUND_BYTES,
  STUB_DEFAULTS,
  toolOf,
  type KnownTools,
} from '../../../src/core/tool-search/stubs.ts';

function stubOf(name: string, fields: Partial<ToolStub> = {}): ToolStub {
  const mcp = { server: 'ops', tool: name, hash: 'a'.repeat(16) };
  return { name, description: 'Short.', effect: 'once', mcp, ...fields };
}

function specOf(name: string, fields: Partial<ToolSpec> = {}): ToolSpec {
  const mcp = { server: 'ops', tool: name, hash: 'b'.repeat(16) };
  return {
    ...STUB_DEFAULTS,
    name,
    description: `All of ${name}.`,
    parameters: { type: 'object', properties: { at: { type: 'string' } } },
    effect: 'read',
    mcp,
    ...fields,
  };
}

function knowing(stubs: readonly ToolStub[], found?: readonly ToolSpec[]): KnownTools {
  const head = { spec: { tools: [specOf('whole')], stubs } };
  return found === undefined ? { head } : { head, found };
}

describe('what a search finds of stubs', () => {
  it('has the words of now and the settings of the start', () => {
    const [found] = foundAfter(knowing([stubOf('a', { approval: 'always', timeoutMs: 5 })]), [
      specOf('a', { maxResultBytes: 1e9, policy: 'Ask.' }),
    ]);

    expect(found).toEqual({
      ...specOf('a', { policy: 'Ask.' }),
      effect: 'once',
      retry: { attempts: 1, initialMs: 1_000, factor: 2 },
      approval: 'always',
      timeoutMs: 5,
      area: { domain: 'ops' },
    });
  });

  it('is what was found first, and is newest when found again', () => {
    const stubs = [stubOf('a'), stubOf('b')];
    const once = foundAfter(knowing(stubs), [specOf('a'), specOf('b')]);
    const again = foundAfter(knowing(stubs, once), [specOf('a', { description: 'Other.' })]);

    expect(again.map(({ name, description }) => [name, description])).toEqual([
      ['b', 'All of b.'],
      ['a', 'All of a.'],
    ]);
  });

  it('leaves out tools that the run has whole, or did not begin with', () => {
    const page = [specOf('whole', { description: 'Other.' }), specOf('new')];

    expect(foundAfter(knowing([stubOf('a')]), page)).toEqual([]);
  });

  it('has at most 64 KB: the oldest go, and are known by their stubs again', () => {
    const names = Array.from({ length: 20 }, (_, at) => `t${at}`);
    const stubs = names.map((name) => stubOf(name));
    let state = knowing(stubs);
    for (const name of names) {
      const found = foundAfter(state, [specOf(name, { description: 'x'.repeat(8_000) })]);
      state = knowing(stubs, found);
    }

    expect(JSON.stringify(state.found).length).toBeLessThanOrEqual(MAX_FOUND_BYTES + 32);
    expect(state.found?.at(-1)?.name).toBe('t19');
    expect(toolOf(state, 't19')?.description).toHaveLength(8_000);
    expect(toolOf(state, 't0')).toMatchObject({
      description: 'Short.',
      parameters: { type: 'object' },
      mcp: { hash: 'a'.repeat(16) },
    });
    expect(toolOf(state, 'unknown')).toBeUndefined();
  });
});
