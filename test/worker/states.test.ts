/** Moments whose history the service has forgotten: what the archive has, and what is said. */
import {
  defaultPayloadConverter,
  WorkflowNotFoundError,
  type LoadedDataConverter,
} from '@temporalio/common';
import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { RunState } from '../../src/core/run/run-state.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { createStateSource } from '../../src/worker/states/state-source.ts';
import { act, answer, searchTool } from '../support/runs.ts';

/** The states at the boundaries of a run, as hand-overs have them. */
async function states(): Promise<readonly RunState[]> {
  const seen: RunState[] = [];
  const { model } = scriptedModel([act('a'), act('b'), answer()]);
  const agent = defineAgent({
    name: 'clerk',
    mode: 'react',
    tools: [searchTool()],
    model: { id: 'm', model },
  });
  const run = startInMemory({
    agent,
    task: 'Go',
    handoverDue: (iteration) => iteration > 0,
    onEvent: ({ type }, { state }) => {
      if (type === 'agent:execution:handover') seen.push(state);
    },
  });
  await run.result;
  return seen;
}

/** A service that has the last link of a run only; it began with `state`. */
function serviceWith(state: RunState): Client {
  const payloads = [defaultPayloadConverter.toPayload({ v: 1, kind: 'handover', state })];
  const started = { firstExecutionRunId: 'e1', continuedExecutionRunId: 'e2', input: { payloads } };
  const history = { events: [{ workflowExecutionStartedEventAttributes: started }] };
  const loadedDataConverter = {
    payloadConverter: defaultPayloadConverter,
    payloadCodecs: [],
  } as unknown as LoadedDataConverter;
  return {
    options: { loadedDataConverter, namespace: 'default' },
    workflow: {
      getHandle: () => ({
        describe: async () => ({ type: 'agent', runId: 'e3', closeTime: new Date(), raw: {} }),
      }),
    },
    workflowService: {
      getWorkflowExecutionHistory: async (asked: {
        readonly execution: { readonly workflowId: string; readonly runId: string };
      }) => {
        const { workflowId, runId } = asked.execution;
        if (runId === 'e3') return { history };
        throw new WorkflowNotFoundError('gone', workflowId, runId);
      },
    },
  } as unknown as Client;
}

it('a moment of a forgotten link is one that a link handed over, from the archive', async () => {
  const [first, second] = await states();
  if (first === undefined || second === undefined) throw new Error('Expected two hand-overs.');
  const source = createStateSource({
    client: serviceWith(second),
    replayer: { replay: () => Promise.reject(new Error('unused')), close: () => Promise.resolve() },
    workflows: undefined,
    archive: {
      read: async (runId) => (runId === 'e1' ? [first, second] : []),
      history: async () => null,
    },
  });
  const { signal } = new AbortController();
  const at = (iteration: number, withCalls: boolean) =>
    source.at({ workflowId: 'clerk-7' }, { iteration }, { withCalls, signal });

  expect((await at(2, false)).state).toEqual(first);
  await expect(at(2, true)).rejects.toMatchObject({
    code: 'history_gone',
    message:
      'Expected the history of link 2 of run `clerk-7`, got none: the service has forgotten it. The earliest moment is iteration 3.',
  });
  await expect(at(1, false)).rejects.toMatchObject({
    message:
      'Expected the history of link 2 of run `clerk-7`, got none: the service has forgotten it. The earliest are iterations 2, 3.',
  });
});
