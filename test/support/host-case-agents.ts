/** What the cases of the host contract call: agents, tools, validators and models, all on the worker. */
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { jsonSection, textSection } from '../../src/define/agent/reply-layout.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ToolOptions } from '../../src/define/tool/tool-options.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import { textOf } from '../../src/core/base/message.ts';
import { streamingModel, type StreamStep } from './streamed-calls.ts';

/** Something that happens once, and whoever waits for it. */
interface Moment {
  readonly happened: Promise<void>;
  readonly happen: () => void;
}

/** The agents of runs of the cases, one after another, and the models that they name. */
export interface HostCaseWorld {
  readonly agents: readonly AgentDefinition[];
  readonly models: readonly ModelEntry[];
  /** To be called before each further case: its waits are its own. */
  readonly reset: () => void;
}

const USAGE = { inputTokens: 100, outputTokens: 10 };

/** An error of a provider over HTTP that is to be tried again at once, if at all. */
function httpError(statusCode: number, message: string, fields: object = {}): Error {
  const responseHeaders = { 'retry-after-ms': '1' };
  return Object.assign(new Error(message), { statusCode, responseHeaders, ...fields });
}

/** Settles when `signal` is aborted, by throwing what a stopped call throws. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new Error('stopped'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  });
}

/**
 * A world for one case at a time: nothing waits for what happened in another one. `terminate` ends the
 * run with this address, without a Step.
 */
