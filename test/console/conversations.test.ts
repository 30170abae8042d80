import { describe, expect, it } from 'vitest';
import type { ActionAnswer } from '../../src/console/api-actions.ts';
import { passing } from '../support/passing.ts';
import { worker } from '../support/tree-agents.ts';
import { consoleStage } from './console-stage.ts';

describe('a conversation at the console', () => {
  it('begins a turn for each message, once for each requestId, and logs no words', async () => {
    const stage = consoleStage([worker(1)]);
    const say = async (requestId: string, text: string): Promise<ActionAnswer> => {
      const body = { requestId, agent: 'worker', text };
      const answer = await stage.post('/api/v1/conversations/guest-42/say', body);
      expect(answer.status).toBe(200);
      return answer.body as ActionAnswer;
    };
    const first = await say('request-1', 'Hello.');
    expect(first).toMatchObject({ run: 'guest-42-1', how: 'started' });
    expect(await say('request-1', 'Hello.')).toEqual(first);
    await passing(async () => {
      const { body } = await stage.ask('/api/v1/runs/guest-42-1');
      expect(body).toMatchObject({ run: { state: 'ended' } });
    });

    expect(await say('request-2', 'And now?')).toMatchObject({ run: 'guest-42-2' });
    expect(stage.everloop.started).toHaveLength(2);
    expect(stage.everloop.started[1]).toMatchObject({ conversation: 'guest-42' });
    expect(stage.lines.map(({ action, run }) => [action, run])).toEqual([
      ['say', 'guest-42-1'],
      ['say', 'guest-42-2'],
    ]);
    expect(JSON.stringify(stage.lines)).not.toContain('And now');
  });
});
