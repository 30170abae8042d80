import { describe, expect, it } from 'vitest';
import { PassThrough } from 'node:stream';
import { cli } from './cli-fixture.ts';

const STDIO = { openStdio: () => ({ stdin: new PassThrough(), stdout: new PassThrough() }) };

describe('everloop mcp serve', () => {
  it.each([
    [
      ['--http', '7245'],
      {},
      'Expected `--http` to be HOST:PORT such as 127.0.0.1:7246, got `7245`. Correct it.',
    ],
    [
      ['--allow', 'desk,,clerk'],
      {},
      'Expected `--allow` to be names separated by commas, got `desk,,clerk`. Write it as `--allow one,two`.',
    ],
    [
      ['--http', '0.0.0.0:0'],
      {},
      'Expected a token for a server at `0.0.0.0`, which other machines reach, got none. Set EVERLOOP_MCP_TOKEN.',
    ],
    [
      ['--http'],
      { EVERLOOP_MCP_TOKEN: 'short' },
      'Expected `EVERLOOP_MCP_TOKEN` to have at least 16 characters, got 5. Take a longer one.',
    ],
    [
      ['--agents', 'gone.ts'],
      {},
      'Expected an agent file at `gone.ts`, got none. Create it, or name one with `--agents FILE`.',
    ],
  ])('says what is wrong: %j', async (argv, env, message) => {
    const { exitCode, stdout, stderr } = await cli(['mcp', 'serve', ...argv], {
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1', ...env },
      io: STDIO,
    });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `${message}\n`,
    });
  });

  it('ends with its client, and leaves stdout to the protocol', async () => {
    const { stdin, stdout } = STDIO.openStdio();
    stdin.end();
    const ended = await cli(['mcp', 'serve'], { io: { openStdio: () => ({ stdin, stdout }) } });
    expect(ended).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(stdout.read()).toBeNull();
  });
});
