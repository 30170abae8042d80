import {
  isCreateTaskResultV2,
  isDetailedTaskV2,
  InputResponsesV2Schema,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { PendingItem, RunStatus } from '../../src/core/contract/messages.ts';
import type { RunSummary } from '../../src/client/run-list.ts';
import type { SeenRun } from '../../src/mcp-server/runs/run-view.ts';
import { createdTask, taskOf, type TaskParts } from '../../src/mcp-server/tasks/run-task.ts';
import { replyOf } from '../../src/mcp-server/tasks/task-input.ts';
import { STEP } from '../cli/cli-fixture.ts';

const SUMMARY: RunSummary = {
  id: 'clerk-7',
  agent: 'clerk',
  task: 'Pay',
  status: 'RUNNING',
  state: 'running',
  parent: null,
  root: 'r1',
  startedAt: new Date('2026-03-10T09:00:00Z'),
  closedAt: null,
};
const NOW = Date.parse('2026-03-10T09:01:00Z');
const STATUS: RunStatus = {
  version: 3,
  state: 'running',
  runId: 'execution-1',
  agent: 'clerk',
  iteration: 2,
  waitsFor: ['model gpt-5'],
  usage: STEP.usage,
  unreadInputs: 0,
  link: 1,
  events: 3,
  entries: 1,
};
const BASE = { agent: 'clerk', path: 'clerk', since: 0 };
const question = (parts: object = {}): PendingItem =>
  ({
    ...BASE,
    id: 'q1',
    kind: 'question',
    question: 'Which?',
    free: false,
    ...parts,
  }) as PendingItem;
const APPROVAL: PendingItem = {
  ...BASE,
  id: '1.2/2.1',
  kind: 'approval',
  tool: 'pay',
  args: { amount: 50 },
  reasoning: 'It is due.',
};
const EXTERNAL: PendingItem = { ...BASE, id: '2.2', kind: 'external', tool: 'build', args: {} };
const FORM: JsonObject = {
  type: 'object',
  properties: { env: { type: 'string', enum: ['staging', 'production'] } },
  required: ['env'],
};
const SERVERS = question({ details: { server: 'ops', tool: 'deploy', form: FORM } });
const PAGE = question({ details: { server: 'ops', tool: 'deploy', url: 'https://ops/7' } });

const live = (...pending: readonly PendingItem[]): SeenRun => ({
  kind: 'live',
  status: STATUS,
  pending,
});

/** The task of a run as its guard accepts it. */
function task(view: SeenRun | undefined, parts: Partial<TaskParts> = {}): JsonObject {
  const made = taskOf({
    summary: SUMMARY,
    view,
    opensPages: true,
    takesAnswers: true,
    now: NOW,
    ...parts,
  });
  expect(isDetailedTaskV2(made)).toBe(true);
  return made as unknown as JsonObject;
}

describe('a run as a task', () => {
  it('is created under the id of the run', () => {
    const created = createdTask(SUMMARY, NOW);
    expect(isCreateTaskResultV2(created)).toBe(true);
    expect(created).toEqual({
      resultType: 'task',
      content: [],
      taskId: 'clerk-7',
      status: 'working',
      createdAt: '2026-03-10T09:00:00.000Z',
      lastUpdatedAt: '2026-03-10T09:01:00.000Z',
      ttlMs: null,
      pollIntervalMs: 1_000,
    });
  });

  it('works while nothing waits for a person', () => {
    expect(task(live())).toMatchObject({ status: 'working', statusMessage: 'model gpt-5' });
    // What does outside work ends it, and no person.
    expect(task(live(EXTERNAL))).toMatchObject({ status: 'working' });
    expect(task(undefined)).toMatchObject({ statusMessage: expect.stringContaining('No worker') });
    expect(task(live(APPROVAL), { takesAnswers: false })).toMatchObject({ status: 'working' });
  });

  it('asks for all that waits in its tree, each under the id of the item', () => {
    const made = task(live(question({ options: ['a', 'b'] }), APPROVAL, EXTERNAL));
    expect(made).toMatchObject({
      status: 'input_required',
      inputRequests: {
        q1: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'Which?',
            requestedSchema: { properties: { answer: { enum: ['a', 'b'] } }, required: ['answer'] },
          },
        },
        '1.2/2.1': {
          params: {
            message: 'Allow pay {"amount":50}?\nIt is due.',
            requestedSchema: { properties: { decision: { enum: ['approve', 'deny'] } } },
          },
        },
      },
    });
    expect(Object.keys(made['inputRequests'] as object)).toHaveLength(2);
    expect(task(live(question({ options: ['a'], free: true })))).toMatchObject({
      inputRequests: {
        q1: {
          params: {
            requestedSchema: {
              properties: {
                answer: { type: 'string', description: 'One of 1 a, or any other text.' },
              },
            },
          },
        },
      },
    });
  });

  it("passes on a server's form, and its page to clients that open pages", () => {
    expect(task(live(SERVERS))).toMatchObject({
      inputRequests: { q1: { params: { requestedSchema: FORM } } },
    });
    expect(task(live(PAGE))).toMatchObject({
      inputRequests: { q1: { params: { mode: 'url', url: 'https://ops/7' } } },
    });
    expect(task(live(PAGE), { opensPages: false })).toMatchObject({
      inputRequests: {
        q1: { params: { mode: 'form', message: expect.stringContaining('https://ops/7') } },
      },
    });
  });

  it('asks for one value that a tool wants in a field of its own', () => {
    const form = { type: 'number', minimum: 1 };
    const item = question({ details: { tool: 'pay', form } });
    const schema = { type: 'object', properties: { answer: form }, required: ['answer'] };
    expect(task(live(item))).toMatchObject({
      inputRequests: { q1: { params: { requestedSchema: schema } } },
    });
    expect(replyOf(item, { action: 'accept', content: { answer: 3 } })).toEqual({
      kind: 'answer',
      value: 3,
    });
    expect(replyOf(item, { action: 'decline' })).toEqual({
      kind: 'answer',
      value: { decline: true },
    });
  });

  it('bounds what it asks', () => {
    const args = { text: 'x'.repeat(1_000_000) };
    const made = task(live({ ...APPROVAL, args } as PendingItem));
    expect(JSON.stringify(made).length).toBeLessThan(10_000);
  });

  it('is completed by every end but a cancel', () => {
    const closedAt = new Date('2026-03-10T10:00:00Z');
    const summary = { ...SUMMARY, closedAt };
    expect(task({ kind: 'ended', step: STEP }, { summary })).toMatchObject({
      status: 'completed',
      lastUpdatedAt: closedAt.toISOString(),
      result: {
        resultType: 'complete',
        isError: false,
        structuredContent: { run: 'clerk-7', step: { status: 'success', value: 'Vienna.' } },
      },
    });
    const failed = { ...STEP, status: 'limit_exceeded', value: null } as const;
    expect(task({ kind: 'ended', step: failed })).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { step: { status: 'limit_exceeded' } } },
    });
    expect(task({ kind: 'lost', message: 'It was terminated.' })).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { message: 'It was terminated.' } },
    });
    const canceled = { ...STEP, status: 'canceled', message: 'enough' } as const;
    expect(task({ kind: 'ended', step: canceled })).toMatchObject({
      status: 'cancelled',
      statusMessage: 'enough',
    });
  });
});

