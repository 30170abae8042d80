import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { PendingItem, RunOverview, RunStatus } from '../../src/core/contract/messages.ts';
import { noWorker } from '../../src/client/connection/service-calls.ts';
import { createMcpServer, type McpServerParts } from '../../src/mcp-server/create-mcp-server.ts';
import { createAccess } from '../../src/mcp-server/runs/access.ts';
import { readTools, type ToolParts } from '../../src/mcp-server/tools/read-tools.ts';
import type { ServedCall } from '../../src/mcp-server/tools/tool.ts';
import { viewValue } from '../../src/mcp-server/runs/run-view.ts';
import { waitForRun } from '../../src/mcp-server/runs/wait-for-run.ts';
import { inputRequestOf } from '../../src/mcp-server/tasks/task-input.ts';
import { assertFits } from '../../src/mcp-server/tools/tool.ts';
import { createWaits, MAX_WAITS } from '../../src/mcp-server/tools/waits.ts';
import { fakeRun, STEP } from '../cli/cli-fixture.ts';
import { withoutWaits } from '../support/no-waits.ts';

const BIG = 'x'.repeat(2_000_000);
const bytesOf = (value: Json): number => JSON.stringify(value).length;
const status = (parts: Partial<RunStatus> = {}): RunStatus =>
  ({ state: 'running', agent: 'clerk', iteration: 1, waitsFor: [], ...parts }) as RunStatus;
const live = (pending: readonly PendingItem[] = []) =>
  fakeRun('clerk-1', {
    step: async () => null,
    view: async () => ({ status: status(), pending }) as unknown as RunOverview,
  });
const approval = (id: string, args: JsonObject): PendingItem =>
  ({ id, kind: 'approval', tool: 'pay', args, agent: 'a', path: 'a', since: 0 }) as PendingItem;

describe('a result', () => {
  it('holds so much of an answer, and says what is missing', () => {
    const step = { ...STEP, value: { text: BIG }, details: [BIG], message: BIG };
    const value = viewValue('clerk-1', { kind: 'ended', step });
    expect(bytesOf(value)).toBeLessThan(100_000);
    expect((value['step'] as JsonObject)['value']).toMatch(
      /\[cut: 65536 of 2000011 bytes shown\]$/,
    );
  });

  it('holds no value of a hidden field', () => {
    const secret = { _token: 'sentinel', name: 'Ada' };
    const step = { ...STEP, value: [secret], details: secret };
    const pending = [approval('1.1', secret)];
    const shown = JSON.stringify([
      viewValue('clerk-1', { kind: 'ended', step }),
      viewValue('clerk-1', { kind: 'live', status: status(), pending }),
      inputRequestOf(pending[0]!, true)!,
    ]);
    expect(shown).not.toContain('sentinel');
    expect(shown.split('<hidden>')).toHaveLength(5);
  });

  it('holds so much of what waits', () => {
    const few = [approval('1.1', { text: BIG }), approval('1.2', { amount: 1 })];
    const small = viewValue('clerk-1', { kind: 'live', status: status(), pending: few });
    expect(bytesOf(small)).toBeLessThan(20_000);
    expect(small['pending']).toMatchObject([expect.any(String), { id: '1.2' }]);
    const many = Array.from({ length: 500 }, (_, index) => approval(`1.${index}`, {}));
    const waitsFor = Array.from({ length: 500 }, () => BIG);
    const value = viewValue('clerk-1', {
      kind: 'live',
      status: status({ waitsFor }),
      pending: many,
    });
    expect(value).toMatchObject({ pendingLeftOut: 450 });
    expect(bytesOf(value)).toBeLessThan(200_000);
  });
});

