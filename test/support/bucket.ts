/** A bucket of `s3rver` in this process, which can be slow, refuse, and go away. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import type { S3Options } from '../../src/protection/blobs/s3-bucket.ts';

/** How the bucket answers: as it should, never, or with 503. */
type Mood = 'well' | 'silent' | 'unavailable';

/** A bucket at an address of this machine. */
export interface TestBucket {
  /** `s3://blobs/some/prefix`. */
  readonly place: string;
  readonly options: S3Options;
  /** Requests so far, as `GET` and a key. */
  readonly requests: readonly string[];
  be(mood: Mood): void;
  /** Closes its port, until `back`. */
  leave(): Promise<void>;
  back(): Promise<void>;
  close(): Promise<void>;
}

/** Opens an empty bucket. */
export async function openTestBucket(): Promise<TestBucket> {
  const directory = await mkdtemp(join(tmpdir(), 'everloop-bucket-'));
  const configureBuckets = [{ name: 'blobs' }];
  const store = new S3rver({ directory, silent: true, resetOnClose: false, configureBuckets });
  await store.configureBuckets();
  const answer = store.callback();
  const requests: string[] = [];
  let mood: Mood = 'well';
  const listener: RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (mood === 'unavailable') response.writeHead(503).end();
    if (mood === 'well') answer(request, response);
  };
  let server = await listen(listener, 0);
  const { port } = server.address() as AddressInfo;
  return {
    place: 's3://blobs/some/prefix',
    options: {
      endpoint: `http://127.0.0.1:${port}`,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
    requests,
    be: (next) => {
      mood = next;
    },
    leave: () => stop(server),
    back: async () => {
      server = await listen(listener, port);
    },
    close: async () => {
      await stop(server);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function listen(listener: RequestListener, port: number): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
}
