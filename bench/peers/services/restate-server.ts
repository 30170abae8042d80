/** The server of Restate, a binary that an npm package brings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Places } from '../side.ts';
import { freePort } from './free-port.ts';
import { Unavailable, type Service } from './service.ts';

const READY_TRIES = 300;

/** Starts it with the data in `folder`. */
export async function startRestate(
  folder: string,
): Promise<Service<NonNullable<Places['restate']>>> {
  const data = join(folder, 'restate');
  mkdirSync(data, { recursive: true });
  const [ingress, admin, node, port] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const log = openSync(join(folder, 'restate.log'), 'a');
  const server = spawn(findBinary(), ['--no-logo', '--listen-mode', 'tcp'], {
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      RESTATE_BASE_DIR: data,
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
    },
  });
  closeSync(log);
  const ended = once(server, 'exit');
  const place = {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    port,
  };
  await waitFor(`${place.admin}/health`);
  await waitFor(`${place.ingress}/restate/health`);
  return {
    place,
    stop: async () => {
      server.kill('SIGTERM');
      await ended;
    },
  };
}

async function waitFor(url: string): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok === true) return;
    await sleep(100);
  }
  throw new Error(`Expected Restate to answer at ${url} within 30 s.`);
}

function findBinary(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const file = join(folder, 'bin', 'restate-server');
    if (existsSync(file)) return file;
  } catch {
    // Said below.
  }
  throw new Unavailable(`there is no package ${name}`);
}
