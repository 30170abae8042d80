/**
 * One Temporal development server for all tests of the project `server`: on a free port, with a
 * database in a folder of its own, stopped at the end however the run ends. Tests get it by
 * `inject('temporal')`.
 */
import type { TestProject } from 'vitest/node';
import { startTestServer } from './test-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of this test run: `{ address: '127.0.0.1:41233', namespace: 'default' }`. */
    readonly temporal: { readonly address: string; readonly namespace: string };
  }
}

/** Called by vitest before the first test of the project; what it returns is called at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer();
  project.provide('temporal', { address: server.address, namespace: server.namespace });
  return server.stop;
}
