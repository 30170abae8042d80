import { describe, expect, it } from 'vitest';
import type { Environment } from '../../src/client/connection/temporal-environment.ts';
import { configOf } from '../../src/worker/config/config-of.ts';
import { readConfig } from '../../src/worker/config/config.ts';

/** Keeps the developer's own profile out of the tests. */
const NO_FILE = { TEMPORAL_CONFIG_FILE: '/no/such/temporal.toml' };

function read(env: Environment = {}) {
  return readConfig({ ...NO_FILE, ...env });
}

/** The lines of the one error that `env` gives. */
function problemsOf(env: Environment): readonly string[] {
  try {
    read(env);
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  throw new Error('Expected an error.');
}

const DEFAULTS = {
  temporal: { namespace: 'default', connection: {} },
  taskQueue: 'everloop',
  modelTaskQueue: 'everloop',
  toolTaskQueue: 'everloop',
  dataDir: '.everloop',
  cacheBytes: 67_108_864,
  shutdownGraceMs: 30_000,
  logLevel: 'INFO',
  logFormat: 'text',
  telemetry: {},
};

/** What callbacks are signed with. */
const SECRET = `whsec_${Buffer.alloc(24).toString('base64')}`;

describe('readConfig', () => {
  it('has a default for everything', () => {
    expect(read()).toEqual(DEFAULTS);
  });

  it('takes an empty variable as not set', () => {
    expect(
      read({
        TEMPORAL_ADDRESS: '',
        TEMPORAL_NAMESPACE: ' ',
        EVERLOOP_TASK_QUEUE: '',
        EVERLOOP_CACHE_BYTES: ' ',
        EVERLOOP_LOG_LEVEL: '',
      }),
    ).toEqual(DEFAULTS);
  });

  it('reads every variable', () => {
    const config = read({
      TEMPORAL_ADDRESS: 'temporal.example.com:7233',
      TEMPORAL_NAMESPACE: 'production',
      EVERLOOP_TASK_QUEUE: 'agents',
      EVERLOOP_MODEL_TASK_QUEUE: 'models',
      EVERLOOP_TOOL_TASK_QUEUE: 'tools',
      EVERLOOP_DATA_DIR: '/var/lib/everloop',
      EVERLOOP_CACHE_BYTES: '0',
      EVERLOOP_MAX_CACHED_WORKFLOWS: '0',
      EVERLOOP_SHUTDOWN_GRACE_MS: '5000',
      EVERLOOP_LOG_LEVEL: 'debug',
      EVERLOOP_STREAM_LISTEN: '0.0.0.0:7244',
      EVERLOOP_STREAM_TOKEN: 'sixteen-or-more!',
      EVERLOOP_STREAM_TLS: '/etc/tls/cert.pem:/etc/tls/key.pem',
      EVERLOOP_DEPLOYMENT: 'agents',
      EVERLOOP_BUILD_ID: '4f2a9c1',
      EVERLOOP_HOLD_PATCHES: 'calls-in-order',
      EVERLOOP_CALLBACK_SECRET: `${SECRET} ${SECRET}`,
      EVERLOOP_CALLBACK_HOSTS: 'hooks.example.com, *.internal',
      EVERLOOP_MEDIA_HOSTS: 'files.example.com',
      EVERLOOP_LOG_FORMAT: 'json',
      EVERLOOP_TRACES: 'on',
      EVERLOOP_TRACE_CONTENT: 'events',
      EVERLOOP_METRICS: '0.0.0.0:9464',
      EVERLOOP_METRICS_PUBLIC: '1',
    });

    expect(config).toEqual({
      temporal: { address: 'temporal.example.com:7233', namespace: 'production', connection: {} },
      taskQueue: 'agents',
      modelTaskQueue: 'models',
      toolTaskQueue: 'tools',
      dataDir: '/var/lib/everloop',
      cacheBytes: 0,
      logFormat: 'json',
      telemetry: {
        traces: { content: 'events', sample: 1 },
        metrics: { kind: 'prometheus', host: '0.0.0.0', port: 9464 },
      },
      maxCachedWorkflows: 0,
      shutdownGraceMs: 5_000,
      logLevel: 'DEBUG',
      streamListen: { host: '0.0.0.0', port: 7_244 },
      streamToken: 'sixteen-or-more!',
      streamTls: { cert: '/etc/tls/cert.pem', key: '/etc/tls/key.pem' },
      version: { name: 'agents', build: '4f2a9c1' },
      holdPatches: ['calls-in-order'],
      callbackSecrets: [SECRET, SECRET],
      callbackHosts: ['hooks.example.com', '*.internal'],
      mediaHosts: ['files.example.com'],
    });
  });

  it.each([
    ['0', 0],
    ['3600000', 3_600_000],
    ['Infinity', Infinity],
  ])('lets runs wait for other workers: %s', (text, elsewhereMs) => {
    expect(read({ EVERLOOP_ELSEWHERE_MS: text })).toMatchObject({ elsewhereMs });
    expect(problemsOf({ EVERLOOP_ELSEWHERE_MS: `${text}s` })).toEqual([
      `Expected \`EVERLOOP_ELSEWHERE_MS\` to be a whole number of milliseconds from 0 up, or Infinity, got \`${text}s\`. Correct or unset it.`,
    ]);
  });

  it('refuses a secret of a wrong form without showing it', () => {
    expect(problemsOf({ EVERLOOP_CALLBACK_SECRET: 'hunter2' })).toEqual([
      'Expected `EVERLOOP_CALLBACK_SECRET` to be `whsec_` and 24 to 64 bytes in base64, several with spaces between, got another text. Make one: see docs/callbacks.md.',
    ]);
  });

  it('gives models and tools the queue of the workflows', () => {
    expect(read({ EVERLOOP_TASK_QUEUE: 'agents' })).toMatchObject({
      taskQueue: 'agents',
      modelTaskQueue: 'agents',
      toolTaskQueue: 'agents',
    });
  });

  it('takes a worker without a build as one of no version', () => {
    expect(read({ EVERLOOP_DEPLOYMENT: 'agents' })).toEqual(DEFAULTS);
    expect(read({ EVERLOOP_BUILD_ID: 'v1' }).version).toEqual({ name: 'everloop', build: 'v1' });
  });

  it.each([
    { EVERLOOP_BUILD_ID: 'v:1' },
    { EVERLOOP_DEPLOYMENT: 'a.b' },
    { EVERLOOP_HOLD_PATCHES: 'al' },
  ])('refuses %o', (env) => {
    const [name = ''] = Object.keys(env);
    expect(problemsOf(env)).toEqual([expect.stringContaining(`Expected \`${name}\` to be `)]);
  });

  it('reads API key and TLS as the Temporal CLI does', () => {
    const { temporal } = read({
      TEMPORAL_ADDRESS: 'us-east-1.aws.api.temporal.io:7233',
      TEMPORAL_API_KEY: 'secret',
      TEMPORAL_TLS_SERVER_NAME: 'temporal.example.com',
      TEMPORAL_GRPC_META_TENANT: 'blue',
    });

    expect(temporal.connection).toMatchObject({
      apiKey: 'secret',
      tls: { serverNameOverride: 'temporal.example.com' },
      metadata: { tenant: 'blue' },
    });
  });

  it.each([
    { address: 'localhost:7233', fits: true },
    { address: '[::1]:7233', fits: true },
    { address: 'localhost', fits: false },
    { address: 'http://localhost:7233', fits: false },
    { address: 'localhost:0', fits: false },
    { address: 'localhost:70000', fits: false },
  ])('says that $address fits: $fits', ({ address, fits }) => {
    if (fits) expect(read({ TEMPORAL_ADDRESS: address }).temporal.address).toBe(address);
    else {
      expect(problemsOf({ TEMPORAL_ADDRESS: address })).toEqual([
        `Expected \`TEMPORAL_ADDRESS\` to be host and port like \`localhost:7233\`, got \`${address}\`. Correct it, or unset it to use a server of this machine.`,
      ]);
    }
  });

  it.each([
    { listen: 'off', expected: 'off' },
    { listen: '127.0.0.1:0', expected: { host: '127.0.0.1', port: 0 } },
    { listen: '[::1]:7244', expected: { host: '::1', port: 7_244 } },
  ])('lets workers listen at $listen without a token', ({ listen, expected }) => {
    expect(read({ EVERLOOP_STREAM_LISTEN: listen }).streamListen).toEqual(expected);
  });

  it.each([
    {
      env: { EVERLOOP_STREAM_LISTEN: '0.0.0.0:7244' },
      problem:
        'Expected `EVERLOOP_STREAM_TOKEN` to be set when others can reach 0.0.0.0, got none. Give workers and readers the same one.',
    },
    {
      env: { EVERLOOP_STREAM_LISTEN: '0.0.0.0:7244', EVERLOOP_STREAM_TOKEN: 'short' },
      problem:
        'Expected `EVERLOOP_STREAM_TOKEN` to have at least 16 characters, got 5. Take a longer one.',
    },
    {
      env: { EVERLOOP_STREAM_TOKEN: 'a-token-of-24-characters,short' },
      problem:
        'Expected `EVERLOOP_STREAM_TOKEN` to have at least 16 characters, got 5. Take a longer one.',
    },
    {
      env: { EVERLOOP_STREAM_TOKEN: ',' },
      problem:
        'Expected `EVERLOOP_STREAM_TOKEN` to have at least 16 characters, got 0. Take a longer one.',
    },
    {
      env: { EVERLOOP_STREAM_TOKEN: 'x'.repeat(1_001) },
      problem:
        'Expected `EVERLOOP_STREAM_TOKEN` to have at most 1000 characters, got 1001. Take a shorter one.',
    },
    {
      env: { EVERLOOP_STREAM_TOKEN: 'sechzehn-schlüssel' },
      problem:
        'Expected `EVERLOOP_STREAM_TOKEN` to have only characters of ASCII, got others. Take letters and digits: it is sent in a header.',
    },
    {
      env: { EVERLOOP_STREAM_TLS: '/etc/tls/cert.pem' },
      problem:
        'Expected `EVERLOOP_STREAM_TLS` to be the files of a certificate and its key, such as cert.pem:key.pem, got `/etc/tls/cert.pem`. Correct or unset it.',
    },
    {
      env: { EVERLOOP_STREAM_LISTEN: '7244' },
      problem:
        'Expected `EVERLOOP_STREAM_LISTEN` to be `off`, or an interface and a port such as 0.0.0.0:7244, got `7244`. Correct or unset it.',
    },
    {
      env: { EVERLOOP_STREAM_LISTEN: 'localhost:70000' },
      problem:
        'Expected `EVERLOOP_STREAM_LISTEN` to be `off`, or an interface and a port such as 0.0.0.0:7244, got `localhost:70000`. Correct or unset it.',
    },
  ])('refuses $env', ({ env, problem }) => {
    expect(problemsOf(env)).toEqual([problem]);
  });

  it.each([
    ['cert.pem:key.pem', 'cert.pem', 'key.pem'],
    ['C:\\tls\\cert.pem:C:\\tls\\key.pem', 'C:\\tls\\cert.pem', 'C:\\tls\\key.pem'],
    ['c:/key.pem', 'c', '/key.pem'],
  ])('reads the files of %s', (text, cert, key) => {
    expect(read({ EVERLOOP_STREAM_TLS: text }).streamTls).toEqual({ cert, key });
  });

  it('reads the names of secrets, whose values it hides', () => {
    const env = { EVERLOOP_SECRETS: 'STRIPE_KEY, NOT_SET', STRIPE_KEY: 'a-key-of-a-service' };
    const { secrets } = read(env);

    expect(secrets?.unset).toEqual(['NOT_SET']);
    expect(secrets?.hide('with a-key-of-a-service')).toBe('with [redacted]');
    expect(problemsOf({ EVERLOOP_SECRETS: 'PIN', PIN: '1234' })).toEqual([
      'Expected the value of secret `PIN` to have 8 to 8192 characters, got 4. Take another, or take the name out of `secrets`.',
    ]);
  });

  it('takes the names of the options before those of the environment', () => {
    const env = { ...NO_FILE, EVERLOOP_SECRETS: 'A', A: 'first-of-values', B: 'second-of-values' };
    const { secrets } = configOf({ env, secrets: ['B'] });

    expect(secrets?.hide('first-of-values second-of-values')).toBe('first-of-values [redacted]');
    expect(() => configOf({ env, secrets: ['no name'] })).toThrow(
      'Expected `secrets` to be names of environment variables',
    );
  });

  it('reports everything that is wrong at once', () => {
    const problems = problemsOf({
      TEMPORAL_ADDRESS: 'localhost',
      TEMPORAL_TLS_CLIENT_CERT_PATH: '/a',
      TEMPORAL_TLS_CLIENT_CERT_DATA: 'b',
      EVERLOOP_TASK_QUEU: 'agents',
      EVERLOOP_TOOL_TASK_QUEUE: 'x'.repeat(1_001),
      EVERLOOP_CACHE_BYTES: '64MB',
      EVERLOOP_MAX_CACHED_WORKFLOWS: '-1',
      EVERLOOP_SHUTDOWN_GRACE_MS: '3600001',
      EVERLOOP_LOG_LEVEL: 'loud',
    });

    expect(problems).toEqual([
      'Expected `EVERLOOP_TASK_QUEU` to be a variable of Everloop, got an unknown one. Did you mean `EVERLOOP_TASK_QUEUE`?',
      'Expected `TEMPORAL_…` to be variables that Temporal understands, got "Cannot specify both client_cert_path and client_cert_data". See https://docs.temporal.io/develop/environment-configuration.',
      'Expected `EVERLOOP_TOOL_TASK_QUEUE` to be a name of at most 1000 bytes, got 1001. Shorten it.',
      'Expected `EVERLOOP_CACHE_BYTES` to be a whole number of bytes from 0 up, got `64MB`. Correct or unset it.',
      'Expected `EVERLOOP_MAX_CACHED_WORKFLOWS` to be a whole number of workflows from 0 to 1000000, got `-1`. Correct or unset it.',
      'Expected `EVERLOOP_SHUTDOWN_GRACE_MS` to be a whole number of milliseconds from 0 to 3600000, got `3600001`. Correct or unset it.',
      'Expected `EVERLOOP_LOG_LEVEL` to be one of TRACE, DEBUG, INFO, WARN, ERROR, got `loud`. Correct or unset it.',
    ]);
  });

  it('[R6] starts with the variables of a newer version, and warns of them once', () => {
    const warned: (readonly string[])[] = [];
    const env = { ...NO_FILE, EVERLOOP_TELEPORT: 'on', EVERLOOP_WARP_MS: '7' };

    expect(readConfig(env, (names) => warned.push(names))).toEqual(DEFAULTS);
    expect(warned).toEqual([['EVERLOOP_TELEPORT', 'EVERLOOP_WARP_MS']]);
  });

  it('throws a usage error whose problems have a code', () => {
    expect(() => read({ EVERLOOP_CACHE_BYTES: 'x' })).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'environment',
        problems: [expect.objectContaining({ code: 'environment' }) as unknown],
      }) as Error,
    );
  });
});

it('EVERLOOP_GC is on or off', () => {
  expect(read({ EVERLOOP_GC: 'off' })).toMatchObject({ gc: false });
  expect(read({ EVERLOOP_GC: 'on' })).toMatchObject({ gc: true });
  expect(problemsOf({ EVERLOOP_GC: 'no' })).toEqual([
    'Expected `EVERLOOP_GC` to be `on` or `off`, got `no`. Correct or unset it.',
  ]);
});

it('EVERLOOP_BLOBS names a folder', () => {
  expect(read({ EVERLOOP_BLOBS: 'dir:/tmp/blobs' }).protection?.blobs?.place).toBe(
    'dir:/tmp/blobs',
  );
  expect(problemsOf({ EVERLOOP_BLOBS: '/tmp/blobs' })).toEqual([
    'Expected `EVERLOOP_BLOBS` to be `dir:/path` or `s3://bucket/prefix`, got "/tmp/blobs". Correct or unset it.',
  ]);
});
