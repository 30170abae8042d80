/**
 * The connections of a worker: one for each server, or one for each run that uses it.
 *
 * I1  Calls that need a missing connection share one attempt to connect.
 * I2  A connection has at most `maxConcurrent` calls at once; more wait for their turn.
 * I3  A connection that is unused for `idleMs` is closed, and all are when the pool is. Of those of
 *     single runs, many may be unused for a minute, and no more than a bound for longer.
 * I4  A connection that one call found of no use gets no new calls, and is closed when the others
 *     on it have ended: they may still get their answers.
 */
import type { RunInfo } from '../../core/calls/run-info.ts';
import type { McpServerDefinition } from '../../define/definition/mcp-server.ts';
import { unlessAborted, type McpConnection } from './connection.ts';
import { McpUnreachableError } from './failures.ts';

/** Connections of single runs to one server that stay open without a call for longer than a minute. */
const MAX_IDLE_RUN_CONNECTIONS = 64;

/**
 * A run may take this long between two calls, and its connection holds the state of its session.
 */
const MIN_IDLE_MS = 60_000;

/** Makes a connection; `info` is what its newest call knows of its run. */
export type Connect = (info: () => RunInfo | undefined) => Promise<McpConnection>;

/** The right to one call on a connection. */
export interface ConnectionLease {
  readonly connection: McpConnection;
  /** Ends the right. `isBroken`: no new call gets the connection. */
  readonly release: (isBroken?: boolean) => void;
}

interface Slot {
  /** What the newest call knows of its run; undefined: it is of no run. */
  info: RunInfo | undefined;
  connection: McpConnection | undefined;
  /** The calls of each connection that has some, retired ones included. */
  readonly calls: Map<McpConnection, number>;
  /**
   * True: calls no longer find the slot, so a connection that is still being made for it is closed.
   */
  isDropped: boolean;
  connecting: Promise<McpConnection> | undefined;
  active: number;
  readonly waiting: (() => void)[];
  idleTimer: NodeJS.Timeout | undefined;
  /** When its last call ended; undefined while it has some. */
  idleSince: number | undefined;
}

/** The connections of one server. */
export class ServerPool {
  private readonly slots = new Map<string, Slot>();
  /** Connections that are being closed, for which `close` waits. */
  private readonly closing = new Set<Promise<void>>();
  private readonly ended = new WeakSet<McpConnection>();
  private isClosed = false;
  private readonly server: McpServerDefinition;
  private readonly connect: Connect;

  constructor(server: McpServerDefinition, connect: Connect) {
    this.server = server;
    this.connect = connect;
  }

  /** The connection of run `info`, or that of the worker itself. Rejects on an abort. */
  async lease(info: RunInfo | undefined, signal: AbortSignal): Promise<ConnectionLease> {
    if (this.isClosed) throw stopping();
    if (signal.aborted) throw signal.reason;
    const key = this.server.scope === 'run' ? (info?.runId ?? '') : '';
    const slot = this.slots.get(key) ?? newSlot();
    this.slots.set(key, slot);
    slot.info = info;
    clearTimeout(slot.idleTimer);
    slot.idleSince = undefined;
    await turn(slot, this.server.maxConcurrent, signal);
    try {
      const connection = await unlessAborted(this.open(slot), signal);
      slot.calls.set(connection, (slot.calls.get(connection) ?? 0) + 1);
      let isReleased = false;
      const release = (isBroken = false): void => {
        if (isReleased) return;
        isReleased = true;
        if (isBroken && slot.connection === connection) slot.connection = undefined;
        this.endCall(slot, connection);
        this.leave(key, slot);
      };
      return { connection, release };
    } catch (error) {
      this.leave(key, slot);
      throw error;
    }
  }

