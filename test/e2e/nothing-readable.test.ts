/**
 * With keys, nothing of what a run holds is readable where it is stored: each place of a run gets a
 * word of its own, and all bytes of the service, the archive and the log are searched for it. The
 * same runs without keys show that the words are really there.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Runtime, type LogEntry } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { clientOf, openConnection } from '../../src/client/connection/open-connection.ts';
import { createEverloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { NO_PROTECTION, protectionOf, type Protection } from '../../src/protection/protection.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { workerLogger } from '../../src/worker/serve/worker-log.ts';
import { eventually } from '../support/eventually.ts';
import { readableFields, readableRows } from '../support/readable-fields.ts';
import { secretAgents } from '../support/secret-agents.ts';
import { placesIn, placesInFolder, secret, SECRET_PLACES } from '../support/secrets.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { storedRuns, type StoredRuns } from '../support/stored-bytes.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const KEYS = protectionOf(
  { keys: keyRing({ current: 'k1', keys: { k1: randomBytes(32) } }) },
  undefined,
);

const logged: string[] = [];
let server: TestServer;
let stage: Stage;
beforeAll(async () => {
  const write = (entry: LogEntry): void => void logged.push(allOf(entry));
  // The process may have the runtime of an earlier file.
  await Runtime.instance().shutdown();
  Runtime.install({
    shutdownSignals: [],
    logger: workerLogger({ level: 'DEBUG', hiding: () => ({ hidesFailures: true }), write }),
  });
  server = await startTestServer();
  stage = await openStage(server);
});
afterAll(async () => {
  await stage?.close();
  await server?.stop();
  await Runtime.instance().shutdown();
});

describe('[protection] the places of a run', () => {
  it('all have their word without keys, and none of it is stored with them', async () => {
    const open = await openStage(inject('temporal'));
    const plain = await play(open, NO_PROTECTION);
    await open.close();
    expect(SECRET_PLACES.length).toBeGreaterThanOrEqual(40);
    expect(SECRET_PLACES.filter((place) => !placesIn(plain.stored.bytes).includes(place))).toEqual(
      [],
    );
    logged.length = 0;

    const kept = await play(stage, KEYS);

    expect(placesIn(kept.stored.bytes)).toEqual([]);
    expect(placesInFolder(server.dataDir)).toEqual([]);
    expect(placesInFolder(kept.archiveDir)).toEqual([]);
    expect(placesIn(logged.join('\n'))).toEqual([]);
    // What a client with the key reads of it.
    expect(kept.read).toEqual(plain.read);
    const fields = readableFields(kept.stored.messages);
    expect(readableRows(fields)).toEqual({ rows: readableTable(), others: [] });
    // The texts of failures are encrypted beside these.
    const messages = [...fields].filter(([path]) => path.endsWith('failure.message'));
    expect(new Set(messages.map(([, text]) => text))).toEqual(new Set(['Encoded failure']));
    const attributes = [...fields.keys()].flatMap(
      (path) => /indexedFields\.(\w+)/.exec(path)?.slice(1) ?? [],
    );
    expect([...new Set(attributes)].toSorted()).toEqual([
      'BuildIds',
      'EverloopAgent',
      'EverloopState',
      'TemporalChangeVersion',
    ]);
  });
});

/** The first column of the table of what stays readable. */
function readableTable(): readonly string[] {
  const page = readFileSync(new URL('../../docs/protection.md', import.meta.url), 'utf8');
  const [, table = ''] = /## What stays readable\n([^]*?)\n## /.exec(page) ?? [];
  const rows = table.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((line) => line.split('|')[1]?.trim().toLowerCase() ?? '');
}

/** What came of the runs of all secret agents. */
interface Played {
  readonly stored: StoredRuns;
  readonly archiveDir: string;
  readonly read: readonly unknown[];
}

async function play(at: Stage, protection: Protection): Promise<Played> {
  const taskQueue = `secret-${randomUUID()}`;
  const archiveDir = `${at.folder}/archive-${taskQueue}`;
  const archive = createDirectoryArchive(archiveDir, protection);
  await at.serve(secretAgents, { taskQueue, archive, protection });
  const { connection, close } = await openConnection({ address: at.address });
  const client = clientOf(connection, at.namespace, protection);
  const everloop = createEverloop({ client, taskQueue, archive });
  const vault = await everloop.start('vault', {
    task: secret('task'),
    context: {
      [secret('context-name')]: secret('context-value'),
      nested: { deep: [secret('context-nested')] },
      _key: secret('hidden-context'),
    },
    history: [
      { role: 'user', text: secret('history-question') },
      { role: 'assistant', text: secret('history-answer') },
    ],
    conversation: secret('conversation'),
  });
  const doomed = await everloop.start('doomed', { task: 'Fail.' });
  const patient = await everloop.start('patient', { task: 'Wait.' });
  await helpOut(vault);
  await pendingOf(patient, 1);
  await patient.cancel(secret('cancel-message'));
  const steps = [await vault.result(), await doomed.result(), await patient.result()];
  const transcript = await vault.transcript();
  const read = [
    steps.map(({ status, value, message }) => ({ status, value, message })),
    transcript.flatMap(({ messages }) => messages.map(({ role }) => role)),
  ];
  const stored = await storedRuns(connection, at.namespace, taskQueue);
  await close();
  return { stored, archiveDir, read };
}

/** Does what a person does for a run of `vault`. */
async function helpOut(run: RunHandle): Promise<void> {
  await run.send(secret('sent-message'));
  const items = await pendingOf(run, 2);
  const approval = items.find(({ kind }) => kind === 'approval');
  const outside = items.find(({ kind }) => kind === 'external');
  await run.decide(approval?.id ?? '', { deny: secret('denial') });
  await run.answer(outside?.id ?? '', secret('outside-result'));
  await pendingOf(run, 2);
  await run.answer('q1', 1);
  await run.answer('q2', secret('reply-of-person'));
}

async function pendingOf(
  run: RunHandle,
  count: number,
): Promise<Awaited<ReturnType<RunHandle['pending']>>> {
  await eventually(
    `${count} items that wait`,
    async () => (await run.pending()).length === count,
    30_000,
  );
  return run.pending();
}

/** Everything that a line of the log could show, errors with their stacks too. */
function allOf({ message, meta }: LogEntry): string {
  return JSON.stringify({ message, meta }, (_name, value: unknown) =>
    value instanceof Error
      ? {
          type: Reflect.get(value, 'type'),
          text: `${value.stack} ${value.message}`,
          because: value.cause,
        }
      : typeof value === 'bigint'
        ? String(value)
        : value,
  );
}
