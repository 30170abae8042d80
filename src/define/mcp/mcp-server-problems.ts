/** The checks of `mcpServer`. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { redact } from '../../core/text/redact.ts';
import { unknownOptions } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';
import {
  expected,
  fieldProblems,
  shownName,
  type FieldRules,
  type Kind,
} from '../checks/fields.ts';
import { listOf, isText, oneOf, range, STRING, SWITCH, TEXT, TEXTS } from '../checks/kinds.ts';
import { isName } from '../checks/names.ts';
import { APPROVAL_TIMEOUT_RULE, CACHE_RULE } from '../tool/tool-problems.ts';

const CODE = 'mcp_option';

/** A text, or the name of a variable. */
const VALUES: Kind = {
  wanted: 'to be an object of texts or { env: NAME }',
  fits: (value) => isPlainObject(value) && Object.values(value).every(isValue),
};

const APPROVAL: Kind = {
  wanted: "to be 'never', 'destructive', 'always' or a function",
  fits: (value) =>
    ['never', 'destructive', 'always'].includes(value as string) || typeof value === 'function',
  advice: 'Choose one of them.',
};

const OBJECT: Kind = { wanted: 'to be an object', fits: isPlainObject };

const FIELDS: FieldRules = {
  name: nameProblems,
  url: [TEXT, urlProblems],
  command: TEXT,
  args: { wanted: 'to be a list of texts', fits: listOf((item) => typeof item === 'string') },
  env: VALUES,
  cwd: TEXT,
  headers: [VALUES, headerProblems],
  auth: authProblems,
  prefix: {
    wanted: 'to be at most 40 letters, digits, `_` or `-`',
    fits: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{0,40}$/.test(value),
  },
  tools: { ...OBJECT, fields: { allow: TEXTS, deny: TEXTS } },
  overrides: [OBJECT, overrideProblems],
  approval: APPROVAL,
  pin: TEXT,
  resources: SWITCH,
  prompts: SWITCH,
  instructions: SWITCH,
  optional: SWITCH,
  scope: oneOf('worker', 'run'),
  maxConcurrent: range(1),
  idleMs: range(1),
  timeoutMs: range(1),
  connectTimeoutMs: range(1),
};

const OVERRIDE_FIELDS: FieldRules = {
  name: { wanted: 'to be a tool name', fits: isName, advice: 'Rename it.' },
  description: TEXT,
  policy: STRING,
  effect: oneOf('read', 'idempotent', 'once'),
  local: SWITCH,
  timeoutMs: range(1),
  retry: { ...OBJECT, fields: { attempts: range(1), initialMs: range(1), factor: range(1) } },
  approval: APPROVAL,
  approvalTimeoutMs: APPROVAL_TIMEOUT_RULE,
  cache: CACHE_RULE,
  maxResultBytes: range(1, 4_194_304),
  sequential: SWITCH,
  search: {
    ...OBJECT,
    fields: { domain: TEXT, categories: TEXTS, keywords: TEXTS, queries: TEXTS },
  },
  questions: oneOf('decline'),
};

/** All problems of the options, in the order of the fields. */
export function serverProblems(options: object): readonly UsageProblem[] {
  return [
    ...transportProblems(options),
    ...fieldProblems(options, FIELDS, { code: CODE, owner: '`mcpServer`' }),
    ...localProblems(options),
  ];
}

/** A local call is made within a workflow task, which has no time to start a process. */
function localProblems(options: object): readonly UsageProblem[] {
  const { command, overrides } = options as {
    readonly command?: unknown;
    readonly overrides?: unknown;
  };
  if (command === undefined || !isPlainObject(overrides)) return [];
  return Object.entries(overrides)
    .filter(([, override]) => isPlainObject(override) && override['local'] === true)
    .map(([tool]) => {
      const what = `no \`overrides.${tool}.local\` beside \`command\``;
      return expected(CODE, what, 'true', 'Remove it, or reach the server by `url`.');
    });
}

function transportProblems(options: object): readonly UsageProblem[] {
  const { url, command } = options as { readonly url?: unknown; readonly command?: unknown };
  if ((url === undefined) !== (command === undefined)) return foreignProblems(options);
  const isNone = url === undefined;
  const advice = isNone ? 'Give one.' : 'Remove one.';
  return [expected('mcp_transport', '`url` or `command`', isNone ? 'neither' : 'both', advice)];
}

