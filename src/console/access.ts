/**
 * Who may ask a console, and what a browser may do with its answers.
 *
 * I1  Every request to the API needs a token, compared in constant time; a read token only looks.
 *     Nothing is sent by a browser on its own, so no page of another site can act.
 * I2  A `Host` that is not this console is refused, because another site could lead a name of its own
 *     here (DNS rebinding).
 * I3  A change needs an `Origin` that is this console.
 * I4  No answer allows another origin to read it, and no page of it loads anything from elsewhere.
 */
import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { isLoopback } from '../core/base/loopback.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';
import { hostName } from '../http/host-names.ts';
import { isAmong } from '../protection/same-text.ts';
import type { ConsoleRole } from './api.ts';
import { ConsoleRefusal } from './refusal.ts';

/** Who may use a console. */
export interface ConsoleAccess {
  /** The bearer token of those who may do everything: at least 16 characters. */
  readonly token: string;
  /** The bearer token of those who may only look. Default: there is none. */
  readonly readToken?: string;
  /**
   * The hosts under which it is reached beside this machine's own names: `agents.example.com`, without
   * a port; `*` takes every address, but no further name. Default: none.
   */
  readonly hosts?: readonly string[];
  /** The header in which a proxy names who acts, such as `x-forwarded-user`. Default: none. */
  readonly userHeader?: string;
}

/** Who asks. */
export interface Asker {
  readonly role: ConsoleRole;
  /** As a proxy names them; null: nobody does. */
  readonly user: string | null;
}

/** What requests of the console carry. */
export interface ConsoleEnv {
  readonly Variables: { readonly asker: Asker };
}

/** The shortest token that a console takes. */
export const MIN_TOKEN_CHARACTERS = 16;

const MAX_USER_CHARACTERS = 200;

/** What every answer says to a browser. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "img-src 'self' blob: data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * The rules of `access` for every request of a console.
 *
 * @throws UsageError `environment` for a token that is too short, or two that are equal.
 */
export function accessRules(access: ConsoleAccess): {
  /** Host and headers, for every path. */
  readonly everywhere: MiddlewareHandler;
  /** Token, role and origin, for the API. */
  readonly api: MiddlewareHandler<ConsoleEnv>;
} {
  checkTokens(access);
  checkHosts(access.hosts ?? []);
  const names = new Set((access.hosts ?? []).map((name) => name.toLowerCase()));
  return {
    everywhere: async (c, next) => {
      requireHost(c.req.header('host') ?? new URL(c.req.url).host, names);
      await next();
    },
    api: async (c, next) => {
      const asker = askerOf(c, access);
      if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
        requireOrigin(c, names);
        // Each tab says what it wants to hear of, which changes nothing.
        const isAction = c.req.method === 'POST';
        if (isAction && asker.role !== 'operate') {
          throw new ConsoleRefusal(
            'forbidden',
            'Expected the token of somebody who may act, got one that may only look. Sign in with the token of somebody who may act.',
          );
        }
      }
      c.set('asker', asker);
      await next();
    },
  };
}

/** Adds the headers for browsers to any answer. */
export function protect(answer: Response): void {
  for (const [name, value] of Object.entries(HEADERS)) answer.headers.set(name, value);
  if (!answer.headers.has('cache-control')) answer.headers.set('cache-control', 'no-store');
}

function checkTokens({ token, readToken }: ConsoleAccess): void {
  for (const one of [token, readToken]) {
    if (one === undefined || one.length >= MIN_TOKEN_CHARACTERS) continue;
    throw new UsageError(
      'environment',
      `Expected a token of a console to have at least ${MIN_TOKEN_CHARACTERS} characters, got ${one.length}. Choose a longer one.`,
    );
  }
  if (token !== readToken) return;
  throw new UsageError(
    'environment',
    'Expected another token for those who may only look, got the same. Choose another.',
  );
}

/** The name of a host, an address, or `*`: no scheme, no port, no path. */
const HOST = /^(?:\*|[\w.-]+|\[?[0-9a-f:.]*:[0-9a-f:.]*\]?)$/i;

function checkHosts(hosts: readonly string[]): void {
  const wrong = hosts.find((host) => !HOST.test(host));
  if (wrong === undefined) return;
  throw new UsageError(
    'environment',
    `Expected the name of a host, such as \`agents.example.com\`, got ${shown(wrong)}. Leave out scheme, port and path.`,
  );
}

/** Whose token `authorization` has; null: it has none of this console. */
export function roleOf(
  authorization: string | undefined,
  { token, readToken }: Pick<ConsoleAccess, 'token' | 'readToken'>,
): ConsoleRole | null {
  const given = authorization ?? '';
  if (isAmong(given, [`Bearer ${token}`])) return 'operate';
  return readToken !== undefined && isAmong(given, [`Bearer ${readToken}`]) ? 'read' : null;
}

function askerOf(c: Context, access: ConsoleAccess): Asker {
  const { userHeader } = access;
  const role = roleOf(c.req.header('authorization'), access);
  if (role === null) {
    throw new ConsoleRefusal(
      'unauthorized',
      'Expected the token of this console, got none or another. Open the address that `everloop console` prints, or send EVERLOOP_CONSOLE_TOKEN if that is set.',
    );
  }
  const user = userHeader === undefined ? undefined : headerText(c.req.header(userHeader));
  return {
    role,
    user: user ? user.slice(0, MAX_USER_CHARACTERS) : null,
  };
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a header: servers read its bytes as Latin-1, and proxies write UTF-8. */
function headerText(given: string | undefined): string | undefined {
  const text = given?.trim();
  if (text === undefined) return undefined;
  try {
    return UTF_8.decode(Buffer.from(text, 'latin1')).trim();
  } catch {
    return text;
  }
}

function isKnown(host: string, names: ReadonlySet<string>): boolean {
  const name = hostName(host);
  return isLoopback(name) || names.has(name) || (names.has('*') && isIP(name) !== 0);
}

function requireHost(host: string, names: ReadonlySet<string>): void {
  if (isKnown(host, names)) return;
  throw new ConsoleRefusal(
    'wrong_host',
    'Expected the address of this console in `Host`, got another. Add the name to EVERLOOP_CONSOLE_HOSTS if it leads here.',
  );
}

/** A proxy may end TLS and change `Host`, so the origin is compared by its host alone. */
function requireOrigin(c: Context, names: ReadonlySet<string>): void {
  const origin = c.req.header('origin') ?? '';
  const from = URL.canParse(origin) ? new URL(origin).host : '';
  const own = c.req.header('host') ?? new URL(c.req.url).host;
  if (from !== '' && (from === own.toLowerCase() || names.has(hostName(from)))) return;
  throw new ConsoleRefusal(
    'forbidden',
    'Expected a change to come from a page of this console, got another `Origin` or none. Use its own page.',
  );
}
