/** The methods `tasks/get`, `tasks/update` and `tasks/cancel`, for runs. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  fromJsonSchema,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { Access } from '../runs/access.ts';
import type { SeenRun } from '../runs/run-view.ts';
import { waitForRun } from '../runs/wait-for-run.ts';
import { replyOf } from './task-input.ts';
import { taskOf, TASKS_EXTENSION } from './run-task.ts';

/** What the methods need. */
export interface TaskMethods {
  readonly access: Access;
  readonly readOnly: boolean;
  /** Runs one request within the bounds of the server. */
  readonly bounded: <Result>(
    work: () => Promise<Result>,
    context: ServerContext,
  ) => Promise<Result>;
}

/** What the request's own capabilities say; those of another request do not count. */
function capabilitiesOf({ mcpReq }: ServerContext): ClientCapabilities {
  const envelope = mcpReq.envelope as { readonly [key: string]: unknown } | undefined;
  return (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
}

/** Whether the client of this very request takes tasks. */
export function takesTasks(context: ServerContext): boolean {
  const { extensions } = capabilitiesOf(context);
  return extensions !== undefined && Object.hasOwn(extensions, TASKS_EXTENSION);
}

const TASK = { taskId: { type: 'string', minLength: 1 } };

const TASK_PARAMS = fromJsonSchema<{ readonly taskId: string }>({
  type: 'object',
  properties: TASK,
  required: ['taskId'],
});

/** Installs the methods on the server of one connection or request. */
export function addTaskMethods(server: Server, methods: TaskMethods): void {
  const { access, readOnly, bounded } = methods;
  const answered = <Result>(
    context: ServerContext,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    assertTakesTasks(context);
    return asProtocol(() => bounded(work, context));
  };
  server.setRequestHandler('tasks/get', { params: TASK_PARAMS }, ({ taskId }, context) =>
    answered(context, () => getTask(methods, taskId, context)),
  );
  server.setRequestHandler('tasks/update', { params: TASK_PARAMS }, ({ taskId }, context) =>
    answered(context, async () => {
      if (readOnly) throw refusedWrite();
      const { run } = await access.run(taskId);
      await update(run, access, context);
      return {};
    }),
  );
  server.setRequestHandler('tasks/cancel', { params: TASK_PARAMS }, ({ taskId }, context) =>
    answered(context, async () => {
      if (readOnly) throw refusedWrite();
      await cancel((await access.run(taskId)).run);
      return {};
    }),
  );
}

async function getTask(
  { access, readOnly }: TaskMethods,
  taskId: string,
  context: ServerContext,
): Promise<{ readonly [field: string]: unknown }> {
  const { run, summary } = await access.run(taskId);
  const view = await viewOf(run, context);
  const opensPages = capabilitiesOf(context).elicitation?.url !== undefined;
  return { ...taskOf({ summary, view, opensPages, takesAnswers: !readOnly, now: Date.now() }) };
}

/** Undefined: no worker answers now, so the run waits and its task goes on. */
async function viewOf(run: RunHandle, { mcpReq }: ServerContext): Promise<SeenRun | undefined> {
  try {
    return await waitForRun(run, { waitMs: 0, signal: mcpReq.signal });
  } catch (error) {
    if (!isUsageError(error) || error.code !== 'no_worker') throw error;
    return undefined;
  }
}

/** Responses in one request at most. */
const MAX_RESPONSES = 100;

/**
 * Answers the items that still wait. Other keys were answered before, perhaps by another client.
 * The SDK keeps the responses in the context of the request.
 */
async function update(run: RunHandle, access: Access, { mcpReq }: ServerContext): Promise<void> {
  const pending = await run.pending();
  const responses = Object.entries(mcpReq.inputResponses ?? {});
  for (const [id, response] of responses.slice(0, MAX_RESPONSES)) {
    const item = pending.find((one) => one.id === id);
    if (item === undefined) continue;
    const reply = replyOf(item, response);
    await access.ownerOf(run.id, id);
    const updateId = `mcp-task/${item.kind}/${id}`;
    if (reply.kind === 'answer') await run.answer(id, reply.value, { updateId });
    if (reply.kind === 'decision') await run.decide(id, reply.decision, { updateId });
  }
}

/** A task that has ended stays as it is. */
async function cancel(run: RunHandle): Promise<void> {
  try {
    await run.cancel();
  } catch (error) {
    if (!isUsageError(error) || error.code !== 'run_ended') throw error;
  }
}

function assertTakesTasks(context: ServerContext): void {
  if (takesTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

/** A usage error as an error of the protocol: a task has no other way to report one. */
async function asProtocol<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isUsageError(error)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  }
}

function refusedWrite(): UsageError {
  return new UsageError(
    'invalid_input',
    'Expected a request that only reads, because the server is read-only, got one that changes a run. Answer and cancel elsewhere.',
  );
}
