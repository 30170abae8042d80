/** What the processes of the benchmark `fleet` are told, and what they tell. */

/** How the provider and the tool take their time. */
export const PACE = {
  /** From the request to the first token, in ms. */
  firstTokenMs: 300,
  /** From the first token to the last, in ms. */
  streamMs: 1_500,
  /** Pieces of text in a reply; a tool call or the end follows. */
  chunks: 60,
  /** What the tool of a turn waits, in ms. */
  toolMs: 50,
} as const;

/** How long a turn takes that nothing delays, in ms. */
export const TURN_MS: number = PACE.firstTokenMs + PACE.streamMs + PACE.toolMs;

/** The agent, its tool, and the bare workflow's task queue. */
export const FLEET_AGENT = 'fleet';
/** The tool of a turn. */
export const FLEET_TOOL = 'read';
/** Where the bare workflows are served. */
export const BARE_QUEUE = 'bare-fleet';

/** The task of run `id`: the provider finds the id in the request. */
export function fleetTask(id: string): string {
  return `fleet run ${id}: read all parts`;
}

/** The id in a request, or null. */
export function runIn(body: string): string | null {
  return /fleet run ([\w-]+):/.exec(body)?.[1] ?? null;
}

/** The result of the tool: 1 KB. */
export const TOOL_RESULT: string = 'r'.repeat(1_024);

/** What a worker process is started with. */
export interface WorkerOrder {
  /** The checkout whose sources it runs. */
  readonly root: string;
  /** An empty folder for its server. */
  readonly dataDir: string;
  /** Folder of the Temporal CLI. */
  readonly cliDir: string;
  readonly providerUrl: string;
  /** True: agents stream only while somebody reads. */
  readonly isUnread: boolean;
}

/** What a worker process tells once it serves. */
export interface WorkerReadyNote {
  readonly address: string;
  /** The process of its server. */
  readonly serverPid: number;
}

/** Questions to a worker process. */
export type WorkerQuestion = 'used';

/** What a worker process has used since it began. */
export interface WorkerUsed {
  readonly cpuMs: number;
  readonly rssMb: number;
}

/**
 * Questions to the provider: `fill` has it want a tool in each reply, `drain` has it end runs,
 * `measure` begins to count, `counts` tells what was counted.
 */
export type ProviderQuestion = 'fill' | 'drain' | 'measure' | 'counts';

/** What the provider counted since `measure`. */
export interface ProviderCounts {
  readonly ms: number;
  readonly requests: number;
  /** Requests of which the same was made before. */
  readonly repeated: number;
  /** From the last byte of a reply to the next request of its run, less the tool, in ms. */
  readonly overheadsMs: readonly number[];
  readonly cpuMs: number;
}
