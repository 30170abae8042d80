/**
 * Payloads that no client of ours writes, sent as bytes: a start fails the run as `invalid_input`, a
 * message is refused or warned of, and nothing hangs and nothing is lost.
 */
import { randomUUID } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { AGENT_WORKFLOW, MESSAGE_NAMES } from '../../src/core/contract/messages.ts';
import { MAX_JSON_DEPTH } from '../../src/core/base/json.ts';
import { UNREADABLE_PAYLOAD } from '../../src/workflows/payload-converter.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { eventually } from '../support/eventually.ts';
import { abortOf, bodiesOf, gate, hasNoGap } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function payloadOf(encoding: string, data: string): Payload {
  return { metadata: { encoding: bytes(encoding) }, data: bytes(data) };
}

/** Far more than any stack bears that goes down level by level. */
const LEVELS = 20_000;
const deep = (before: string, after: string): string =>
  `${before}${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}${after}`;

const TOO_DEEP = `data that nests deeper than ${MAX_JSON_DEPTH} levels`;
const DEEP_INPUT = `Expected an input that nests at most ${MAX_JSON_DEPTH} levels, got a deeper one. Put such data behind a tool.`;

/** What is sent for a start, what for an input; and what is said of each. */
const PAYLOADS: readonly (readonly [
  name: string,
  sent: { readonly start: Payload; readonly input: Payload },
  said: { readonly start: string; readonly input: string },
])[] = [
  ...(
    [
      ['of an unknown encoding', payloadOf('binary/strange', '\u0001\u0002')],
      ['of broken JSON', payloadOf('json/plain', '{"v": 1, "agent": "tes')],
      ['of no JSON at all', payloadOf('json/plain', '')],
      ['without an encoding', { data: bytes('{}') }],
    ] as const
  ).map(
    ([name, payload]) =>
      [
        name,
        { start: payload, input: payload },
        {
          start: UNREADABLE_PAYLOAD,
          input: `Expected an input object, got \`${UNREADABLE_PAYLOAD}\`.`,
        },
      ] as const,
  ),
  [
    `that nests ${LEVELS} levels`,
    {
      start: payloadOf(
        'json/plain',
        deep('{"v": 1, "agent": "tester", "task": {"text": "Go"}, "context": {"a": ', '}}'),
      ),
      input: payloadOf('json/plain', deep('{"id": "a", "kind": "queue", "text": "x", "b": ', '}')),
    },
    { start: TOO_DEEP, input: DEEP_INPUT },
  ],
];

let stage: Stage;
let served: Served;
let release = gate();
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const model: ModelFunction = async (_request, { signal }) => {
    await Promise.race([release.opened, abortOf(signal)]);
    return '<answer>done</answer>';
  };
  served = await stage.serve([
    defineAgent({ name: 'tester', mode: 'react', model: { id: 'm', model } }),
  ]);
});
afterAll(() => stage.close());

async function startRaw(payload: Payload): Promise<RunHandle> {
  const workflowId = `raw-${randomUUID()}`;
  await stage.client.workflowService.startWorkflowExecution({
    namespace: stage.namespace,
    workflowId,
    workflowType: { name: AGENT_WORKFLOW },
    taskQueue: { name: served.taskQueue },
    input: { payloads: [payload] },
    requestId: randomUUID(),
  });
  return served.everloop.attach(workflowId);
}

async function signalRaw(run: RunHandle, signalName: string, payload: Payload): Promise<void> {
  await stage.client.workflowService.signalWorkflowExecution({
    namespace: stage.namespace,
    workflowExecution: { workflowId: run.id },
    signalName,
    input: { payloads: [payload] },
    requestId: randomUUID(),
  });
}

/** What the update was refused with; undefined when it was not. */
async function updateRaw(
  run: RunHandle,
  name: string,
  payload: Payload,
): Promise<string | null | undefined> {
  const { outcome } = await stage.client.workflowService.updateWorkflowExecution({
    namespace: stage.namespace,
    workflowExecution: { workflowId: run.id },
    // 3: completed, as the service counts its stages.
    waitPolicy: { lifecycleStage: 3 },
    request: {
      meta: { updateId: randomUUID(), identity: 'test' },
      input: { name, args: { payloads: [payload] } },
    },
  });
  return outcome?.failure?.message;
}

