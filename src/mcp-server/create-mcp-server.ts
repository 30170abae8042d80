/**
 * Everloop as a server of the Model Context Protocol. It is a client of the service and keeps nothing,
 * so any number of processes can serve the same runs.
 *
 * I1  Tools are made once. The SDK needs a server for each request over HTTP; all share the tools.
 * I2  Every call ends: by its own end, its caller, the stop of the process, or its deadline.
 */
import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { VERSION } from '../core/base/version.ts';
import type { JsonObject } from '../core/base/json.ts';
import { defined } from '../core/base/defined.ts';
import { shown } from '../core/text/shown.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import type { Everloop } from '../client/everloop-client.ts';
import { createAccess } from './runs/access.ts';
import { createAgentList, type AgentEffect, type ServedAgent } from './runs/agents.ts';
import { addTaskMethods, takesTasks } from './tasks/task-methods.ts';
import { createdTask, TASKS_EXTENSION } from './tasks/run-task.ts';
import { agentToolOf } from './tools/agent-tools.ts';
import { readTools, type ToolParts } from './tools/read-tools.ts';
import { assertFits, failureOf, resultOf, type ServerTool, type ServedCall } from './tools/tool.ts';
import { createWaits } from './tools/waits.ts';
import { writeTools } from './tools/write-tools.ts';

/** What a server is made of. */
export interface McpServerParts {
  readonly everloop: Pick<Everloop, 'start' | 'attach' | 'list' | 'inbox'>;
  /** The agents of an agent file; default: those of recent runs. */
  readonly agents?: readonly ServedAgent[];
  /** Names of the agents whose runs callers may reach; default: all. */
  readonly allow?: readonly string[];
  /** True: nothing can be started or changed. Default false. */
  readonly readOnly?: boolean;
  /** True: each agent is a tool. Default false. */
  readonly exposeAgents?: boolean;
  /** What calls of agents do, as hosts are told. Default `once`. */
  readonly agentEffect?: AgentEffect;
  /** Ends every call when the process stops. */
  readonly signal: AbortSignal;
  /** Where unexpected errors go. */
  readonly log: (message: string) => void;
}

/** Bytes of one message of a client: the largest start without a blob store, and room. */
export const MAX_REQUEST_BYTES = 4_194_304;

/** Calls at once in one process; more are refused. */
const MAX_CALLS = 256;

/** Milliseconds of a call: a little more than a wait, and less than clients give it. */
const CALL_DEADLINE_MS = 55_000;

/** Characters of a key that names a call. */
const MAX_KEY = 1_000;

/** Where other runs of Everloop put the name of a call. */
const IDEMPOTENCY_KEY = 'io.everloop/idempotency-key';

const INSTRUCTIONS =
  'Starts and steers durable runs of agents. Start a run with start_run, then call wait_run until its ' +
  'status is ended. When something is pending, ask the user, then call answer or decide.';

/**
 * Makes servers for connections or requests: a factory as the SDK's `serveStdio` and
 * `createMcpHandler` take it.
 *
 * @throws UsageError `duplicate_tool` for an exposed agent that has the name of a tool.
 */
export function createMcpServer(options: McpServerParts): () => McpServer {
  const { everloop, allow, readOnly = false, signal, log } = options;
  const access = createAccess(everloop, allow);
  const agents = createAgentList(everloop, options.agents, allow);
  const parts: ToolParts = { everloop, access, agents, waits: createWaits() };
  const own = [...readTools(parts), ...writeTools(parts)];
  const tools = toolsOf(options, parts, own);
  const bounded = createBounds(signal);
  return () => {
    const mcp = new McpServer(
      { name: 'everloop', version: VERSION },
      {
        capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
        instructions: INSTRUCTIONS,
      },
    );
    const { server } = mcp;
    server.onerror = (error) => log(error.message);
    server.setRequestHandler('tools/list', (_request, context) =>
      bounded(async () => ({ tools: (await tools()).map(listedTool) }), context),
    );
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const call = async (ended: AbortSignal): Promise<CallToolResult> => {
        const tool = (await tools()).find(({ name }) => name === params.name);
        if (tool === undefined) throw unknownTool(params.name);
        const args = (params.arguments ?? {}) as JsonObject;
        return callTool(tool, args, callOf(context, ended, log));
      };
      try {
        return await bounded(call, context);
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        if (!isUsageError(error)) log(`${shown(params.name)}: ${String(error)}`);
        return failureOf(error);
      }
    });
    addTaskMethods(server, { access, readOnly, bounded });
    return mcp;
  };
}

