/**
 * Lets a worker process end itself, or its server, at a moment of a run. It takes hold of what the SDK
 * is given and of what it sends: activities, the sink of events, the completions of tasks.
 */
import { Context } from '@temporalio/activity';
import { Worker, type InjectedSinks, type WorkerOptions } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { EverloopSinks } from '../../src/workflows/sinks.ts';
import {
  afterPrefix,
  activityKey,
  eventKey,
  type ActivityParts,
  type Note,
  type Point,
} from './moments.ts';

/** What a process looks out for, and what it does then. */
export interface Watch {
  /** What the ids of its runs begin with; a number follows, and then the path of a run below. */
  readonly prefix: string;
  readonly point: Point;
  /** Whether this process is to kill at this key; asked again at each moment. */
  readonly isDue: (key: string) => boolean;
  readonly note: (note: Note) => void;
  readonly kill: (key: string) => void;
}

/** The functions by which a worker of the SDK sends what it did. */
interface Sender {
  completeWorkflowActivation(completion: Buffer): Promise<void>;
  completeActivityTask(completion: Buffer): Promise<void>;
}

/** A completion to wait for: it holds these bytes. */
interface Expected {
  readonly key: string;
  readonly bytes: Buffer;
}

type Activity = (...args: readonly unknown[]) => Promise<unknown>;

/** Makes every worker of this process one that watches. */
export function watchWorkers(watch: Watch): void {
  const create = Worker.create.bind(Worker);
  Worker.create = async (options) => {
    const sending = new Sending(watch);
    const worker = await create(watched(options, watch, sending));
    sending.take(worker as unknown as { readonly nativeWorker: Sender });
    return worker;
  };
}

/** Kills while a completion is sent, or when it was taken. */
class Sending {
  private readonly awaited: Expected[] = [];
  private kills = 0;
  private readonly watch: Watch;

  constructor(watch: Watch) {
    this.watch = watch;
  }

  await(key: string, bytes: Buffer): void {
    this.awaited.push({ key, bytes });
  }

  take({ nativeWorker }: { readonly nativeWorker: Sender }): void {
    for (const name of ['completeWorkflowActivation', 'completeActivityTask'] as const) {
      const send = nativeWorker[name].bind(nativeWorker);
      nativeWorker[name] = async (completion) => {
        const index = this.awaited.findIndex(({ bytes }) => completion.includes(bytes));
        const [found] = index < 0 ? [] : this.awaited.splice(index, 1);
        const sent = send(completion);
        if (found !== undefined && this.watch.point === 'write') this.killSoon(found.key);
        await sent;
        if (found !== undefined && this.watch.point === 'after') this.watch.kill(found.key);
      };
    }
  }

  /** Within the few ms that it takes to send: sometimes it arrives, sometimes not. */
  private killSoon(key: string): void {
    const delayMs = this.kills++ % 4;
    if (delayMs === 0) setImmediate(() => this.watch.kill(key));
    else setTimeout(() => this.watch.kill(key), delayMs);
  }
}

function watched(options: WorkerOptions, watch: Watch, sending: Sending): WorkerOptions {
  const sinks = options.sinks as unknown as InjectedSinks<EverloopSinks>;
  const { publish } = sinks.events;
  const activities = Object.entries(options.activities as Record<string, Activity>);
  return {
    ...options,
    activities: Object.fromEntries(
      activities.map(([name, run]) => [name, watchedActivity(name, run, watch, sending)]),
    ),
    sinks: {
      ...sinks,
      events: {
        publish: {
          ...publish,
          fn: (info: WorkflowInfo, events: readonly AgentEvent[]) => {
            const path = pathOf(info.workflowId, watch);
            for (const event of events) onEvent(event, { path, runId: info.runId }, watch, sending);
            return publish.fn(info, events);
          },
        },
      },
    } as unknown as NonNullable<WorkerOptions['sinks']>,
  };
}

/** Where a run is below the one that was started, which has a number after the prefix. */
function pathOf(workflowId: string, { prefix }: Watch): string {
  return afterPrefix(workflowId, prefix).replace(/^\.\d+/, '');
}

function onEvent(
  event: AgentEvent,
  { path, runId }: { readonly path: string; readonly runId: string },
  watch: Watch,
  sending: Sending,
): void {
  const key = eventKey(path, event.seq);
  const { type, iteration } = event;
  const parts = { iteration, ...(event as ActivityParts) };
  const activity =
    type === 'agent:model_call:after'
      ? activityKey(path, 'callModel', parts)
      : activityKey(path, 'callTool', { callId: parts.callId });
  watch.note({ kind: 'event', key, type, activity: type.endsWith('_call:after') ? activity : '' });
  if (!watch.isDue(key)) return;
  if (watch.point === 'before') watch.kill(key);
  else sending.await(key, Buffer.from(runId));
}

function watchedActivity(type: string, run: Activity, watch: Watch, sending: Sending): Activity {
  // The events of calls do not say which activity ran the tool.
  const name = type === 'callToolOnce' ? 'callTool' : type;
  return async (...args) => {
    const { info } = Context.current();
    const path = pathOf(info.workflowExecution?.workflowId ?? '', watch);
    const key = activityKey(path, name, (args[0] ?? {}) as ActivityParts);
    watch.note({ kind: 'activity', key });
    const isDue = watch.isDue(key);
    if (isDue && watch.point === 'before') watch.kill(key);
    const result = await run(...args);
    if (isDue && watch.point === 'after') watch.kill(key);
    if (isDue && watch.point === 'write') sending.await(key, Buffer.from(info.taskToken));
    return result;
  };
}
