/** Values of the worker's environment that servers need, and texts without them. */
import type { HideText } from '../../core/text/hide.ts';
import { redact } from '../../core/text/redact.ts';
import type { McpServerDefinition, McpValue } from '../../define/definition/mcp-server.ts';
import { hiderOf, MIN_CHARACTERS } from '../../protection/hide-values.ts';

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
  if (auth === undefined || typeof auth === 'function') return own;
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
  /** `text` without these secrets, as they are or encoded, for what people and models read. */
  readonly exact: HideText;
  /** Adds a secret that was got later, such as a token. */
  readonly add: (secret: string) => void;
}

/** Tokens of one server that are known; they are renewed. */
const MAX_TOKENS = 20;

/** The redactor of `server`: values of the variables that it names, and its tokens. */
export function redactorOf(server: McpServerDefinition, environment: McpEnvironment): Redactor {
  const values = variablesOf(server)
    .map((name) => (environment[name] ?? '').trim())
    .filter((value) => value.length >= MIN_CHARACTERS);
  const tokens = new Set<string>();
  let hide = hiderOf(values);
  const exact: HideText = (text) => hide(text);
  return {
    exact,
    failure: (text) => redact(exact(text)),
    add: (token) => {
      if (token.length < MIN_CHARACTERS || tokens.has(token)) return;
      tokens.add(token);
      const [oldest] = tokens;
      if (tokens.size > MAX_TOKENS && oldest !== undefined) tokens.delete(oldest);
      hide = hiderOf([...values, ...tokens]);
    },
  };
}
