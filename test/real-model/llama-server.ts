/** llama.cpp's server with a small model, on a free port of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { findModel } from './programs.ts';

/** Tokens of one request and its reply: small, so that a test can exceed them. */
export const CONTEXT_TOKENS = 4_096;

/** A server that answers. */
export interface LlamaServer {
  /** `http://127.0.0.1:41233` */
  readonly url: string;
  stop(): Promise<void>;
}

/** How long the server may take to load the weights. */
const LOAD_MS = 120_000;

/** Lines of its log that the error of a start shows. */
const SHOWN_LINES = 20;

/** Starts the server, once it is found or built; it ends with this process at the latest. */
export async function startLlamaServer(): Promise<LlamaServer> {
  const { server, weights } = await findModel();
  const port = await freePort();
  const slots = 2;
  const settings = {
    model: weights,
    host: '127.0.0.1',
    port,
    parallel: slots,
    'ctx-size': slots * CONTEXT_TOKENS,
    // Two would wait for each other in a loop wherever something else runs.
    threads: 1,
    seed: 1,
    temp: 0,
    'chat-template-file': fileURLToPath(new URL('tools.jinja', import.meta.url)),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(server, [...args, '--jinja'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const log: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log.push(...text.split('\n'));
    log.splice(0, log.length - SHOWN_LINES);
  });
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    child.kill();
    await exited;
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await Promise.race([
      untilLoaded(url),
      exited.then(() => Promise.reject(new Error('it has ended'))),
    ]);
  } catch (error) {
    child.kill();
    throw new Error(
      `Expected llama.cpp's server to start, got: ${String(error)}\n${log.join('\n')}`,
    );
  }
  return { url, stop };
}

async function untilLoaded(url: string): Promise<void> {
  const end = Date.now() + LOAD_MS;
  while (Date.now() < end) {
    const isUp = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await sleep(200);
  }
  throw new Error(`it has not loaded its model within ${LOAD_MS / 1_000} s`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
