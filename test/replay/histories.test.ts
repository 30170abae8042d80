/** Recorded histories replay with today's code; no server is needed. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { spanOf } from '../../src/telemetry/span-of.ts';
import { RECORDINGS } from '../support/recordings.ts';
import { replayAll, replayHistory } from '../support/replay.ts';

interface RecordedEvent {
  readonly eventType: string;
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { name: string } };
  readonly workflowExecutionStartedEventAttributes?: { readonly workflowId: string };
}

interface Recorded {
  readonly events: RecordedEvent[];
}

async function read(name: string): Promise<Recorded> {
  const file = new URL(`../histories/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')) as Recorded;
}

const eventsOf = new Map<string, Recorded>();
beforeAll(async () => {
  for (const { name } of RECORDINGS) eventsOf.set(name, await read(name));
});

function recorded(name: string): Recorded {
  return structuredClone(eventsOf.get(name) as Recorded);
}

/** The payloads of a history, decoded. */
function textOf(name: string): string {
  const data = [...JSON.stringify(recorded(name)).matchAll(/"data":"([^"]*)"/g)];
  return data.map(([, base64 = '']) => Buffer.from(base64, 'base64').toString()).join('\n');
}

describe('a recorded history', () => {
  it.each(RECORDINGS)('of $name replays', async ({ name, workflowsPath }) => {
    const options = workflowsPath === undefined ? {} : { workflowsPath };
    const history = recorded(name);
    const [started] = history.events;
    // Children are named after their parent, so its own name matters.
    const id = started?.workflowExecutionStartedEventAttributes?.workflowId ?? name;
    await replayHistory(history, id, options);
  });

  it('replays with traces on, and makes no span', async () => {
    const spans: unknown[] = [];
    const own = RECORDINGS.filter(({ workflowsPath }) => workflowsPath === undefined);
    const histories = own.map(({ name }) => {
      const history = recorded(name);
      const [started] = history.events;
      const { workflowId = name } = started?.workflowExecutionStartedEventAttributes ?? {};
      return { history, workflowId };
    });
    await replayAll(histories, {
      listeners: [(event, place) => void spans.push(spanOf(event, { place, content: 'off' }))],
    });
    expect(histories.length).toBeGreaterThan(20);
    expect(spans).toEqual([]);
  });

  it('shows what its name says', () => {
    const counts = (name: string, type: string): number =>
      recorded(name).events.filter(({ eventType }) => eventType === type).length;
    expect(counts('react-parallel-tools', 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).toBeGreaterThan(5);
    expect(counts('react-parallel-tools', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    expect(counts('chat', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    expect(counts('handover-link', 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW')).toBe(1);
    expect(counts('native-cancel', 'EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED')).toBe(1);
    expect(counts('native-cancel', 'EVENT_TYPE_TIMER_STARTED')).toBe(1);
    expect(counts('listed-waits', 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBe(2);
    // The call that crosses the limit aborts the other.
    expect(counts('batch', 'EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED')).toBe(1);
    // The eighth call ends the run, though the model would go on.
    expect(counts('repeated-calls', 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).toBe(8);
    expect(counts('repeated-calls', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    expect(counts('listed-waits', 'EVENT_TYPE_TIMER_FIRED')).toBe(1);
    // Started with search attributes, one of which changes where the memo does.
    expect(counts('listed-waits', 'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES')).toBe(2);
    // Items that come and go during a wait are listed when the worker sends its signal.
    const signals = counts('listed-waits', 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED');
    expect(signals).toBeGreaterThan(0);
    expect(counts('listed-waits', 'EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED')).toBe(2 + signals);
    expect(counts('tree', 'EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED')).toBe(2);
    // A request of a child, and the grant or refusal for it.
    expect(counts('tree', 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED')).toBeGreaterThan(2);
    const answers = counts('tree', 'EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED');
    expect(answers).toBe(counts('tree', 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED'));
    // It handed over when its children had ended, long after that was suggested.
    expect(counts('tree', 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW')).toBe(1);
    expect(counts('tree-child', 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED')).toBeGreaterThan(0);
    const asked = counts('tree-child', 'EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED');
    expect(asked).toBeGreaterThan(0);
    // A recall for each child and what they are granted after it.
    const told = counts('tree-lowered', 'EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED');
    expect(told).toBeGreaterThan(2);
    expect(counts('fan-out', 'EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED')).toBe(2);
    // Room for all its children, asked for and granted.
    expect(counts('fan-out', 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED')).toBeGreaterThan(0);
    expect(counts('fan-out-part', 'EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    expect(counts('fan-out-part', 'EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED')).toBe(1);
    expect(counts('fan-out-part', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    expect(counts('program', 'EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED')).toBe(1);
    expect(counts('program', 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW')).toBe(1);
    expect(counts('program-link', 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBeGreaterThan(
      1,
    );
    // Messages bring the hand-over before a timer of the program, or after it.
    const fired = ['program', 'program-link'].map((it) => counts(it, 'EVENT_TYPE_TIMER_FIRED'));
    expect(fired.reduce((sum, count) => sum + count)).toBe(1);
    expect(counts('program-link', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    expect(counts('program-slices', 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED')).toBe(1);
    // The agent that was loaded, and the slices.
    expect(counts('program-slices', 'EVENT_TYPE_MARKER_RECORDED')).toBeGreaterThan(1);
    expect(counts('program-slices', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    // A timer for each try after the first.
    expect(counts('elsewhere', 'EVENT_TYPE_TIMER_FIRED')).toBeGreaterThan(0);
    expect(counts('elsewhere', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    // The agent that was loaded, and the clock after the pause.
    expect(counts('elsewhere', 'EVENT_TYPE_MARKER_RECORDED')).toBe(2);
    // A whole wait, with a pause before each try of the tool.
    expect(counts('elsewhere-over', 'EVENT_TYPE_TIMER_FIRED')).toBe(5);
    // The failure of the first worker, and an activity that asks the others.
    expect(counts('await-agent', 'EVENT_TYPE_MARKER_RECORDED')).toBe(1);
    expect(counts('await-agent', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    // The model call and the tool lost a worker each, and began anew after a timer; so did the call
    // that failed.
    expect(counts('lost-workers', 'EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT')).toBe(2);
    expect(counts('lost-workers', 'EVENT_TYPE_ACTIVITY_TASK_FAILED')).toBe(1);
    expect(counts('lost-workers', 'EVENT_TYPE_TIMER_FIRED')).toBe(3);
    // Local tries, of which one was too slow, and its regular call.
    expect(counts('local-reads', 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).toBe(5);
    expect(counts('local-reads', 'EVENT_TYPE_MARKER_RECORDED')).toBe(5);
    expect(textOf('local-reads')).toContain('"local":["look"]');
    // Four models replied, one of them twice; a write, and reads that were not beside their replies.
    expect(counts('reads-beside', 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).toBe(8);
    expect(textOf('reads-beside')).toContain('"lostReads":[{');
    expect(textOf('reads-beside')).toContain('"again":"stopped"');
    // The lost model call is not scheduled again: its read is.
    expect(counts('kept-reply', 'EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT')).toBe(1);
    expect(counts('kept-reply', 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).toBe(3);
    expect(textOf('kept-reply')).toContain('"kept":{"kind":"reply"');
    // Turns, their ends, requests for budgets, and two settings.
    expect(counts('tenant-ledger', 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED')).toBeGreaterThan(5);
    expect(counts('tenant-ledger', 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBe(2);
    expect(counts('rate-counter', 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBeGreaterThan(
      2,
    );
    // The state of the source comes from an activity; the payment is not repeated.
    expect(counts('fork', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')).toBe(1);
    const scheduled = recorded('fork').events.flatMap(
      (event) => event.activityTaskScheduledEventAttributes?.activityType.name ?? [],
    );
    expect(scheduled[0]).toBe('loadFork');
    expect(scheduled.filter((name) => name === 'callToolOnce')).toEqual([]);
    // The pause, the answer and the resumption come before the only call.
    const paused = recorded('program-paused').events.map(({ eventType }) => eventType);
    expect(counts('program-paused', 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBe(3);
    expect(paused.indexOf('EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).toBeGreaterThan(
      paused.lastIndexOf('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED'),
    );
  });

  it('whose start nobody can read fails no workflow task', async () => {
    const history = recorded('chat') as unknown as {
      events: { workflowExecutionStartedEventAttributes: { input: { payloads: object[] } } }[];
    };
    const payloads = history.events[0]?.workflowExecutionStartedEventAttributes.input.payloads;
    Object.assign(payloads?.[0] ?? {}, { data: Buffer.from('{bad').toString('base64') });

    await replayHistory(history, 'chat');
  });

  it('that was changed fails with TMPRL1100', async () => {
    const history = recorded('chat');
    const [first] = history.events.flatMap((event) =>
      event.activityTaskScheduledEventAttributes === undefined
        ? []
        : [event.activityTaskScheduledEventAttributes],
    );
    if (first === undefined) throw new Error('Expected an activity in the history.');
    first.activityType.name = 'callTool';

    await expect(replayHistory(history, 'chat')).rejects.toThrow(/TMPRL1100/);
  });
});
