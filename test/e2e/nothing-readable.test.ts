/**
 * With keys, nothing of what a run holds is readable where it is stored: each place of a run gets a
 * word of its own, and all bytes of the service, the archive, the blobs, the log and the traces are
 * searched for it. The same runs without keys show that the words are really there. A value that the
 * worker hides is nowhere in either.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { Runtime, type LogEntry } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { clientOf, openConnection } from '../../src/client/connection/open-connection.ts';
import { createEverloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { NO_PROTECTION, protectionOf, type Protection } from '../../src/protection/protection.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { secretValues } from '../../src/protection/secret-values.ts';
import type { TraceContent } from '../../src/telemetry/content.ts';
import { logLine } from '../../src/worker/serve/log-line.ts';
import { workerLogger } from '../../src/worker/serve/worker-log.ts';
import { eventually } from '../support/eventually.ts';
import { readableFields, readableRows } from '../support/readable-fields.ts';
import { HIDDEN_VALUE, secretAgents } from '../support/secret-agents.ts';
import {
  hasInFolder,
  placesIn,
  placesInFolder,
  secret,
  SECRET_PLACES,
} from '../support/secrets.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { storedRuns, type StoredRuns } from '../support/stored-bytes.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { startReceiver, type TraceReceiver } from '../support/trace-receiver.ts';

const { hide } = secretValues(['VALUE'], { VALUE: HIDDEN_VALUE }, () => undefined);

const logged: string[] = [];
let server: TestServer;
let stage: Stage;
let receiver: TraceReceiver;
beforeAll(async () => {
  const write = (entry: LogEntry): void => void logged.push(allOf(entry), logLine(entry));
  // The process may have the runtime of an earlier file.
  await Runtime.instance().shutdown();
  Runtime.install({
    shutdownSignals: [],
    logger: workerLogger({
      level: 'DEBUG',
      hiding: () => ({ hidesFailures: true, hide }),
      write,
    }),
  });
  server = await startTestServer();
  stage = await openStage(server);
  receiver = await startReceiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
});
afterAll(async () => {
  await stage?.close();
  await server?.stop();
  await receiver?.close();
  vi.unstubAllEnvs();
  await Runtime.instance().shutdown();
});

describe('[protection] the places of a run', () => {
  it('all have their word without keys, and none of it is stored with them', async () => {
    const open = await openStage(inject('temporal'));
    const plain = await play(open, NO_PROTECTION, 'full');
    const archived = placesInFolder(plain.archiveDir);
    await open.close();
    expect(SECRET_PLACES.length).toBeGreaterThanOrEqual(40);
    expect(SECRET_PLACES.filter((place) => !placesIn(plain.stored.bytes).includes(place))).toEqual(
      [],
    );
    expect(archived).toEqual(expect.arrayContaining(['reply-of-person', 'answer']));
    // Spans with content have what models and tools read, and never the value.
    expect(placesIn(plain.traced)).toEqual(expect.arrayContaining(['task', 'tool-result']));
    const everywhere = [plain.stored.bytes, plain.traced, logged.join('\n')];
    expect(everywhere.filter((bytes) => hasValue(bytes))).toEqual([]);
    logged.length = 0;

    const blobDir = `${stage.folder}/blobs`;
    const keys = keyRing({ current: 'k1', keys: { k1: randomBytes(32) } });
    const kept = await play(stage, protectionOf({ keys, blobs: directoryBlobs(blobDir) }), 'off');

    expect(placesIn(kept.stored.bytes)).toEqual([]);
    expect(placesInFolder(server.dataDir)).toEqual([]);
    // The files of the service have the runs, under names that stay readable.
    expect(hasInFolder(server.dataDir, kept.taskQueue)).toBe(true);
    expect(placesInFolder(kept.archiveDir)).toEqual([]);
    expect(placesInFolder(blobDir)).toEqual([]);
    expect(readdirSync(blobDir, { recursive: true }).length).toBeGreaterThan(0);
    expect(kept.traced).toContain('invoke_agent');
    // An id that the application chooses; it joins the traces of a conversation.
    expect(placesIn(kept.traced)).toEqual(['conversation']);
    expect(placesIn(logged.join('\n'))).toEqual([]);
    // The SDK says this with the whole failure.
    expect(logged.some((line) => line.includes('Workflow failed'))).toBe(true);
    // What a client with the key reads of it.
    expect(kept.read).toEqual(plain.read);
    const fields = readableFields(kept.stored.messages);
    expect(readableRows(fields)).toEqual({ rows: readableTable(), others: [] });
    // The texts of failures are encrypted beside these. The service words one itself where a message
    // came while a workflow task ended.
    const messages = [...fields].filter(([path]) => path.endsWith('failure.message'));
    const worded = new Set(messages.map(([, text]) => text));
    worded.delete('UnhandledCommand');
    expect(worded).toEqual(new Set(['Encoded failure']));
    const attributes = [...fields.keys()].flatMap(
      (path) => /indexedFields\.(\w+)/.exec(path)?.slice(1) ?? [],
    );
    expect([...new Set(attributes)].toSorted()).toEqual([
      'BuildIds',
      'EverloopAgent',
      'EverloopState',
      'TemporalExternalPayloadCount',
      'TemporalExternalPayloadSizeBytes',
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
  /** What the collector got. */
  readonly traced: string;
  readonly archiveDir: string;
  readonly taskQueue: string;
  readonly read: readonly unknown[];
}

