/**
 * What a worker knows of one server: its connections and its catalogue.
 *
 * I1  At most one listing is read at a time, and no more often than each second.
 * I2  A catalogue that was read stays until a newer one is there: a server that is away for a while
 *     keeps its tools.
 */
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { defined } from '../core/base/defined.ts';
import { isDeeperThan, type Json } from '../core/base/json.ts';
import type { RunInfo } from '../core/calls/run-info.ts';
import { hideIn } from '../core/text/hide.ts';
import {
  makeCatalogue,
  MAX_TOOL_DEPTH,
  type Catalogue,
  type ServerListing,
} from './catalogue/catalogue.ts';
import { warning } from './catalogue/catalogue-warnings.ts';
import { connectServer, type McpConnection } from './connection/connection.ts';
import { McpUnreachableError, readFailure } from './connection/failures.ts';
import type { KnownServer } from './known-servers.ts';
import { readList } from './connection/listing.ts';
import type { McpObserver } from './connection/mcp-observer.ts';
import type { McpLog } from './text/log.ts';
import { ownTools } from './calls/own-tools.ts';
import { ServerPool } from './connection/pool.ts';
import type { Reaper } from './transport/reaper.ts';
import { redactorOf, type McpEnvironment, type Redactor } from './text/secrets.ts';

/** How long a listing holds at least; all servers that were tried say 0. */
const MIN_TTL_MS = 60_000;

/** How long a listing holds at most. */
const MAX_TTL_MS = 3_600_000;

/** Between two listings; a server may announce changes without end. */
const MIN_PAUSE_MS = 1_000;

/** How long a run waits for the first listing; loading an agent has 10 s. Reading goes on. */
const MAX_WAIT_MS = 8_500;

/** How long a run or a call waits for a newer listing than the one that is known. */
const MAX_RENEWAL_WAIT_MS = 2_000;

/** How long a server is known to be of the older era: it may be upgraded. */
const LEGACY_MS = 86_400_000;

/** Different warnings that are remembered, so that each is logged once. */
const MAX_LOGGED = 500;

/** What the servers of a worker share. */
export interface ServerParts {
  readonly environment: McpEnvironment;
  readonly reaper: Reaper;
  readonly log: McpLog;
  readonly observer: McpObserver;
}

/** A server of this worker. It connects when it is first needed. */
export class McpServerState {
  readonly pool: ServerPool;
  readonly redactor: Redactor;
  private readonly known: KnownServer;
  private readonly parts: ServerParts;
  private readonly logged = new Set<string>();
  private verdict: { readonly prior: PriorDiscovery; readonly at: number } | undefined;
  private current: { readonly catalogue: Catalogue; readonly staleAt: number } | undefined;
  private reading: Promise<Catalogue> | undefined;
  private readAt = -Infinity;
  private changes = 0;
  private open = 0;

  constructor(known: KnownServer, parts: ServerParts) {
    this.known = known;
    this.parts = parts;
    this.redactor = redactorOf(known.definition, parts.environment);
    this.pool = new ServerPool(known.definition, (info) => this.connect(info));
  }

  /**
   * The catalogue of now, or the last one while the server is away or slow. Rejects with an
   * {@link McpUnreachableError} if there was none yet. Waits at most `connectTimeoutMs` for the first
   * one, and 2 s for a newer one.
   */
  async catalogue(): Promise<Catalogue> {
    if (this.current !== undefined && Date.now() < this.current.staleAt) {
      return this.current.catalogue;
    }
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    const { name, connectTimeoutMs } = this.known.definition;
    try {
      const maxMs = this.current === undefined ? MAX_WAIT_MS : MAX_RENEWAL_WAIT_MS;
      const bound = Math.min(connectTimeoutMs, maxMs);
      const late = `MCP server ${name} did not list its tools within ${bound / 1_000} s.`;
      return await within(this.reading, bound, late);
    } catch (error) {
      if (this.current !== undefined) return this.current.catalogue;
      const unreachable =
        error instanceof McpUnreachableError
          ? error
          : new McpUnreachableError(`MCP server ${name} could not be reached.`, false);
      this.warn(unreachable.message);
      throw unreachable;
    }
  }

