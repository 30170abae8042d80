/** Values of the worker's environment that servers need, and texts without them. */
import { redact } from '../../core/text/redact.ts';
import type { McpServerDefinition, McpValue } from '../../define/definition/mcp-server.ts';

/** The variables of a process. */
export type McpEnvironment = Readonly<Record<string, string | undefined>>;

/** What a process gets of its parent's environment unless its definition says more. */
const INHERITED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

/** On Windows, programs do not start without these. */
const INHERITED_ON_WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/** Shorter values are no secrets, and occur in texts by chance. */
const MIN_SECRET = 8;

/** `value`, or the variable that it names; empty if that is missing. */
export function valueOf(value: McpValue, environment: McpEnvironment): string {
  return typeof value === 'string' ? value : (environment[value.env] ?? '');
}

/** All of `values`. */
export function valuesOf(
  values: { readonly [name: string]: McpValue },
  environment: McpEnvironment,
): Record<string, string> {
  const entries = Object.entries(values);
  return Object.fromEntries(entries.map(([name, value]) => [name, valueOf(value, environment)]));
}

/** The whole environment of a server's process. */
export function processEnvironment(
  values: { readonly [name: string]: McpValue },
  environment: McpEnvironment,
): Record<string, string> {
  const names = process.platform === 'win32' ? INHERITED_ON_WINDOWS : INHERITED;
  const inherited = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...valuesOf(values, environment) };
}

/** The names of the variables that `server` needs. */
export function variablesOf({ transport }: McpServerDefinition): readonly string[] {
  return [...new Set(secretValues(transport).map(({ env }) => env))];
}

function secretValues(
  transport: McpServerDefinition['transport'],
): readonly { readonly env: string }[] {
  if (transport.kind === 'stdio') return Object.values(transport.env).filter(isVariable);
  const { headers, auth } = transport;
  const own = Object.values(headers).filter(isVariable);
  if (auth === undefined) return own;
  if ('bearer' in auth) return [...own, auth.bearer];
  const { clientId, clientSecret } = auth.clientCredentials;
  return [...own, ...[clientId].filter(isVariable), clientSecret];
}

function isVariable(value: McpValue): value is { readonly env: string } {
  return typeof value !== 'string';
}

/** Texts without the secrets of a server. */
export interface Redactor {
  /** `text` without these and other secrets, cut, for failures and logs. */
  readonly failure: (text: string) => string;
  /** `text` without these secrets, for results. */
  readonly exact: (text: string) => string;
  /** Adds a secret that was got later, such as a token. */
  readonly add: (secret: string) => void;
}

/** Secrets that one server is known to have; tokens are renewed. */
const MAX_SECRETS = 20;

/** The redactor of `server`. */
export function redactorOf(server: McpServerDefinition, environment: McpEnvironment): Redactor {
  const secrets = new Set(
    variablesOf(server)
      .map((name) => environment[name] ?? '')
      .filter((secret) => secret.length >= MIN_SECRET),
  );
  const exact = (text: string): string =>
    [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
  return {
    exact,
    failure: (text) => redact(exact(text)),
    add: (secret) => {
      if (secret.length < MIN_SECRET) return;
      secrets.add(secret);
      const [oldest] = secrets;
      if (secrets.size > MAX_SECRETS && oldest !== undefined) secrets.delete(oldest);
    },
  };
}