export function hostCaseWorld(terminate: (address: string) => unknown): HostCaseWorld {
  const moments = new Map<string, Moment>();
  const moment = (name: string): Moment => {
    const known = moments.get(name);
    if (known !== undefined) return known;
    let happen = (): void => undefined;
    const happened = new Promise<void>((resolve) => (happen = resolve));
    moments.set(name, { happened, happen });
    return { happened, happen };
  };
  const failures = new Set<string>();
  /** Throws `error` the first time it is called with it. */
  const throwOnce = (name: string, error: Error): void => {
    if (failures.has(name)) return;
    failures.add(name);
    throw error;
  };

  /** Says that it has begun; ends when it is released, and throws when it is aborted. */
  const held = async (
    name: string,
    signal: Parameters<typeof untilAborted>[0],
  ): Promise<'released'> => {
    moment(`begun ${name}`).happen();
    await Promise.race([moment(`released ${name}`).happened, untilAborted(signal)]);
    return 'released';
  };

  const key = z.object({ key: z.string() });
  const wait = (name: string, kind: Partial<Pick<ToolOptions, 'effect' | 'local'>>) =>
    defineTool({
      name,
      description: 'Waits until it is released.',
      parameters: key,
      ...kind,
      execute: ({ key: name }, { signal }) => held(name, signal),
    });
  const retry = { attempts: 2, initialMs: 10 };
  const tools = [
    wait('wait', { effect: 'idempotent' }),
    wait('wait_once', { effect: 'once' }),
    wait('local_wait', { effect: 'read', local: true }),
    defineTool({
      name: 'deaf_once',
      description: 'Does not hear that it is to stop.',
      parameters: key,
      effect: 'once',
      execute: ({ key: name }) => {
        moment(`begun ${name}`).happen();
        return moment(`released ${name}`).happened;
      },
    }),
    defineTool({
      name: 'release',
      description: 'Releases a call that waits.',
      parameters: key,
      execute: ({ key: name }) => moment(`released ${name}`).happen(),
    }),
    defineTool({
      name: 'await_begun',
      description: 'Ends once something has begun.',
      parameters: key,
      execute: ({ key: name }) => moment(`begun ${name}`).happened,
    }),
    defineTool({
      name: 'local_await_begun',
      description: 'Ends once something has begun.',
      parameters: key,
      effect: 'read',
      local: true,
      execute: ({ key: name }) => moment(`begun ${name}`).happened,
    }),
    defineTool({
      name: 'terminate',
      description: 'Ends another run without a Step.',
      parameters: z.object({ id: z.string() }),
      execute: async ({ id }) => {
        await terminate(id);
      },
    }),
    defineTool({
      name: 'checked',
      description: 'Has a schema that may throw or take forever.',
      parameters: z.object({
        text: z.string().refine((text) => {
          if (text === 'broken') throw new Error('schema broken');
          if (text !== 'endless') return true;
          moment('begun check').happen();
          return new Promise<boolean>(() => undefined);
        }),
      }),
      execute: () => 'checked',
    }),
    defineTool({
      name: 'say',
      description: 'Speaks aloud.',
      parameters: z.object({ text: z.string() }),
      execute: ({ text }) => ({ said: text }),
    }),
    defineTool({
      name: 'read',
      description: 'Reads quickly.',
      effect: 'read',
      local: true,
      execute: () => 'read',
    }),
    defineTool({
      name: 'look',
      description: 'Reads beside replies.',
      parameters: key,
      effect: 'read',
      execute: ({ key: name }) => {
        moment(`begun ${name}`).happen();
        return 'seen';
      },
    }),
    wait('look_long', { effect: 'read' }),
    defineTool({
      name: 'look_throws',
      description: 'Is out of reach, once.',
      effect: 'read',
      retry,
      execute: () => {
        moment('begun throw').happen();
        throw new Error('out of reach');
      },
    }),
    defineTool({
      name: 'local_throws',
      description: 'Is out of reach.',
      effect: 'read',
      local: true,
      retry,
      execute: () => {
        throw new Error('out of reach');
      },
    }),
    defineTool({
      name: 'throws',
      description: 'Is out of order.',
      retry,
      execute: () => {
        throw new Error('out of order');
      },
    }),
    defineTool({
      name: 'throws_once',
      description: 'Works on the second attempt.',
      retry,
      execute: () => {
        throwOnce('tool', new Error('not yet'));
        return 'again';
      },
    }),
    defineTool({
      name: 'pay',
      description: 'Pays, or may have paid.',
      effect: 'once',
      execute: () => {
        throw new Error('connection lost');
      },
    }),
    defineTool({
      name: 'sleepy',
      description: 'Takes too long.',
      timeoutMs: 300,
      execute: (_args, { signal }) => untilAborted(signal),
    }),
    defineTool({
      name: 'refund',
      description: 'Refunds an amount.',
      parameters: z.object({ amount: z.number() }),
      approval: ({ amount }) => {
        if (amount < 0) throw new Error('who knows');
        if (amount === 0) {
          moment('begun approval').happen();
          return new Promise<boolean>(() => undefined);
        }
        return amount > 100;
      },
      execute: () => 'refunded',
    }),
  ];
  const validators = [
    defineValidator({
      name: 'picky',
      validate: (answer) => ({ accepted: answer === 'good' }),
    }),
    defineValidator({
      name: 'broken',
      validate: () => {
        throw new Error('no idea');
      },
    }),
    defineValidator({
      name: 'patient',
      validate: async (_answer, { signal }) => ({ accepted: !!(await held('judge', signal)) }),
    }),
  ];
  const entries: Readonly<Record<string, ModelFunction>> = {
    echo: async ({ messages }) => {
      const hasTask = messages.some((message) => textOf(message).includes('reads the transcript'));
      return { content: hasTask ? 'read' : 'not read', usage: USAGE };
    },
    'fails-once': async () => {
      throwOnce('fails-once', httpError(503, 'busy'));
      return { content: 'again', usage: USAGE };
    },
    'costs-once': async () => {
      const usage = { ...noUsage, inputTokens: 7 };
      throwOnce('costs-once', Object.assign(httpError(503, 'broke off'), { usage }));
      return { content: 'again', usage: USAGE };
    },
    refuses: () => Promise.reject(httpError(400, 'no such parameter')),
    locked: () => Promise.reject(httpError(401, 'no such key')),
    'too-long': () =>
      Promise.reject(
        httpError(400, 'context_length_exceeded', { code: 'context_length_exceeded' }),
      ),
    down: () => Promise.reject(httpError(503, 'down')),
    waits: async (_request, { signal }) => ({
      content: await held('model', signal),
      usage: USAGE,
    }),
  };
  const look = (name: string): StreamStep => ({ call: 'look', args: { key: name } });
  /** Lasts until the read of this key has begun. */
  const until = (name: string): StreamStep => ({ wait: moment(`begun ${name}`).happened });
  let writes = 0;
  const replies: Readonly<Record<string, () => readonly StreamStep[]>> = {
    reads: () => [look('read'), until('read')],
    calls: () => [look('read')],
    'calls-three': () => ['first', 'second', 'third'].map(look),
    'reads-in-vain': () => [look('read'), until('read'), { fail: httpError(400, 'no') }],
    'reads-twice': () => {
      writes += 1;
      const isFirst = writes % 2 === 1;
      return isFirst
        ? [look('read'), until('read'), { fail: httpError(503, 'busy') }]
        : [look('read')];
    },
    throws: () => [{ call: 'look_throws', args: {} }, until('throw')],
    'reads-long': () => [
      { call: 'look_long', args: { key: 'open' } },
      { wait: moment('never').happened },
    ],
  };
  const models: readonly ModelEntry[] = [
    ...Object.entries(entries).map(([id, model]): ModelEntry => ({ id, model })),
    ...Object.entries(replies).map(([id, steps]) => ({ id, model: streamingModel(steps) })),
  ];
  const children = [
    defineAgent({ name: 'child', mode: 'text', model: () => Promise.resolve('from the child') }),
    defineAgent({
      name: 'waiting-child',
      mode: 'text',
      model: (_request, { signal }) => held('child', signal),
    }),
    // Its host sees to it that it does not hear a cancel.
    defineAgent({
      name: 'deaf-child',
      mode: 'text',
      model: (_request, { signal }) => held('deaf', signal),
    }),
  ];
  const cases = defineAgent({
    name: 'cases',
    mode: 'react',
    model: 'echo',
    tools,
    validators,
    toolSearch: {},
    sections: [
      jsonSection({ name: 'estimate', schema: z.object({ hours: z.number().default(1) }) }),
      textSection({ name: 'doubts' }),
    ],
  });
  const reset = (): void => {
    moments.clear();
    failures.clear();
  };
  return { agents: [cases, ...children], models, reset };
}
