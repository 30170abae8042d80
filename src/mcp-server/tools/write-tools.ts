/** The tools that start runs, and those that send something to a run. */
import type { Json, JsonObject } from '../../core/base/json.ts';
import { defined } from '../../core/base/defined.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import type { InputKind } from '../../core/contract/events.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import type { Decision } from '../../core/contract/pending.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { StartOptions } from '../../client/everloop-client.ts';
import type { ToolParts } from './read-tools.ts';
import { parametersOf, RUN, textOf, type ServerTool } from './tool.ts';

const LIMITS: JsonObject = {
  type: 'object',
  description: 'Limits such as { "totalTokens": 200000, "costUsd": 2, "iterations": 20 }.',
};

const ITEM: JsonObject = {
  type: 'string',
  description: 'Id of the item, from pending or inbox, such as q1 or 2.1.',
};

const UPDATE_ID: JsonObject = {
  type: 'string',
  minLength: 1,
  description: 'Repeating a call with the same updateId has no effect and is no error.',
};

/** The tools, in the order in which they are listed. */
export function writeTools(parts: ToolParts): readonly ServerTool[] {
  return [
    startTool(parts),
    sendInput(parts),
    answer(parts),
    decide(parts),
    cancelRun(parts),
    adjustRun(parts),
  ];
}

/**
 * Starts a run of an agent that callers may use. Attaches to the run with `id` if there is one.
 *
 * @throws UsageError as `start`.
 */
export async function startRun(
  { everloop, access }: Pick<ToolParts, 'everloop' | 'access'>,
  agent: string,
  { id, ...options }: StartOptions,
): Promise<RunHandle> {
  access.assertAgent(agent);
  if (id === undefined) return everloop.start(agent, options);
  const run = await everloop.start(agent, { ...options, id, ifExists: 'attach' }).catch((error) => {
    if (access.allow === undefined || !isUsageError(error) || error.code !== 'id_in_use')
      throw error;
    // The error of `start` names the agent of the other run, which this caller may not know.
    throw new UsageError('id_in_use', `Expected a free run id, got \`${id}\`. Choose another id.`);
  });
  return (await access.run(run.id)).run;
}