describe.each(PAYLOADS)('a payload %s', (_name, sent, said) => {
  it('for a start fails the run as `invalid_input`', async () => {
    const run = await startRaw(sent.start);
    // Until it has ended with a Step, nothing says that it is a run.
    await eventually('its end', async () => {
      const { status } = await stage.client.workflow.getHandle(run.id).describe();
      return status.name !== 'RUNNING';
    });

    const step = await run.result();

    expect(step).toMatchObject({
      status: 'error',
      reason: 'invalid_input',
      message: `Expected the input of a run to be an object, got "${said.start}". Start runs with a client of Everloop.`,
      iterations: 0,
    });
    expect(await run.status()).toMatchObject({ state: 'ended', step });
    await stage.replay(run);
  });

  it('for an input is refused, or warned of, and the run goes on', async () => {
    release = gate();
    const run = await served.everloop.start('tester', { task: 'Go' });

    const refusals = [
      await updateRaw(run, MESSAGE_NAMES.send, sent.input),
      await updateRaw(run, MESSAGE_NAMES.adjust, sent.input),
    ];
    await signalRaw(run, MESSAGE_NAMES.input, sent.input);
    await run.send('read me', { id: 'read' });
    release.open();
    const step = await run.result();

    expect(refusals).toEqual([
      said.input,
      'Expected `limits`, `paused` or `revoke` in an adjustment, got none. Set one of them.',
    ]);
    expect(step).toMatchObject({ status: 'success', value: 'done' });
    const events = await run.events();
    expect(bodiesOf(events, 'agent:warning')).toEqual([
      { type: 'agent:warning', code: 'input_refused', message: said.input },
    ]);
    expect(bodiesOf(events, 'agent:input').map(({ inputId }) => inputId)).toEqual(['read']);
    expect(hasNoGap(events)).toBe(true);
    await stage.replay(run);
  });

  it('for a cancel cancels without words', async () => {
    release = gate();
    const run = await served.everloop.start('tester', { task: 'Go' });

    await signalRaw(run, MESSAGE_NAMES.cancel, sent.input);
    const step = await run.result();
    release.open();

    expect(step).toMatchObject({ status: 'canceled', reason: 'canceled' });
    expect(step.message).toBeUndefined();
    await stage.replay(run);
  });
});

describe('[R11] an encrypted payload that no worker can read', () => {
  const encrypted: Payload = {
    metadata: {
      encoding: bytes('binary/encrypted'),
      'encryption-cipher': bytes('aes-256-gcm'),
      'encryption-key-id': bytes('k-1'),
    },
    data: bytes('abc'),
  };

  it('for an input or a cancel of a run that could be read is one that cannot be read', async () => {
    release = gate();
    const run = await served.everloop.start('tester', { task: 'Go' });
    const refused = `Expected an input object, got \`${UNREADABLE_PAYLOAD}\`.`;

    expect(await updateRaw(run, MESSAGE_NAMES.send, encrypted)).toBe(refused);
    await signalRaw(run, MESSAGE_NAMES.input, encrypted);
    await eventually('a warning', async () => {
      return bodiesOf(await run.events(), 'agent:warning').length > 0;
    });
    await signalRaw(run, MESSAGE_NAMES.cancel, encrypted);

    expect(await run.result()).toMatchObject({ status: 'canceled', reason: 'canceled' });
    release.open();
    expect(bodiesOf(await run.events(), 'agent:warning')).toEqual([
      { type: 'agent:warning', code: 'input_refused', message: refused },
    ]);
    await stage.replay(run);
  });

  it('for a start waits for a worker with the key, which the refusal names', async () => {
    const run = await startRaw(encrypted);
    const refusal = await eventually('a refused task', async () => {
      const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
      const failed = events?.map((event) => event.workflowTaskFailedEventAttributes);
      return failed?.find((one) => one != null)?.failure?.message ?? undefined;
    });

    expect(refusal).toBe(
      'Refused: the start is encrypted with key k-1, which this worker does not have. A worker that has it takes the run.',
    );
    await run.cancel('the key is lost', { force: true });
    await expect(run.result()).rejects.toMatchObject({ code: 'no_step' });
  });
});
