/** Packages that a process has loaded after each thing that it did: what is not needed stays out. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs in Node's thread of loaders: reports each module that is loaded. */
const HOOKS = `
  let port;
  export const initialize = (given) => { port = given; };
  export const load = (url, context, next) => { port.postMessage(url); return next(url, context); };`;

/** What the process does, one after the other: it runs a command line, or imports an entry. */
const STEPS = {
  version: "runCli(['--version'])",
  help: "runCli(['ps', '--help'])",
  worker: "runCli(['worker', '--help'])",
  program: "runCli(['lisp', 'run', 'no-such-file'])",
  testing: "import('./src/testing.ts')",
  everloop: "import('./src/index.ts')",
  workers: "import('./src/worker.ts')",
};

type Packages = Readonly<Record<keyof typeof STEPS, readonly string[]>>;

/** The names of the packages that the process holds after each step, of ESM and CommonJS. */
async function packagesAfterSteps(): Promise<Packages> {
  const steps = Object.entries(STEPS).map(
    ([name, code]) => `
    await ${code};
    found['${name}'] = packages();`,
  );
  const code = `
    import { createRequire, register } from 'node:module';
    import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
    const { cache } = createRequire(import.meta.url);
    const { port1, port2 } = new MessageChannel();
    port1.unref();
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}), {
      data: port2,
      transferList: [port2],
    });
    const urls = [];
    const packages = () => {
      for (let got; (got = receiveMessageOnPort(port1)); ) urls.push(got.message);
      const names = [...urls, ...Object.keys(cache)].flatMap(
        (path) => /.*node_modules.((?:@[^/\\\\]+.)?[^/\\\\]+)/.exec(path)?.[1] ?? [],
      );
      // What this file is run with is not the program's.
      return [...new Set(names)].filter((name) => name !== 'tsx' && name !== 'esbuild').sort();
    };
    const quiet = { write: () => true };
    const io = { stdout: quiet, stderr: quiet, env: {}, cwd: process.cwd() };
    const cli = await import('./src/cli/run-cli.ts');
    const runCli = (argv) => cli.runCli(argv, io);
    const found = {};
    ${steps.join('')}
    process.stdout.write(JSON.stringify(found));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', code],
    { cwd: ROOT },
  );
  return JSON.parse(stdout) as Packages;
}

/** Packages that only a part of all processes needs, such as those with servers, traces or S3. */
const FOR_SOME = /^@modelcontextprotocol|^@opentelemetry\/(?!api)|^@aws-sdk|^zod$/;

let after: Packages;

beforeAll(async () => {
  after = await packagesAfterSteps();
}, 60_000);

it('a command line loads the packages of its own command only', () => {
  expect(after.version).toEqual(['commander']);
  expect(after.help).toEqual(['commander']);
  expect(after.worker).toEqual(['commander']);
  expect(after.program).toEqual(['commander']);
});

it('everloop/testing loads nothing of Temporal, and an entry that does is told apart', () => {
  expect(after.testing.filter((name) => name.startsWith('@temporalio/'))).toEqual([]);
  expect(after.everloop).toContain('@temporalio/client');
});

it('no entry loads what only some agents and workers need', () => {
  expect(after.testing.filter((name) => FOR_SOME.test(name))).toEqual([]);
  expect(after.everloop.filter((name) => FOR_SOME.test(name))).toEqual([]);
  expect(after.everloop).not.toContain('@temporalio/worker');
  expect(after.workers.filter((name) => FOR_SOME.test(name))).toEqual([]);
  expect(after.workers).toContain('@temporalio/worker');
});
