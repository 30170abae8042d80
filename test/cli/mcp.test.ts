import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli } from './cli-fixture.ts';

const AGENTS = fileURLToPath(new URL('../support/fixtures/mcp/mcp-agents.ts', import.meta.url));
const UNPINNED = fileURLToPath(
  new URL('../support/fixtures/mcp/unpinned-agents.ts', import.meta.url),
);
const TOOLS = join(mkdtempSync(join(tmpdir(), 'everloop-mcp-')), 'tools.json');

describe('mcp', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'everloop-mcp-'));
    process.env['WILD_TOOLS'] = TOOLS;
  });
  afterEach(() => {
    delete process.env['WILD_TOOLS'];
  });

  const mcp = (...args: readonly string[]) => cli(['mcp', ...args, '--agents', AGENTS], { cwd });
  const json = (...args: readonly string[]) => mcp(...args, '--json');

  it('ls shows the tools of a server, and why others are left out', async () => {
    const { exitCode, stdout } = await mcp('ls');
    const listed = await json('ls', 'wild');

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^wild\nTOOL +EFFECT +APPROVAL +HASH/);
    expect(stdout).toMatch(/wild_act +once +always +[\da-f]{16}\n/);
    expect(stdout).toMatch(/hang +\w+ +- +[\da-f]{16} +out: `tools.allow` does not name it\n/);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { server: 'wild', identity: 'wild', tools: [{ tool: 'act', approval: 'always' }, {}, {}] },
    ]);
    const [{ leftOut }] = JSON.parse(listed.stdout) as [{ leftOut: object[] }];
    expect(leftOut).toContainEqual({
      tool: 'hang',
      effect: expect.any(String) as string,
      hash: expect.stringMatching(/^[\da-f]{16}$/) as string,
      reason: '`tools.allow` does not name it',
    });
  });

  it('call calls a tool, and fails with its words', async () => {
    const echoed = await mcp('call', 'wild', 'echo', '--args', '{"text":"hello"}');
    const asJson = await json('call', 'wild', 'echo', '--args', '{"text":"hello"}');
    const unfit = await mcp('call', 'wild', 'echo', '--args', '{"text":[]}');
    const unknown = await mcp('call', 'wild', 'ecko');

    expect(echoed).toMatchObject({ exitCode: 0, stdout: 'hello\n' });
    expect(JSON.parse(asJson.stdout)).toEqual({ output: 'hello' });
    expect(unfit).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('the arguments do not fit') as string,
    });
    expect(unknown).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Did you mean `echo`?') as string,
    });
  });

  it('lock pins the tools, and check finds what differs', async () => {
    const before = await mcp('check');
    const locked = await mcp('lock');
    const file = JSON.parse(readFileSync(join(cwd, 'lock.json'), 'utf8')) as object;
    const same = await mcp('check');
    writeFileSync(
      TOOLS,
      JSON.stringify([
        { name: 'echo', description: 'Other words.', inputSchema: { type: 'object' } },
        { name: 'new_one', inputSchema: { type: 'object' } },
      ]),
    );
    const changed = await mcp('check', 'wild');
    const asJson = await json('check');
    const listed = await mcp('ls');

    expect(before).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Write it with `everloop mcp lock`.') as string,
    });
    expect(locked.exitCode).toBe(0);
    expect(file).toMatchObject({
      v: 1,
      servers: { wild: { identity: 'wild', tools: { act: { effect: 'once' }, echo: {} } } },
    });
    expect(same).toMatchObject({ exitCode: 0, stdout: 'No difference.\n' });
    expect(changed).toMatchObject({
      exitCode: 1,
      stdout: [
        'wild act: is gone',
        'wild echo: has other words or arguments',
        'wild new_one: is new',
        'wild read_and_die: is gone',
        'Look at them, then run `everloop mcp lock`.',
        '',
      ].join('\n'),
    });
    expect(JSON.parse(asJson.stdout)).toContainEqual({
      server: 'wild',
      tool: 'echo',
      kind: 'changed',
    });
    expect(listed.stdout).toMatch(/echo .* out: it has changed\n/);
  });

  it('lock keeps a lock file that it cannot read', async () => {
    const file = join(cwd, 'everloop-mcp.lock.json');
    writeFileSync(file, '{"v":1,"servers":{"other"');
    const { exitCode, stderr } = await cli(['mcp', 'lock', '--agents', UNPINNED], { cwd });

    expect(exitCode).toBe(2);
    expect(stderr).toContain('Repair it, or remove it and run `everloop mcp lock`.');
    expect(readFileSync(file, 'utf8')).toBe('{"v":1,"servers":{"other"');
  });

  it('names the servers of the file when there is none of the name', async () => {
    expect(await mcp('ls', 'wold')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'Expected a server of the file (wild), got `wold`. Did you mean `wild`?',
      ) as string,
    });
  });
});
