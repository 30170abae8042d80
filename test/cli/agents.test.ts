/** The agents of a fleet on the command line. */
import { describe, expect, it } from 'vitest';
import { mergeAgents } from '../../src/client/agents.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { servedAgents } from '../../src/worker/serve/served-agents.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { cli } from './cli-fixture.ts';

const { list } = servedAgents({ agents: peopleAgents() }, { taskQueue: 'everloop' });
const old = defineAgent({ name: 'asker', mode: 'text', model: { id: 'm', model: async () => '' } });
const fleet = mergeAgents({
  workers: [
    { ...list(), worker: '1@a' },
    { ...list(), worker: '2@a' },
    {
      ...servedAgents({ agents: [old] }, { taskQueue: 'everloop' }).list(),
      worker: '3@b',
      more: 1,
    },
  ],
  silent: ['http://127.0.0.1:1'],
});
const everloop = { agents: async () => fleet };

describe('agents', () => {
  it('lists each version of each agent, and says what is not known', async () => {
    const { stdout, exitCode } = await cli(['agents'], { everloop });

    expect(exitCode).toBe(0);
    expect(stdout.replaceAll(/ +/g, ' ')).toBe(
      [
        'AGENT QUEUE MODE MODELS TOOLS WORKERS',
        'asker everloop react n 0 2',
        'asker everloop text m 0 1',
        'clerk everloop react m 2 2',
        '',
        'asker on everloop: 2 versions, which `everloop agents NAME` shows.',
        '1 agent more: workers left them out.',
        'No answer from http://127.0.0.1:1.',
        '',
      ].join('\n'),
    );
  });

  it('shows one agent with its tools and limits, as text and as JSON', async () => {
    const text = await cli(['agents', 'clerk'], { everloop });
    const json = await cli(['agents', 'clerk', '--json'], { everloop });

    expect(text.stdout).toMatch(/^queue +everloop$/m);
    expect(text.stdout).toMatch(/^workers +1@a, 2@a$/m);
    expect(text.stdout).toMatch(/^pay +once +(always|function)/m);
    expect(JSON.parse(json.stdout)).toEqual(fleet.agents.filter(({ name }) => name === 'clerk'));
  });

  it('names the nearest agent, and says when nobody has answered', async () => {
    const wrong = await cli(['agents', 'clark'], { everloop });
    const none = await cli(['agents'], {
      everloop: { agents: async () => ({ agents: [], silent: [], more: 0 }) },
    });

    expect(wrong.exitCode).not.toBe(0);
    expect(wrong.stderr).toContain('Did you mean `clerk`?');
    expect(none.stdout).toBe('No worker has said which agents it serves.\n');
  });
});
