/** Each agent as a tool: a call starts a run and waits for its end, as long as a call may take. */
import { createHash } from 'node:crypto';
import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { defined } from '../../core/base/defined.ts';
import { isJsonObject, type JsonObject } from '../../core/base/json.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { StartOptions } from '../../client/everloop-client.ts';
import type { AgentEffect, ServedAgent } from '../runs/agents.ts';
import { forPeople, viewValue, type SeenRun } from '../runs/run-view.ts';
import { MAX_WAIT_MS } from '../runs/wait-for-run.ts';
import type { ToolParts } from './read-tools.ts';
import type { ServerTool, ToolAnswer } from './tool.ts';
import { startRun } from './write-tools.ts';

const ANNOTATIONS: Readonly<Record<AgentEffect, ToolAnnotations>> = {
  read: { readOnlyHint: true },
  idempotent: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  once: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
};

/** The tool of an agent. */
export function agentToolOf(parts: ToolParts, agent: ServedAgent, effect: AgentEffect): ServerTool {
  return {
    name: agent.name,
    description: agent.description ?? `Runs the agent ${agent.name}.`,
    parameters: agent.parameters,
    annotations: ANNOTATIONS[effect],
    writes: true,
    call: async (args, call) => {
      const options = { ...startOf(args), ...defined({ id: idOf(agent.name, call) }) };
      const run = await startRun(parts, agent.name, options);
      if (call.takesTask) return { kind: 'task', run };
      return answerOf(run, await parts.waits.wait(run, MAX_WAIT_MS, call));
    },
  };
}

/** As when another agent calls it: `task` is the task, everything else the context. */
function startOf(args: JsonObject): StartOptions {
  const { task, ...context } = args;
  return typeof task === 'string' ? { task, context } : { task: '', context: args };
}

/** Equal for each repetition of a call, so that it starts one run. */
function idOf(
  agent: string,
  { idempotencyKey }: { readonly idempotencyKey?: string },
): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  return `${agent}-${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 32)}`;
}

function answerOf(run: RunHandle, view: SeenRun): ToolAnswer {
  const value = viewValue(run.id, view);
  if (view.kind === 'live') {
    return { kind: 'value', value: { ...value, next: nextText(run.id, view) } };
  }
  const { step } = value;
  const isSuccess = isJsonObject(step) && step['status'] === 'success';
  return { kind: 'value', value, isError: !isSuccess };
}

function nextText(id: string, { pending }: Extract<SeenRun, { kind: 'live' }>): string {
  const [item] = forPeople(pending);
  if (item === undefined) return `Still running. Call wait_run with run "${id}".`;
  const tool =
    item.kind === 'approval' ? 'decide' : item.kind === 'pause' ? 'adjust_run' : 'answer';
  return `Waits for a person. Call ${tool} with run "${id}", then wait_run.`;
}