  /** Closes all connections; settles when they are closed. */
  async close(): Promise<void> {
    this.isClosed = true;
    const connecting = [...this.slots.values()].flatMap((slot) => slot.connecting ?? []);
    for (const [key, slot] of this.slots) this.drop(key, slot);
    await Promise.allSettled(connecting);
    await Promise.all(this.closing);
  }

  private open(slot: Slot): Promise<McpConnection> {
    if (this.isClosed) return Promise.reject(stopping());
    if (slot.connection?.isOpen() === true) return Promise.resolve(slot.connection);
    slot.connecting ??= this.connect(() => slot.info)
      .then((connection) => {
        if (this.isClosed || slot.isDropped) this.end(connection);
        else slot.connection = connection;
        return connection;
      })
      .finally(() => {
        slot.connecting = undefined;
      });
    return slot.connecting;
  }

  /** Counts one call less, and closes a retired connection after its last call. */
  private endCall(slot: Slot, connection: McpConnection): void {
    const left = (slot.calls.get(connection) ?? 1) - 1;
    if (left > 0) {
      slot.calls.set(connection, left);
      return;
    }
    slot.calls.delete(connection);
    if (slot.connection !== connection) this.end(connection);
  }

  private leave(key: string, slot: Slot): void {
    slot.active -= 1;
    const next = slot.waiting.shift();
    if (next !== undefined) next();
    else if (slot.active === 0) this.onIdle(key, slot);
  }

  private onIdle(key: string, slot: Slot): void {
    if (slot.connection === undefined && slot.connecting === undefined) {
      if (this.slots.get(key) === slot) this.slots.delete(key);
      return;
    }
    slot.idleTimer = setTimeout(() => this.drop(key, slot), this.server.idleMs);
    slot.idleTimer.unref();
    slot.idleSince = performance.now();
    // Last in the map, so that the one that is unused for longest is first.
    this.slots.delete(key);
    this.slots.set(key, slot);
    this.dropOldest();
  }

  /** Closes the connections of runs that are unused for longest, but none that was just used. */
  private dropOldest(): void {
    const idle = [...this.slots].filter(
      ([scope, { idleSince }]) => scope !== '' && idleSince !== undefined,
    );
    const before = performance.now() - MIN_IDLE_MS;
    for (const [scope, slot] of idle.slice(0, -MAX_IDLE_RUN_CONNECTIONS)) {
      if ((slot.idleSince ?? Infinity) > before) return;
      this.drop(scope, slot);
    }
  }

  private drop(key: string, slot: Slot): void {
    clearTimeout(slot.idleTimer);
    if (this.slots.get(key) === slot) this.slots.delete(key);
    const { connection, calls } = slot;
    slot.isDropped = true;
    slot.connection = undefined;
    for (const used of new Set([...calls.keys(), ...(connection ? [connection] : [])])) {
      this.end(used);
    }
  }

  private end(connection: McpConnection): void {
    if (this.ended.has(connection)) return;
    this.ended.add(connection);
    const ended = connection.close().finally(() => this.closing.delete(ended));
    this.closing.add(ended);
  }
}

function stopping(): McpUnreachableError {
  return new McpUnreachableError('The worker stops.', false);
}

function newSlot(): Slot {
  return {
    info: undefined,
    connection: undefined,
    calls: new Map(),
    isDropped: false,
    connecting: undefined,
    active: 0,
    waiting: [],
    idleTimer: undefined,
    idleSince: undefined,
  };
}

/** Waits until the slot has room for one more call, and takes it. */
function turn(slot: Slot, max: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  slot.active += 1;
  if (slot.active <= max) return Promise.resolve();
  slot.active -= 1;
  return new Promise((resolve, reject) => {
    const onTurn = (): void => {
      signal.removeEventListener('abort', onAbort);
      slot.active += 1;
      resolve();
    };
    const onAbort = (): void => {
      const at = slot.waiting.indexOf(onTurn);
      if (at !== -1) slot.waiting.splice(at, 1);
      reject(signal.reason as Error);
    };
    slot.waiting.push(onTurn);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
