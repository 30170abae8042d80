/** Reads the `TEMPORAL_…` variables and profiles, as the Temporal CLI does. */
import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How to reach the service. */
export interface TemporalEnvironment {
  /** Absent when neither a variable nor a profile has one. */
  readonly address?: string;
  readonly namespace: string;
  /** TLS, API key and metadata, for a client's or a worker's `connect`. */
  readonly connection: ConnectionOptions;
}

/** Receives one problem: the variable, what it should be, what it is, what to do. */
export type ReportVariable = (
  variable: string,
  expected: string,
  got: string,
  advice: string,
) => void;

/** Temporal's own default. */
const DEFAULT_NAMESPACE = 'default';

/**
 * Address, namespace, API key and TLS, also from the `TEMPORAL_PROFILE` of a TOML file, through
 * `@temporalio/envconfig`. An empty variable counts as not set. Problems go to `report`.
 */
export function readTemporalEnvironment(
  env: Environment,
  report: ReportVariable,
): TemporalEnvironment {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value.trim() !== '') variables[name] = value.trim();
  }
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({
      overrideEnvVars: variables,
    });
    const { address, tls, apiKey, metadata } = connectionOptions;
    if (address !== undefined && !isAddress(address)) {
      report(
        'TEMPORAL_ADDRESS',
        'to be host and port like `localhost:7233`',
        quote(address),
        'Correct it, or unset it to use a server of this machine.',
      );
    }
    return defined({
      address,
      namespace: namespace ?? DEFAULT_NAMESPACE,
      connection: defined({
        tls: tls ?? undefined,
        apiKey,
        metadata: metadata as Record<string, string> | undefined,
      }),
    });
  } catch (error) {
    const message = errorText(error);
    report(
      'TEMPORAL_…',
      'to be variables that Temporal understands',
      `"${message.slice(0, 200)}"`,
      'See https://docs.temporal.io/develop/environment-configuration.',
    );
    return { namespace: DEFAULT_NAMESPACE, connection: {} };
  }
}

/** Whether `address` is a host (IPv6 in brackets) and a port. */
function isAddress(address: string): boolean {
  const port = /^(?:\[[0-9a-fA-F:.]+\]|[^\s/:]+):(\d{1,5})$/.exec(address)?.[1];
  return port !== undefined && Number(port) > 0 && Number(port) < 65_536;
}

function quote(value: string): string {
  return `\`${value.slice(0, 200)}\``;
}