async function play(at: Stage, protection: Protection, content: TraceContent): Promise<Played> {
  const taskQueue = `secret-${randomUUID()}`;
  const archiveDir = `${at.folder}/archive-${taskQueue}`;
  const archive = createDirectoryArchive(archiveDir, protection);
  const telemetry = { traces: { content, sample: 1 } };
  const parts = { taskQueue, archive, protection, telemetry, hide };
  const worker = await at.serve(secretAgents, parts);
  const before = receiver.bodies.length;
  const { connection, close } = await openConnection({ address: at.address });
  const client = clientOf(connection, at.namespace, protection);
  const everloop = createEverloop({ client, taskQueue, archive });
  const vault = await everloop.start('vault', {
    task: secret('task'),
    context: {
      [secret('context-name')]: secret('context-value'),
      nested: { deep: [secret('context-nested')] },
      _key: secret('hidden-context'),
      // More than stays in a history beside which there are blobs.
      large: secret('large-context') + 'x'.repeat(300_000),
    },
    history: [
      { role: 'user', text: secret('history-question') },
      { role: 'assistant', text: secret('history-answer') },
    ],
    conversation: secret('conversation'),
  });
  const doomed = await everloop.start('doomed', { task: 'Fail.' });
  const patient = await everloop.start('patient', { task: 'Wait.' });
  const beats = await heartbeatsOf(connection, at.namespace, vault.id);
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
  // It sends its last spans.
  await worker.stop();
  const traced = receiver.bodies.slice(before).join('\n');
  const messages = [
    ...stored.messages,
    v1.DescribeWorkflowExecutionResponse.toObject(beats as never),
  ];
  const bytes = Buffer.concat([
    stored.bytes,
    v1.DescribeWorkflowExecutionResponse.encode(beats).finish(),
  ]);
  return { stored: { bytes, messages }, traced, archiveDir, taskQueue, read };
}

/** Whether the value of the variable stands in `bytes`, as it is or in base64. */
function hasValue(bytes: Uint8Array | string): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  const inside = Buffer.from(`user:${HIDDEN_VALUE}`).toString('base64').slice(8, 28);
  return text.includes(HIDDEN_VALUE) || text.includes(inside);
}

/** The description of a run while an activity of it has sent a heartbeat. */
async function heartbeatsOf(
  { workflowService }: Connection,
  namespace: string,
  workflowId: string,
): Promise<Described> {
  return eventually('a heartbeat', async () => {
    const place = { namespace, execution: { workflowId } };
    const described = await workflowService.describeWorkflowExecution(place);
    const beating = described.pendingActivities.find(({ heartbeatDetails }) => heartbeatDetails);
    return beating && described;
  });
}

type Described = Awaited<ReturnType<Connection['workflowService']['describeWorkflowExecution']>>;

const v1 = proto.temporal.api.workflowservice.v1;

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