describe('a wait', () => {
  const signal = new AbortController().signal;

  it('ends with its time, while the run goes on', async () => {
    expect((await waitForRun(live(), { waitMs: 50, signal })).kind).toBe('live');
  });

  it('ends at once when something waits for a person, and not at outside work', async () => {
    const item = approval('1.1', {});
    expect(await waitForRun(live([item]), { waitMs: 50_000, signal })).toMatchObject({
      pending: [item],
    });
    const outside = { ...item, kind: 'external' } as PendingItem;
    expect(await waitForRun(live([outside]), { waitMs: 20, signal })).toMatchObject({
      kind: 'live',
    });
  });

  it('waits for a worker, and says that none came', async () => {
    let reads = 0;
    const run = fakeRun('clerk-1', {
      step: async () => {
        reads += 1;
        throw noWorker('clerk-1');
      },
    });
    await expect(waitForRun(run, { waitMs: 300, signal })).rejects.toMatchObject({
      code: 'no_worker',
    });
    expect(reads).toBeGreaterThan(1);
    const silent = fakeRun('clerk-1', { step: () => new Promise(() => undefined) });
    const waiting = withoutWaits(() => waitForRun(silent, { waitMs: 5, signal }));
    await expect(waiting).rejects.toMatchObject({ code: 'no_worker' });
  });

  it('ends with its caller', async () => {
    const caller = new AbortController();
    const waiting = waitForRun(live(), { waitMs: 50_000, signal: caller.signal });
    caller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is one of so many', async () => {
    const waits = createWaits();
    const caller = new AbortController();
    const call = { signal, takesTask: false, progress: () => undefined };
    const open = Array.from({ length: MAX_WAITS }, () =>
      waits.wait(live(), 50_000, { ...call, signal: AbortSignal.any([caller.signal]) }),
    );
    const ends = Promise.allSettled(open);
    await expect(waits.wait(live(), 0, call)).rejects.toMatchObject({ code: 'run_busy' });
    caller.abort();
    await ends;
    expect((await waits.wait(live(), 0, call)).kind).toBe('live');
  });
});

describe('a server', () => {
  const parts = (more: Partial<McpServerParts>): McpServerParts => ({
    everloop: {} as Everloop,
    signal: new AbortController().signal,
    log: () => undefined,
    ...more,
  });

  it('has no agent with the name of one of its tools', () => {
    const agents = [{ name: 'inbox', parameters: {} }];
    expect(() => createMcpServer(parts({ agents, exposeAgents: true }))).toThrow(
      'Expected agents whose names are free, got `inbox`',
    );
    createMcpServer(parts({ agents }));
  });
});

describe('inbox', () => {
  it.each([
    {
      name: 'reads 100 runs and counts the others',
      allow: undefined,
      limit: 100,
      rest: { more: 7 },
    },
    {
      name: 'reads 1,000 runs for callers of some agents, who get no count of the others',
      allow: ['clerk'],
      limit: 1_000,
      rest: { isPartial: true },
    },
  ])('$name', async ({ allow, limit, rest }) => {
    const asked: unknown[] = [];
    const everloop = {
      inbox: async (options: unknown) => {
        asked.push(options);
        return { items: [], silent: [], more: 7 };
      },
    } as unknown as Everloop;
    const tools = readTools({
      everloop,
      access: createAccess(everloop, allow),
    } as unknown as ToolParts);
    const inbox = tools.find((tool) => tool.name === 'inbox');

    const answer = await inbox?.call({}, { signal: AbortSignal.timeout(5_000) } as ServedCall);

    expect(asked).toEqual([{ limit }]);
    expect(answer).toEqual({ kind: 'value', value: { items: [], silent: [], ...rest } });
  });
});

describe('arguments', () => {
  it('are checked by the schema of their own tool, also when another has the same `$id`', () => {
    const schema = (type: string): JsonObject => ({
      $id: 'input',
      type: 'object',
      properties: { value: { type } },
    });
    const [text, number] = [schema('string'), schema('number')];

    assertFits({ name: 'one', parameters: text }, { value: 'a' });
    assertFits({ name: 'two', parameters: number }, { value: 1 });
    expect(() => assertFits({ name: 'two', parameters: number }, { value: 'a' })).toThrow(
      /Expected arguments of two that fit its schema, got: .*must be number/,
    );
  });
});
