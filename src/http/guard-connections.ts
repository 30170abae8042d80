/**
 * Connections of a server whose clients carry tokens.
 *
 * I1  A connection that has not sent a request with a token within {@link STRANGER_MS} is closed, and
 *     one that has not may be silent for no longer, whatever it sends or reads drop by drop.
 * I2  Strangers displace only strangers: of too many the oldest is closed, so that a client with a
 *     token always gets in.
 * I3  Each rank of clients has connections of its own.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a connection without a token may take for a request, and an answer may lie unread. */
const STRANGER_MS = 2_000;

/** How long an answer to a stranger may take, in ms: the pages of a console over a slow line. */
const ANSWER_MS = 30_000;

/** How many connections are open for each rank. */
const MAX_OF_RANK = 256;

/** Who sends a request; the ranks of clients with a token have names of the server's own. */
export type RankOf = (request: IncomingMessage) => string | null;

interface Connection {
  readonly socket: Socket;
  /** Null: no request of it has had a token. */
  rank: string | null;
  timer: NodeJS.Timeout;
}

/** Guards the connections of `server`; one with a token may be silent for `idleMs`. */
export function guardConnections(server: Server, rankOf: RankOf, idleMs: number): void {
  const connections = new Map<Socket, Connection>();
  const ofRank = (rank: string | null): readonly Connection[] =>
    [...connections.values()].filter((one) => one.rank === rank);
  const closeIn = (socket: Socket, ms: number): NodeJS.Timeout =>
    setTimeout(() => socket.destroy(), ms).unref();
  server.on('connection', (socket: Socket) => {
    const [oldest, ...others] = ofRank(null);
    if (others.length >= MAX_OF_RANK - 1) oldest?.socket.destroy();
    connections.set(socket, { socket, rank: null, timer: closeIn(socket, STRANGER_MS) });
    socket.once('close', () => {
      clearTimeout(connections.get(socket)?.timer);
      connections.delete(socket);
    });
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined) return;
    clearTimeout(connection.timer);
    const rank = rankOf(request);
    if (rank !== null && rank !== connection.rank) {
      if (ofRank(rank).length >= MAX_OF_RANK) return void socket.destroy();
      connection.rank = rank;
    }
    if (connection.rank !== null) return void socket.setTimeout(idleMs);
    socket.setTimeout(STRANGER_MS);
    connection.timer = closeIn(socket, ANSWER_MS);
    response.once('close', () => {
      clearTimeout(connection.timer);
      if (!socket.destroyed) connection.timer = closeIn(socket, STRANGER_MS);
    });
  });
}
