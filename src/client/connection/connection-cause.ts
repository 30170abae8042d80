/**
 * Finds out why a server cannot be reached. The client library only says that a deadline has passed,
 * so this looks again, one step after another: the name, the port, TLS.
 */
import { isGrpcServiceError, ServiceError, type ConnectionOptions } from '@temporalio/client';
import { lookup } from 'node:dns/promises';
import { createConnection, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';

/** Why a server cannot be reached. */
export interface ConnectionCause {
  readonly kind: 'refused' | 'dns' | 'silent' | 'tls' | 'credentials' | 'other';
  /** For people, after "got: ". */
  readonly text: string;
  /** What to do, as a sentence. */
  readonly advice: string;
}

/** What was to be connected to. */
export interface WantedConnection {
  /** `127.0.0.1:7233`, `[::1]:7233` */
  readonly address: string;
  readonly connection?: ConnectionOptions;
  /** How long to look. */
  readonly withinMs: number;
}

/** The share of the time for a connection that is kept for finding the cause of its failure. */
const SHARE_FOR_CAUSE = 0.2;

/** Divides the time for a connection: at first for the connection, then for the cause. */
export function timesOf(timeoutMs: number): {
  readonly connectMs: number;
  readonly causeMs: number;
} {
  const causeMs = Math.round(timeoutMs * SHARE_FOR_CAUSE);
  return { connectMs: timeoutMs - causeMs, causeMs };
}

/** Why `error` came of connecting; never rejects. */
export async function connectionCause(
  error: unknown,
  wanted: WantedConnection,
): Promise<ConnectionCause> {
  const refused = credentialsCause(error);
  if (refused !== undefined) return refused;
  const { address } = wanted;
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const deadline = Date.now() + wanted.withinMs;
  const leftMs = (): number => Math.max(1, deadline - Date.now());
  const found =
    (await nameCause(host, leftMs())) ??
    (await portCause(host, Number(address.slice(at + 1)), leftMs())) ??
    (await tlsCause({ host, port: Number(address.slice(at + 1)) }, wanted.connection, leftMs()));
  if (found !== undefined) return found;
  const text = `something accepts the connection, but does not answer as a Temporal server (${errorText(error).slice(0, 200)})`;
  return { kind: 'other', text, advice: CORRECT_ADDRESS };
}

const CORRECT_ADDRESS = 'Correct `TEMPORAL_ADDRESS`.';

/** The gRPC status that refuses who calls; a call that is not allowed has another one. */
const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;

/** The cause of an answer that refuses the credentials. */
export function credentialsCause(error: unknown): ConnectionCause | undefined {
  // The SDK wraps the error of the call that it connects with.
  const inner = error instanceof ServiceError ? error.cause : error;
  if (!isGrpcServiceError(inner)) return undefined;
  if (inner.code !== UNAUTHENTICATED && inner.code !== PERMISSION_DENIED) return undefined;
  return {
    kind: 'credentials',
    text: `it refuses the credentials (${errorText(inner).slice(0, 200)})`,
    advice: 'Correct `TEMPORAL_API_KEY`, or `TEMPORAL_TLS_CLIENT_CERT_PATH` and its key.',
  };
}

async function nameCause(host: string, withinMs: number): Promise<ConnectionCause | undefined> {
  if (isIP(host) !== 0) return undefined;
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve('no reply of the DNS'), withinMs).unref();
  });
  const found = lookup(host).then(() => undefined, codeOf);
  const reason = await Promise.race([found, late]);
  if (reason === undefined) return undefined;
  const text = `DNS has no address for \`${host}\` (${reason})`;
  return { kind: 'dns', text, advice: 'Correct `TEMPORAL_ADDRESS`, or the DNS of this machine.' };
}

async function portCause(
  host: string,
  port: number,
  withinMs: number,
): Promise<ConnectionCause | undefined> {
  const socket = createConnection({ host, port });
  const end = await endOf(socket, 'connect', withinMs);
  if (end === 'reached') return undefined;
  if (end === 'late') {
    const text = 'nothing answers at that address: a firewall may drop the connection';
    return { kind: 'silent', text, advice: CORRECT_ADDRESS };
  }
  if (end === 'ECONNREFUSED') {
    const text = 'the connection was refused (ECONNREFUSED): nothing listens at that port';
    const advice = 'Start one with `everloop dev`, or correct `TEMPORAL_ADDRESS`.';
    return { kind: 'refused', text, advice };
  }
  return { kind: 'other', text: `the connection failed (${end})`, advice: CORRECT_ADDRESS };
}

async function tlsCause(
  target: { readonly host: string; readonly port: number },
  { tls, apiKey }: ConnectionOptions = {},
  withinMs: number,
): Promise<ConnectionCause | undefined> {
  const isOn = tls === undefined || tls === null ? apiKey !== undefined : tls !== false;
  const given = typeof tls === 'object' && tls !== null ? tls : {};
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = given;
  const servername = serverNameOverride ?? (isIP(target.host) === 0 ? target.host : undefined);
  const options: TlsOptions = {
    ...target,
    ALPNProtocols: ['h2'],
    ...defined({
      servername,
      ca: serverRootCACertificate ? Buffer.from(serverRootCACertificate) : undefined,
      cert: clientCertPair ? Buffer.from(clientCertPair.crt) : undefined,
      key: clientCertPair ? Buffer.from(clientCertPair.key) : undefined,
    }),
    rejectUnauthorized: isOn,
  };
  const end = await tlsEnd(options, withinMs);
  if (!isOn && end !== 'reached') return undefined;
  if (!isOn) {
    const text = 'it wants TLS, which is off';
    return { kind: 'tls', text, advice: 'Set `TEMPORAL_TLS=true`, or `TEMPORAL_API_KEY`.' };
  }
  if (end === 'reached') return undefined;
  const text = `TLS failed (${end === 'late' ? 'no reply' : end})`;
  return {
    kind: 'tls',
    text,
    advice: 'Correct `TEMPORAL_TLS` and the variables `TEMPORAL_TLS_…`.',
  };
}

/** A server may refuse the certificate of a client only after the handshake. */
const REFUSAL_MS = 300;

async function tlsEnd(options: TlsOptions, withinMs: number): Promise<string> {
  try {
    const socket = connectTls(options);
    return await endOf(socket, 'secureConnect', withinMs, Math.min(REFUSAL_MS, withinMs / 2));
  } catch (error) {
    // A certificate or key that cannot be read.
    return codeOf(error);
  }
}

/** `reached` when `event` comes and no error within `thenMs` after it, `late`, or the error. */
async function endOf(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  withinMs: number,
  thenMs = 0,
): Promise<string> {
  try {
    return await new Promise<string>((resolve) => {
      const late = setTimeout(() => resolve('late'), withinMs);
      socket.once('error', (error) => resolve(codeOf(error)));
      socket.once(event, () => {
        clearTimeout(late);
        setTimeout(() => resolve('reached'), thenMs);
      });
      socket.once('close', () => clearTimeout(late));
    });
  } finally {
    socket.destroy();
  }
}

/** `ECONNREFUSED`; else the message. */
function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && code !== '' ? code : errorText(error).slice(0, 200);
}
