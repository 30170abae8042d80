import type { Client } from '@temporalio/client';
import {
  defaultFailureConverter,
  defaultPayloadConverter,
  type LoadedDataConverter,
} from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { readStartedWith, type RunStart } from '../../src/client/run-tree.ts';

/** The first event of an execution. */
interface FirstEvent {
  readonly type?: string;
  readonly payload: unknown;
}

/** A client of one chain, whose last link is `last` and whose first one is `first`. */
function clientOf(links: { readonly [runId: string]: FirstEvent }): Client {
  const loadedDataConverter: LoadedDataConverter = {
    payloadConverter: defaultPayloadConverter,
    failureConverter: defaultFailureConverter,
    payloadCodecs: [],
  };
  const workflowService = {
    getWorkflowExecutionHistory: async (request: { execution: { runId: string } }) => {
      const found = links[request.execution.runId];
      if (found === undefined) throw new Error('Forgotten.');
      const { type = 'agent', payload } = found;
      const workflowExecutionStartedEventAttributes = {
        workflowType: { name: type },
        firstExecutionRunId: 'first',
        input: { payloads: [defaultPayloadConverter.toPayload(payload)] },
      };
      return { history: { events: [{ workflowExecutionStartedEventAttributes }] } };
    },
  };
  const newest = 'last' in links ? 'last' : 'first';
  return {
    options: { namespace: 'default', loadedDataConverter },
    connection: { workflowService },
    workflow: {
      getHandle: () => ({
        describe: async () => ({ type: 'agent', memo: { agent: 'clerk' }, runId: newest }),
      }),
    },
  } as unknown as Client;
}

const START: RunStart = {
  agent: 'clerk',
  task: { text: 'Go' },
  context: { vip: true },
  history: [{ role: 'user', text: 'Hello' }],
};
const HANDED_OVER = {
  v: 1,
  kind: 'handover',
  state: {
    head: {
      spec: { name: 'clerk' },
      task: { text: 'Go, please' },
      history: [{ role: 'user', text: 'Hello' }],
    },
  },
};

describe('what a run was started with', () => {
  it.each<{ name: string; links: { readonly [runId: string]: FirstEvent }; start: RunStart }>([
    { name: 'a single link', links: { first: { payload: START } }, start: START },
    {
      name: 'a chain, by its first link',
      links: { first: { payload: START }, last: { payload: HANDED_OVER } },
      start: START,
    },
    {
      name: 'a chain whose first link is forgotten, by what was handed over',
      links: { last: { payload: HANDED_OVER } },
      start: {
        agent: 'clerk',
        task: { text: 'Go, please' },
        history: [{ role: 'user', text: 'Hello' }],
      },
    },
  ])('is read from $name', async ({ links, start }) => {
    expect(await readStartedWith(clientOf(links), 'r')).toEqual(start);
  });

  it.each<{ name: string; first: FirstEvent }>([
    { name: 'another workflow', first: { type: 'invoice', payload: START } },
    { name: 'an input that is none', first: { payload: 7 } },
  ])('refuses $name', async ({ first }) => {
    await expect(readStartedWith(clientOf({ first }), 'r')).rejects.toMatchObject({
      code: 'not_an_agent',
      message: "Expected `r` to be an agent's run, got another workflow.",
    });
  });
});
