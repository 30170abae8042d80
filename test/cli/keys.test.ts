import { describe, expect, it } from 'vitest';
import { keysOfEnvironment } from '../../src/protection/keys-of-environment.ts';
import { cli } from './cli-fixture.ts';

describe('everloop keys new', () => {
  it('prints a key that the environment takes, another one each time', async () => {
    const made = [await cli(['keys', 'new']), await cli(['keys', 'new', 'acme'])];
    const problems: string[] = [];
    const ids = made.map(({ stdout }) => {
      const env = { EVERLOOP_KEYS: stdout.trim() };
      return keysOfEnvironment(env, (problem) => problems.push(problem))?.ids;
    });

    expect(problems).toEqual([]);
    expect(ids).toEqual([[expect.stringMatching(/^k\d{4}-\d\d$/)], ['acme']]);
    expect(made[0]?.stdout.split('=')[1]).not.toBe(made[1]?.stdout.split('=')[1]);
  });

  it('refuses an id that cannot stand in a list', async () => {
    const { exitCode, stderr } = await cli(['keys', 'new', 'a,b']);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('Expected the id of a key to be 1 to 128 letters');
  });
});