/** The tools that there are now. */
function toolsOf(
  { readOnly = false, exposeAgents = false, agentEffect = 'once', agents }: McpServerParts,
  parts: ToolParts,
  own: readonly ServerTool[],
): () => Promise<readonly ServerTool[]> {
  const offered = own.filter(({ writes }) => !readOnly || !writes);
  if (!exposeAgents || readOnly) return () => Promise.resolve(offered);
  const taken = new Set(own.map(({ name }) => name));
  for (const { name } of agents ?? []) if (taken.has(name)) throw takenName(name);
  return async () => [
    ...offered,
    ...(await parts.agents())
      .filter(({ name }) => !taken.has(name))
      .map((agent) => agentToolOf(parts, agent, agentEffect)),
  ];
}

async function callTool(
  tool: ServerTool,
  args: JsonObject,
  call: ServedCall,
): Promise<CallToolResult> {
  assertFits(tool, args);
  const answer = await tool.call(args, call);
  if (answer.kind === 'value') return resultOf(answer.value, answer.isError === true);
  const task = createdTask(await answer.run.summary(), Date.now());
  return task as unknown as CallToolResult;
}

function listedTool({ name, description, parameters, annotations }: ServerTool): Tool {
  return { name, description, inputSchema: parameters as Tool['inputSchema'], annotations };
}

function callOf(
  context: ServerContext,
  signal: AbortSignal,
  log: (text: string) => void,
): ServedCall {
  const { _meta: meta = {}, notify } = context.mcpReq;
  const { progressToken, [IDEMPOTENCY_KEY]: key } = meta;
  const isKey = typeof key === 'string' && key !== '' && key.length <= MAX_KEY;
  return {
    signal,
    takesTask: takesTasks(context),
    ...defined({ idempotencyKey: isKey ? key : undefined }),
    progress: (progress, total, message) => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress, total, message };
      notify({ method: 'notifications/progress', params }).catch((error: unknown) =>
        log(String(error)),
      );
    },
  };
}

type Bounded = <Result>(
  work: (ended: AbortSignal) => Promise<Result>,
  context: ServerContext,
) => Promise<Result>;

/**
 * Runs at most {@link MAX_CALLS} calls at once, each until its caller leaves, the process stops or
 * its time is up. Work that continues after its call still counts, so callers cannot pile it up by
 * leaving.
 */
function createBounds(stop: AbortSignal): Bounded {
  let open = 0;
  return async (work, { mcpReq }) => {
    if (open >= MAX_CALLS) throw tooMany();
    open += 1;
    const deadline = AbortSignal.timeout(CALL_DEADLINE_MS);
    const ended = AbortSignal.any([mcpReq.signal, stop, deadline]);
    const working = work(ended).finally(() => {
      open -= 1;
    });
    return Promise.race([working, untilAborted(ended, deadline)]);
  };
}

/** Rejects when the call has to end. */
function untilAborted(ended: AbortSignal, deadline: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(deadline.aborted ? tooLate() : stopped());
    if (ended.aborted) end();
    else ended.addEventListener('abort', end, { once: true });
  });
}

function unknownTool(name: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Expected a tool of this server, got ${shown(name)}. List the tools.`,
  );
}

function takenName(name: string): UsageError {
  return new UsageError(
    'duplicate_tool',
    `Expected agents whose names are free, got \`${name}\`, which is a tool of the server. Rename the agent, or leave out \`--expose agents\`.`,
  );
}

function tooMany(): UsageError {
  return new UsageError(
    'run_busy',
    `Expected at most ${MAX_CALLS} calls at once, got one more. Repeat it later.`,
  );
}

function tooLate(): UsageError {
  return new UsageError(
    'no_worker',
    `Expected an answer within ${CALL_DEADLINE_MS / 1_000} s, got none. The run goes on meanwhile; repeat the call.`,
  );
}

function stopped(): UsageError {
  return new UsageError('run_busy', 'The server stops. Runs go on; repeat the call.');
}