describe('the response of a client', () => {
  const accept = (content: JsonObject): object => ({ action: 'accept', content });

  it.each([
    [question({ options: ['a'] }), accept({ answer: 'a' }), { kind: 'answer', value: 'a' }],
    [
      question(),
      { action: 'decline' },
      { kind: 'answer', value: 'The person declined to answer.' },
    ],
    [question(), { action: 'cancel' }, { kind: 'nothing' }],
    [SERVERS, accept({ env: 'staging' }), { kind: 'answer', value: { env: 'staging' } }],
    [SERVERS, { action: 'decline' }, { kind: 'answer', value: { decline: true } }],
    [PAGE, accept({}), { kind: 'answer', value: true }],
    [APPROVAL, accept({ decision: 'approve' }), { kind: 'decision', decision: { approve: true } }],
    [
      APPROVAL,
      accept({ decision: 'deny', reason: 'late' }),
      { kind: 'decision', decision: { deny: 'late' } },
    ],
    [
      APPROVAL,
      { action: 'decline' },
      { kind: 'decision', decision: { deny: 'The person said no.' } },
    ],
    [EXTERNAL, accept({ answer: 'x' }), { kind: 'nothing' }],
  ])('is an answer or a decision', (item, response, reply) => {
    expect(InputResponsesV2Schema.safeParse({ [item.id]: response }).success).toBe(true);
    expect(replyOf(item, response)).toEqual(reply);
  });

  it.each([null, 'yes', {}, { action: 'ok' }, { action: 'accept', content: { decision: 'ok' } }])(
    'is refused if it is none: %j',
    (response) => {
      expect(() => replyOf(APPROVAL, response)).toThrow(/in the response to `1\.2\/2\.1`/);
    },
  );

  it('cannot refuse a choice without other answers', () => {
    expect(() => replyOf(question({ options: ['a'] }), { action: 'decline' })).toThrow(
      /Choose one, or cancel the task/,
    );
  });
});
