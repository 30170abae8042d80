/** The command `codec`: decrypts for Temporal's web UI and CLI. */
import type { Command } from 'commander';
import { CODEC_PORT, openCodecServer, type CodecServer } from '../../codec-server/codec-server.ts';
import { DEFAULT_UI_PORT } from '../../worker/server/server-options.ts';
import { defined } from '../../core/base/defined.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { collect, readListen } from '../terminal/arguments.ts';
import {
  configFor,
  print,
  untilInterrupted,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { fieldsText } from '../terminal/text.ts';

interface CodecOptions {
  readonly listen: string;
  readonly origin: readonly string[];
  readonly allowHost: readonly string[];
}

const HOST = '127.0.0.1';

/** Adds `codec`. */
export function addCodecCommand(program: Command, act: CommandRunner): void {
  const codec = program.command('codec').summary("decrypt for Temporal's web UI and CLI");
  codec
    .command('serve')
    .summary('start a codec server')
    .description(
      "Starts a codec server, which decrypts payloads for Temporal's web UI and CLI with the keys of " +
        'the environment, until Ctrl-C. Who reaches it can read what the keys protect: off this ' +
        'machine it needs EVERLOOP_CODEC_TOKEN, and a proxy with TLS in front of it.',
    )
    .option('--listen <address>', 'HOST:PORT; port 0: any', `${HOST}:${CODEC_PORT}`)
    .option(
      '--origin <origin>',
      `origin of a web UI, such as https://cloud.temporal.io; repeatable (default: the UI of everloop dev)`,
      collect,
      [],
    )
    .option(
      '--allow-host <name>',
      'further name under which it is reached; repeatable',
      collect,
      [],
    )
    .action((options: CodecOptions) => act((cli) => serve(cli, options)));
}

async function serve(cli: Cli, { listen, origin, allowHost }: CodecOptions): Promise<number> {
  const { codecToken: token, protection } = await configFor(cli);
  if (protection === undefined) {
    throw new UsageError(
      'keys_missing',
      'Expected keys to decrypt with, got none. Set EVERLOOP_KEYS to the keys of the workers.',
    );
  }
  const { host, port } = readListen('--listen', listen);
  const origins = origin.length > 0 ? origin : originsOf(DEFAULT_UI_PORT);
  const server = await openCodecServer({
    protection,
    host,
    port,
    origins,
    allowedHosts: allowHost,
    ...defined({ token }),
  });
  try {
    const { url } = server;
    const keys = protection.keys?.ids ?? [];
    const note = isLoopback(host) ? '' : ' (plain HTTP: put a proxy with TLS in front of it)';
    const text = [
      fieldsText([
        ['codec server', `${url}${note}`],
        ['keys', keys.join(', ') || 'none'],
        ['web UIs', origins.join(', ')],
      ]),
      '',
      `Ready. Try: temporal workflow show --workflow-id ID --codec-endpoint ${url} · Ctrl-C stops.`,
    ].join('\n');
    return await untilInterrupted(
      cli,
      () => {
        print(cli, text, { url, keys, origins });
        return new Promise<number>(() => undefined);
      },
      () => EXIT_CODES.success,
    );
  } finally {
    await server.close();
  }
}

/**
 * The codec server of `everloop dev`, at the usual port or any free one; undefined without keys.
 * `uiPort`: of the web UI that may ask it.
 */
export async function openOwnCodec(
  cli: Cli,
  uiPort: number | undefined,
): Promise<CodecServer | undefined> {
  const { protection } = await configFor(cli);
  if (protection === undefined) return undefined;
  const origins = uiPort === undefined ? [] : originsOf(uiPort);
  const options = { protection, host: HOST, origins };
  return openCodecServer({ ...options, port: CODEC_PORT }).catch(() =>
    openCodecServer({ ...options, port: 0 }),
  );
}

/** The origins of a web UI on this machine: people type either name. */
function originsOf(uiPort: number): readonly string[] {
  return [`http://127.0.0.1:${uiPort}`, `http://localhost:${uiPort}`];
}
