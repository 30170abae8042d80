/** What a saved history keeps, and what it does not. */
import { describe, expect, it } from 'vitest';
import { payloadValue, type JsonPayload, type RunHistory } from '../../src/replay/run-history.ts';
import { sanitised } from '../../src/replay/sanitise.ts';

const WORKFLOW_ID = 'clerk-c4f688ea-b1bb-4c00-98a0-a7375440192a';
const PARENT_ID = 'Desk of Anna, 7';
const CHILD_ID = `${WORKFLOW_ID}/1.spawn-2`;
const RUN_ID = '01a205d4-1771-72b9-98cf-1d32cad265de';
/** The words of a bundle: the keys of these tests are among them. */
const CODE = `apiKey address customerId id callId digest passwordHash program name programId specHash
  args output value data input context details task runId childId parent workflowId reports answered`;

interface Attributes {
  readonly memo: { readonly fields: { readonly data: JsonPayload } };
  readonly input: { readonly payloads: readonly JsonPayload[] };
}

/** The start of a link with these payloads, the first one also in its memo, as it comes out. */
function cleanedStart(...payloads: readonly JsonPayload[]): Attributes {
  const started = {
    eventId: '1',
    eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
    workflowExecutionStartedEventAttributes: {
      workflowId: WORKFLOW_ID,
      originalExecutionRunId: RUN_ID,
      parentWorkflowExecution: { workflowId: PARENT_ID },
      memo: { fields: { data: payloads[0] } },
      input: { payloads },
    },
  };
  const link = {
    v: 1,
    workflowId: WORKFLOW_ID,
    runId: RUN_ID,
    firstExecutionRunId: RUN_ID,
    agent: 'clerk',
    build: null,
    history: { events: [started] },
  } as unknown as RunHistory;
  const [event] = sanitised(link, { code: CODE, digits: true }).history.events;
  return event?.['workflowExecutionStartedEventAttributes'] as unknown as Attributes;
}

function payloadOf(data: string, encoding = 'json/plain', more: object = {}): JsonPayload {
  const metadata = { encoding: Buffer.from(encoding).toString('base64'), ...more };
  return { metadata, data: Buffer.from(data).toString('base64') };
}

function cleanedJson(value: object): { readonly [key: string]: unknown } {
  const [payload] = cleanedStart(payloadOf(JSON.stringify(value))).input.payloads;
  return payloadValue(payload as JsonPayload) as { readonly [key: string]: unknown };
}

const SECRETS = {
  apiKey: 'sk-live-51Habcdef',
  address: 'bob.meyer@corp.example',
  customerId: 'DE89370400440532013000',
  id: 'AB-12-99',
  callId: '192.168.17.201',
  digest: 'deadbeef00c0ffee',
  passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99',
  program: 'l1:a011fd52570277d75950549bd14860b4',
  name: 'Bob Meyer',
};

describe('a sanitised history', () => {
  it.each(['args', 'output', 'value', 'data', 'input', 'context', 'details', 'task'])(
    'keeps no text under a key of an id in `%s`',
    (field) => {
      const cleanedData = cleanedJson({ [field]: { ...SECRETS, items: [SECRETS] } });

      for (const text of Object.values(SECRETS)) {
        expect(JSON.stringify(cleanedData)).not.toContain(text);
      }
      expect(Object.keys(cleanedData[field] as object)).toEqual(
        expect.arrayContaining(['apiKey', 'address', 'customerId']),
      );
    },
  );

  it('keeps under a key of an id only what has the form of one', () => {
    const kept = cleanedJson({ ...SECRETS, programId: 'hunter2', specHash: 'hunter2' });

    const { digest, program, callId, ...others } = SECRETS;
    expect(kept).toMatchObject({ digest, program });
    expect(callId).toMatch(/^[\d.]+$/);
    for (const text of [...Object.values(others), 'hunter2']) {
      expect(JSON.stringify(kept)).not.toContain(text);
    }
  });

  it('keeps ids of runs, calls and workflows', () => {
    const ids = {
      runId: RUN_ID,
      callId: '1.spawn-2',
      id: 'q2',
      programId: '1.p',
      childId: CHILD_ID,
      parent: { workflowId: PARENT_ID, callId: '3.p4/0/1' },
      reports: { '3.12': 'answered' },
      output: { started: CHILD_ID, at: PARENT_ID, run: RUN_ID },
    };

    expect(cleanedJson(ids)).toMatchObject({
      runId: RUN_ID,
      callId: '1.spawn-2',
      id: 'q2',
      programId: '1.p',
      childId: CHILD_ID,
      parent: { callId: '3.p4/0/1' },
    });
    const text = JSON.stringify(cleanedJson(ids));
    expect(text.split(CHILD_ID)).toHaveLength(3);
    expect(text.split(PARENT_ID)).toHaveLength(3);
    expect(text.split(RUN_ID)).toHaveLength(3);
    expect(text).toContain('"3.12"');
  });

  it('takes no names from a specification within data', () => {
    const spec = { name: 'Marlene', tag: 'Dietrich' };

    expect(JSON.stringify(cleanedJson({ spec, said: 'Marlene' }))).toContain('"Marlene"');
    expect(JSON.stringify(cleanedJson({ args: { spec }, said: 'Marlene' }))).not.toMatch(
      /Marlene|Dietrich/,
    );
  });

  it('replaces words of all scripts', () => {
    const text = JSON.stringify(cleanedJson({ name: '王伟', phone: '٠١٢٣٤٥', short: '王 伟' }));

    expect(text).not.toMatch(/王伟|٠١٢٣٤٥|王 伟/);
  });

  it('replaces what stands in a memo of any name', () => {
    const { memo } = cleanedStart(payloadOf('"Bob Meyer"'));

    expect(payloadValue(memo.fields.data)).toMatch(/^[A-Z][a-z]{2} [A-Z][a-z]{4}$/);
    expect(payloadValue(memo.fields.data)).not.toBe('Bob Meyer');
  });

  it('has zeros for bytes that it cannot read, and no metadata of a codec', () => {
    const given = [
      payloadOf('hunter2', 'binary/plain'),
      payloadOf('hunter2', 'binary/encrypted', { 'encryption-key-id': 'a2V5' }),
      payloadOf('{"password": "hunter2', 'json/plain'),
    ];

    const came = cleanedStart(...given).input.payloads;

    const encodings = given.map(({ metadata }) => ({ encoding: metadata?.['encoding'] }));
    expect(came.map(({ metadata }) => metadata)).toEqual(encodings);
    const lengths = came.map(({ data = '' }) => Buffer.from(data, 'base64'));
    expect(lengths).toEqual([Buffer.alloc(7), Buffer.alloc(7), Buffer.alloc(21)]);
  });
});