/** Options of the transport that the server does not have. */
function foreignProblems(options: object): readonly UsageProblem[] {
  const isHttp = (options as { readonly url?: unknown }).url !== undefined;
  const foreign = isHttp ? ['args', 'env', 'cwd'] : ['headers', 'auth'];
  return foreign
    .filter((field) => (options as { readonly [field: string]: unknown })[field] !== undefined)
    .map((field) => {
      const what = `no \`${field}\` beside \`${isHttp ? 'url' : 'command'}\``;
      return expected('mcp_transport', what, 'one', 'Remove it.');
    });
}

function nameProblems(name: unknown): readonly UsageProblem[] {
  if (typeof name === 'string' && /^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name)) return [];
  const what = '`name` to be a letter and up to 31 letters, digits, `_` or `-`';
  return [expected('mcp_name', what, shownName(name), 'Rename it.')];
}

/** Hosts of this machine, to which http is safe. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function urlProblems(url: unknown): readonly UsageProblem[] {
  if (url === undefined) return [];
  const text = typeof url === 'string' ? url : shown(url);
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe =
    parsed?.protocol === 'https:' ||
    (parsed?.protocol === 'http:' && LOOPBACK.test(parsed.hostname));
  if (isSafe && parsed.username === '' && parsed.password === '') return [];
  if (isSafe) {
    const what = '`url` to be without a user and a password';
    return [expected('mcp_secret', what, 'one with them', 'Use `auth`.')];
  }
  const what = '`url` to be https, or http on this machine';
  return [expected('mcp_url', what, shownName(redact(text)))];
}

function isVariable(value: unknown): boolean {
  return isPlainObject(value) && isText(value['env']) && Object.keys(value).length === 1;
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' || isVariable(value);
}

/** Headers that hold secrets, which do not belong into a definition. */
const SECRET_HEADER = /authorization|cookie|token|secret|api[-_]?key/i;

function headerProblems(headers: unknown): readonly UsageProblem[] {
  const found = Object.entries(Object(headers) as object);
  return found
    .filter(([name, value]) => SECRET_HEADER.test(name) && typeof value === 'string')
    .map(([name]) => secretProblem(`headers.${name}`));
}

function secretProblem(field: string): UsageProblem {
  const what = `\`${field}\` to be { env: NAME }`;
  return expected('mcp_secret', what, 'a text', 'Name an environment variable.');
}

function authProblems(auth: unknown): readonly UsageProblem[] {
  if (auth === undefined || typeof auth === 'function') return [];
  if (isPlainObject(auth) && auth['bearer'] !== undefined) {
    return [
      ...variableProblems('auth.bearer', auth['bearer']),
      ...unknownOptions(auth, ['bearer'], '`auth`'),
    ];
  }
  if (isPlainObject(auth) && isPlainObject(auth['clientCredentials'])) {
    const given = auth['clientCredentials'];
    const within = 'auth.clientCredentials.';
    return [
      ...unknownOptions(auth, ['clientCredentials'], '`auth`'),
      ...variableProblems(`${within}clientSecret`, given['clientSecret']),
      ...fieldProblems(given, CREDENTIALS, {
        code: CODE,
        within,
        owner: '`auth.clientCredentials`',
      }),
    ];
  }
  const what = '`auth` to be { bearer }, { clientCredentials } or a function';
  return [expected(CODE, what, 'something else')];
}

const CREDENTIALS: FieldRules = {
  clientId: { wanted: 'to be a text or { env: NAME }', fits: isValue, required: true },
  clientSecret: [],
  scope: TEXT,
  issuer: {
    wanted: 'to be the URL of an authorization server',
    fits: (value) => typeof value === 'string' && URL.canParse(value),
  },
};

function variableProblems(field: string, value: unknown): readonly UsageProblem[] {
  if (isVariable(value)) return [];
  if (typeof value === 'string') return [secretProblem(field)];
  // What was given may hold the secret, so the message does not show it.
  const got = value === undefined ? 'none' : 'something else';
  return [expected('mcp_secret', `\`${field}\` to be { env: NAME }`, got)];
}

function overrideProblems(overrides: unknown): readonly UsageProblem[] {
  const entries = Object.entries(Object(overrides ?? {}) as object);
  return entries.flatMap(([tool, override]: [string, unknown]) => {
    const field = `overrides.${tool}`;
    if (!isPlainObject(override)) {
      return [expected(CODE, `\`${field}\` to be an object`, shown(override))];
    }
    const naming = { code: CODE, within: `${field}.`, owner: `\`${field}\`` } as const;
    return fieldProblems(override, OVERRIDE_FIELDS, naming);
  });
}