  private async connect(info: () => RunInfo | undefined): Promise<McpConnection> {
    const { verdict, redactor, parts } = this;
    const isOld = verdict?.prior.kind === 'legacy' && Date.now() - verdict.at > LEGACY_MS;
    const kept = isOld ? undefined : verdict;
    // Set again once connected: a server that fails may have been replaced.
    this.verdict = undefined;
    const connection = await connectServer(this.known.definition, {
      ...parts,
      redactor,
      info,
      ...defined({ verdict: kept?.prior }),
      onToolsChanged: () => this.renew(),
    });
    this.verdict = { prior: connection.verdict, at: kept?.at ?? Date.now() };
    this.count(1);
    parts.observer.connected(this.known.definition.name, connection.protocolVersion);
    void connection.closed.then(() => {
      this.count(-1);
      this.renew();
    });
    return connection;
  }

  /** Counts connections that were made or have ended. */
  private count(by: 1 | -1): void {
    this.open += by;
    this.parts.observer.connections(this.known.definition.name, this.open);
  }

  private async read(): Promise<Catalogue> {
    const { definition: server, locked } = this.known;
    await pause(this.readAt + MIN_PAUSE_MS - Date.now());
    this.readAt = Date.now();
    const signal = AbortSignal.timeout(server.connectTimeoutMs);
    const lease = await this.pool.lease(undefined, signal);
    const changesBefore = this.changes;
    try {
      const { connection } = lease;
      const { items, cut, ttlMs = 0 } = await readList(connection, 'tools/list', 'tools', signal);
      const listing = withoutSecrets(connection, items, this.redactor);
      const own = ownTools(server, connection.offers);
      const made = await makeCatalogue(server, listing, { own, ...defined({ locked }) });
      const catalogue = cut === undefined ? made : withCut(server, made, cut);
      for (const { message } of catalogue.warnings) this.warn(message);
      const holdsMs = Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS);
      // The server may have changed its tools between two pages.
      const isOld = this.changes !== changesBefore;
      this.current = { catalogue, staleAt: isOld ? 0 : Date.now() + holdsMs };
      return catalogue;
    } catch (error) {
      const { kind, message, isBroken } = readFailure(error, lease.connection.hasSession());
      lease.release(isBroken === true || kind !== 'final');
      const isRefused = kind === 'refused';
      const cause = isRefused
        ? 'refused the credentials of this worker'
        : `could not list its tools: ${this.redactor.failure(message)}`;
      throw new McpUnreachableError(`MCP server ${server.name} ${cause}.`, isRefused);
    } finally {
      lease.release();
    }
  }

  /** The next question for the catalogue reads a new one. */
  private renew(): void {
    this.changes += 1;
    if (this.current !== undefined) this.current = { ...this.current, staleAt: 0 };
  }

  private warn(message: string): void {
    if (this.logged.has(message) || this.logged.size >= MAX_LOGGED) return;
    this.logged.add(message);
    this.parts.log('warn', message);
  }
}

function withCut(server: KnownServer['definition'], catalogue: Catalogue, cut: string): Catalogue {
  const more = warning(server, 'mcp_list_cut', `not all tools are used: ${cut}.`);
  return { ...catalogue, warnings: [...catalogue.warnings, more] };
}

/** `work`, unless it takes longer than `ms`. */
async function within<Result>(work: Promise<Result>, ms: number, late: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new McpUnreachableError(late, false)), ms);
  });
  try {
    return await Promise.race([work, isLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a server says of itself; it may know its own token. */
function withoutSecrets(
  { identity, instructions }: McpConnection,
  items: readonly unknown[],
  { exact }: Redactor,
): ServerListing {
  const shown = items.map((item) =>
    // The catalogue leaves out tools that nest too deep.
    isDeeperThan(item, MAX_TOOL_DEPTH) ? item : hideIn(item as Json, exact),
  );
  return {
    identity: exact(identity),
    tools: shown,
    ...defined({ instructions: instructions === undefined ? undefined : exact(instructions) }),
  };
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
