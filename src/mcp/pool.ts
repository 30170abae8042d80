/**
 * The connections of a worker: one for each server, or one for each run that uses it.
 *
 * I1  Those who need a connection that is not there wait for the same attempt to connect.
 * I2  A connection has at most `maxConcurrent` calls at once; more wait for their turn.
 * I3  A connection that is unused for `idleMs` is closed, and all are when the pool is.
 */
import type { McpServerDefinition } from '../define/definition/mcp-server.ts';
import { unlessAborted, type McpConnection } from './connection.ts';
import { McpUnreachableError } from './failures.ts';

/** Connections of single runs to one server that stay open without a call. */
const MAX_IDLE_RUN_CONNECTIONS = 8;

/** The right to one call on a connection. */
export interface Lease {
  readonly connection: McpConnection;
  /** Ends the right. `isBroken`: nobody is to use the connection again. */
  readonly release: (isBroken?: boolean) => void;
}

/** The connections of one server. */
export interface ServerPool {
  /** The connection of `scope`, the id of a run or an empty text. Rejects when `signal` is aborted. */
  readonly lease: (scope: string, signal: AbortSignal) => Promise<Lease>;
  readonly hasConnection: () => boolean;
  readonly close: () => Promise<void>;
}

interface Slot {
  connection: McpConnection | undefined;
  connecting: Promise<McpConnection> | undefined;
  active: number;
  readonly waiting: (() => void)[];
  idleTimer: NodeJS.Timeout | undefined;
}

/** Makes the pool of `server`; `connect` makes a connection. */
export function createServerPool(
  server: McpServerDefinition,
  connect: () => Promise<McpConnection>,
): ServerPool {
  const slots = new Map<string, Slot>();
  const state = { isClosed: false };

  const drop = (key: string, slot: Slot): Promise<void> => {
    clearTimeout(slot.idleTimer);
    if (slots.get(key) === slot) slots.delete(key);
    const { connection, connecting } = slot;
    slot.connection = undefined;
    const late = connecting?.then((it) => it.close()).catch(() => undefined);
    return Promise.all([connection?.close(), late]).then(() => undefined);
  };

  const open = (slot: Slot): Promise<McpConnection> => {
    if (state.isClosed) return Promise.reject(new McpUnreachableError('The worker stops.', false));
    if (slot.connection?.isOpen() === true) return Promise.resolve(slot.connection);
    slot.connecting ??= connect()
      .then((connection) => {
        if (state.isClosed) void connection.close();
        slot.connection = connection;
        return connection;
      })
      .finally(() => {
        slot.connecting = undefined;
      });
    return slot.connecting;
  };

  const onIdle = (key: string, slot: Slot): void => {
    if (slot.connection === undefined) {
      if (slots.get(key) === slot) slots.delete(key);
      return;
    }
    slot.idleTimer = setTimeout(() => void drop(key, slot), server.idleMs);
    slot.idleTimer.unref();
    const idle = [...slots].filter(([scope, it]) => scope !== '' && it.active === 0);
    const [oldest] = idle;
    if (idle.length > MAX_IDLE_RUN_CONNECTIONS && oldest !== undefined) void drop(...oldest);
  };

  const leave = (key: string, slot: Slot): void => {
    slot.active -= 1;
    const next = slot.waiting.shift();
    if (next !== undefined) next();
    else if (slot.active === 0) onIdle(key, slot);
  };

  const lease = async (scope: string, signal: AbortSignal): Promise<Lease> => {
    if (state.isClosed) throw new McpUnreachableError('The worker stops.', false);
    const key = server.scope === 'run' ? scope : '';
    const slot = slots.get(key) ?? newSlot();
    // The newest is last, so that the one that is unused for longest is first.
    slots.delete(key);
    slots.set(key, slot);
    clearTimeout(slot.idleTimer);
    await turn(slot, server.maxConcurrent, signal);
    try {
      const connection = await unlessAborted(open(slot), signal);
      let isReleased = false;
      const release = (isBroken = false): void => {
        if (isReleased) return;
        isReleased = true;
        if (isBroken && slot.connection === connection) {
          slot.connection = undefined;
          void connection.close();
        }
        leave(key, slot);
      };
      return { connection, release };
    } catch (error) {
      leave(key, slot);
      throw error;
    }
  };

  return {
    lease,
    hasConnection: () =>
      [...slots.values()].some(({ connection }) => connection?.isOpen() === true),
    close: async () => {
      state.isClosed = true;
      await Promise.all([...slots].map(([key, slot]) => drop(key, slot)));
    },
  };
}

function newSlot(): Slot {
  return {
    connection: undefined,
    connecting: undefined,
    active: 0,
    waiting: [],
    idleTimer: undefined,
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