function startTool(parts: ToolParts): ServerTool {
  return {
    name: 'start_run',
    description:
      'Starts a run of an agent and returns its id at once. Runs are durable: they go on when this ' +
      'server or its caller ends. Use wait_run for the end.',
    parameters: parametersOf(
      {
        agent: { type: 'string', description: 'Name of the agent; see list_agents.' },
        task: { type: 'string', description: 'What to do.' },
        context: { type: 'object', description: 'Further inputs by name.' },
        id: {
          type: 'string',
          minLength: 1,
          description:
            'Id for the run. A call with an id in use returns that run and starts nothing, so it can be repeated. Default: a new one.',
        },
        limits: LIMITS,
      },
      ['agent'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    writes: true,
    call: async ({ agent, task, context, id, limits }) => {
      const options = defined({ task, context, id, limits }) as unknown as StartOptions;
      const run = await startRun(parts, textOf(agent), options);
      const { state } = await run.summary();
      return { kind: 'value', value: { run: run.id, status: state } };
    },
  };
}

function sendInput({ access }: ToolParts): ServerTool {
  return {
    name: 'send_input',
    description:
      'Sends a message to a live run. queue: read in the next iteration; steer: read there before ' +
      'queued ones; interrupt: also stops what is in flight.',
    parameters: parametersOf(
      {
        run: RUN,
        text: { type: 'string', minLength: 1 },
        kind: {
          type: 'string',
          enum: ['queue', 'steer', 'interrupt'],
          description: 'Default queue.',
        },
        inputId: {
          type: 'string',
          minLength: 1,
          description: 'Repeating an id returns the first position again.',
        },
      },
      ['run', 'text'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    writes: true,
    call: async ({ run: id, text, kind, inputId }) => {
      const { run } = await access.run(textOf(id));
      const options = defined({ kind, id: inputId }) as { kind?: InputKind; id?: string };
      const position = await run.send(textOf(text), options);
      return { kind: 'value', value: { run: run.id, position } };
    },
  };
}

function answer({ access }: ToolParts): ServerTool {
  return {
    name: 'answer',
    description:
      'Answers a question of a run, with a text, an option or its number, or an object for a form; or ' +
      'ends its outside work with the result.',
    parameters: parametersOf(
      {
        run: RUN,
        id: ITEM,
        value: { description: 'The answer.' },
        updateId: UPDATE_ID,
      },
      ['run', 'id', 'value'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    writes: true,
    call: async ({ run: id, id: item, value = null, updateId }) => {
      const { run } = await access.ownerOf(textOf(id), textOf(item));
      const options = defined({ updateId }) as { updateId?: string };
      const receipt = await run.answer(textOf(item), value, options);
      return { kind: 'value', value: { run: run.id, ...receipt } };
    },
  };
}

function decide({ access }: ToolParts): ServerTool {
  return {
    name: 'decide',
    description:
      'Decides about a call that waits for approval: approve it, deny it with a reason, or approve it ' +
      'with other arguments. Give exactly one of approve, deny and args.',
    parameters: parametersOf(
      {
        run: RUN,
        id: ITEM,
        approve: { const: true },
        remember: {
          enum: ['tool', 'arguments'],
          description:
            'With approve: later calls of the tool in this run, or those with equal arguments, begin ' +
            'without being asked for.',
        },
        deny: { type: 'string', description: 'Why not; the agent reads it.' },
        args: { type: 'object', description: 'The arguments in place of those of the agent.' },
        updateId: UPDATE_ID,
      },
      ['run', 'id'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    writes: true,
    call: async ({ run: id, id: item, approve, remember, deny, args, updateId }) => {
      const decision = defined({ approve, deny, args });
      if (Object.keys(decision).length !== 1) throw unclear(Object.keys(decision));
      const { run } = await access.ownerOf(textOf(id), textOf(item));
      const receipt = await run.decide(
        textOf(item),
        { ...decision, ...defined({ remember }) } as unknown as Decision,
        defined({ updateId }) as { updateId?: string },
      );
      return { kind: 'value', value: { run: run.id, ...receipt } };
    },
  };
}

function unclear(given: readonly string[]): UsageError {
  const got = given.length === 0 ? 'none' : given.join(' and ');
  return new UsageError(
    'invalid_input',
    `Expected exactly one of \`approve\`, \`deny\` and \`args\`, got ${got}. Give one.`,
  );
}

function cancelRun({ access }: ToolParts): ServerTool {
  return {
    name: 'cancel_run',
    description:
      'Ends a run and all runs below it. It still ends with a step; force ends it at once without one, ' +
      'also when no worker can take it.',
    parameters: parametersOf(
      {
        run: RUN,
        message: { type: 'string', description: 'The reason, which the step keeps.' },
        force: { type: 'boolean', description: 'Default false.' },
      },
      ['run'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    writes: true,
    call: async ({ run: id, message, force = false }) => {
      const { run } = await access.run(textOf(id));
      await run.cancel(typeof message === 'string' ? message : undefined, {
        force: force === true,
      });
      return { kind: 'value', value: { run: run.id, canceling: true } };
    },
  };
}

function adjustRun({ access }: ToolParts): ServerTool {
  return {
    name: 'adjust_run',
    description:
      'Changes limits of a live run, with immediate effect; pauses or resumes it; ends an approval that ' +
      'holds for later calls.',
    parameters: parametersOf(
      {
        run: RUN,
        limits: LIMITS,
        paused: { type: 'boolean', description: 'True pauses before the next iteration.' },
        revoke: { type: 'string', description: 'The id of one of `approvals` of get_run.' },
      },
      ['run'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    writes: true,
    call: async ({ run: id, limits, paused, revoke }) => {
      if ([limits, paused, revoke].every((one) => one === undefined)) throw nothingToAdjust();
      const { run } = await access.run(textOf(id));
      if (revoke !== undefined) await run.revoke(textOf(revoke));
      const limited =
        limits === undefined ? undefined : await run.adjust(limits as unknown as LimitsInput);
      const set =
        paused === undefined ? undefined : await (paused === true ? run.pause() : run.resume());
      const receipt = set ?? limited;
      const now = receipt && { limits: receipt.limits as unknown as Json, paused: receipt.paused };
      return { kind: 'value', value: { run: run.id, ...now } };
    },
  };
}

function nothingToAdjust(): UsageError {
  return new UsageError(
    'invalid_input',
    'Expected `limits`, `paused` or `revoke`, got none. Give one.',
  );
}
