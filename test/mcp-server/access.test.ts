import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { unknownRun } from '../../src/client/connection/service-calls.ts';
import type { RunSummary } from '../../src/client/run-list.ts';
import { createAccess, type Access } from '../../src/mcp-server/runs/access.ts';
import { createAgentList } from '../../src/mcp-server/runs/agents.ts';
import { fakeRun } from '../cli/cli-fixture.ts';

/** Runs by id: the agent and the parent; `null` for a workflow that is no run. */
type Runs = Readonly<Record<string, readonly [agent: string, parent: string | null] | null>>;

function accessTo(runs: Runs, allow?: readonly string[]): Access {
  const attach = (id: string) =>
    fakeRun(id, {
      summary: async () => {
        const run = runs[id];
        if (run === undefined) throw unknownRun(id);
        if (run === null) throw new UsageError('not_an_agent', `No run: ${id}`);
        const [agent, parent] = run;
        return { id, agent, parent } as RunSummary;
      },
    });
  return createAccess({ attach }, allow);
}

const RUNS: Runs = {
  desk: ['desk', null],
  'desk/1.1': ['helper', 'desk'],
  'desk/1.1/2.1': ['payroll', 'desk/1.1'],
  payroll: ['payroll', null],
  'payroll/1.1': ['desk', 'payroll'],
  // A run of its own whose id looks as if it were below `desk`.
  'desk/9.9': ['payroll', null],
  'by-workflow': ['desk', 'workflow'],
  workflow: null,
  orphan: ['desk', 'gone'],
  sealed: ['(encrypted)', null],
};

describe('the access of callers', () => {
  it.each(['desk', 'desk/1.1', 'desk/1.1/2.1', 'by-workflow'])(
    'includes %s, whose tree an allowed agent has begun',
    async (id) => {
      expect((await accessTo(RUNS, ['desk']).run(id)).run.id).toBe(id);
    },
  );

  it.each(['payroll', 'payroll/1.1', 'desk/9.9', 'orphan', 'workflow', 'nothing'])(
    'excludes %s, as if there were no such run',
    async (id) => {
      await expect(accessTo(RUNS, ['desk']).run(id)).rejects.toThrow(unknownRun(id));
    },
  );

  it('looks at the run in which an item waits', async () => {
    const access = accessTo(RUNS, ['desk']);
    expect((await access.ownerOf('desk', '1.1/q1')).run.id).toBe('desk');
    await expect(access.ownerOf('desk', '9.9/q1')).rejects.toThrow(unknownRun('desk/9.9'));
  });

  it('needs the key of a run to know whose it is', async () => {
    await expect(accessTo(RUNS, ['desk']).run('sealed')).rejects.toMatchObject({
      code: 'keys_missing',
    });
  });

  it('includes every run of an agent without a list, and no other workflow', async () => {
    const access = accessTo(RUNS);
    expect((await access.run('payroll/1.1')).summary.agent).toBe('desk');
    await expect(access.run('workflow')).rejects.toMatchObject({ code: 'not_an_agent' });
    await expect(access.run('nothing')).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it('ends at parents that go round in a circle', async () => {
    const circle: Runs = { a: ['desk', 'b'], b: ['desk', 'a'] };
    await expect(accessTo(circle, ['desk']).run('a')).rejects.toThrow(unknownRun('a'));
  });
});

describe('the agents of a server', () => {
  const run = (agent: string): RunSummary => ({ agent }) as RunSummary;

  it('are those of recent runs without an agent file, read once in a while', async () => {
    let reads = 0;
    const list = async (): Promise<readonly RunSummary[]> => {
      reads += 1;
      return [run('b'), run('a'), run('b'), run('(encrypted)'), run('no name')];
    };
    const agents = createAgentList({ list }, undefined, undefined);
    expect((await agents()).map(({ name }) => name)).toEqual(['a', 'b']);
    await agents();
    expect(reads).toBe(1);
    // What is compiled of a schema is kept by the schema.
    const [first, again] = [await agents(), await agents()];
    expect(first.every(({ parameters }, place) => parameters === again[place]?.parameters)).toBe(
      true,
    );
    const allowed = createAgentList({ list }, undefined, ['b', 'c']);
    expect((await allowed()).map(({ name }) => name)).toEqual(['b', 'c']);
  });
});
