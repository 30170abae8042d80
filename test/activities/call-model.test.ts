import { defined } from '../../src/core/base/defined.ts';
import { byteSize, type Json } from '../../src/core/base/json.ts';
import { BLOB_SIZES, INLINE_SIZES } from '../../src/core/base/size-limits.ts';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import type { UnfailedOutcome } from '../../src/core/contract/host-outcome.ts';
import { createCallModel } from '../../src/activities/call-model.ts';
import { createGivenUpCalls, type GivenUpCalls } from '../../src/activities/given-up-calls.ts';
import { compileAgent } from '../../src/registry/compile-agent.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { createToolFigures } from '../../src/tools/tool-figures.ts';
import { streamingModel } from '../support/streamed-calls.ts';
import { counter, summarize } from '../../src/define/agent/define-compaction.ts';
import type { ModelMiddleware } from '../../src/define/definition/middleware.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import {
  OtherTranscriptError,
  type TranscriptSource,
} from '../../src/activities/transcript-source.ts';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import { textMessage, textOf } from '../../src/core/base/message.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import { callLayeredModel } from '../../src/models/call-layered-model.ts';
import { withoutWaits } from '../support/no-waits.ts';
import type { TranscriptHead } from '../../src/core/contract/transcript.ts';

const order: ModelOrder = {
  agent: 'tester',
  runId: 'run',
  agentPath: 'tester',
  model: 'm',
  purpose: 'reply',
  iteration: 1,
  triesBefore: 0,
  lastTurn: false,
  time: 0,
  transcript: { epoch: 1, length: 0, digest: '' },
};

const bare: ModelRequest = {
  mode: 'chat',
  agent: 'tester',
  runId: 'run',
  iteration: 1,
  attempt: 1,
  messages: [textMessage('user', 'Go')],
  settings: {},
  cacheUpTo: 0,
};

/** The activity of a worker with one agent, whose model is `model`. */
function callModelOf(
  model: ModelFunction,
  options: Partial<AgentOptions> = {},
  noTranscript?: Error,
  hasBlobs = false,
  givenUp?: GivenUpCalls,
): ReturnType<typeof createCallModel> {
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model: { id: 'm', model },
    ...options,
  });
  const registry = createRegistry({ agents: [agent] });
  const compiled = compileAgent(agent, registry.models);
  if (compiled.kind !== 'agent') throw new Error('Expected an agent that compiles.');
  const head: TranscriptHead = { spec: compiled.spec, task: { text: 'Go' } };
  const transcripts: TranscriptSource = {
    resolve: async () => {
      if (noTranscript !== undefined) throw noTranscript;
      return { head, messages: [] };
    },
    remember: () => undefined,
  };
  const chunks = { publish: () => undefined };
  return createCallModel({ registry, transcripts, hasBlobs, chunks, ...defined({ givenUp }) });
}

/** An activity's surroundings, without the lines that the SDK logs of failures. */
function environment(): MockActivityEnvironment {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
}

const usage = { inputTokens: 100, outputTokens: 10 };

/** A reply whose text has `characters` characters. */
const replyOf =
  (characters: number, character = 'x'): ModelFunction =>
  () =>
    Promise.resolve({
      parts: [{ type: 'text', text: character.repeat(characters) }],
      finishReason: 'stop',
      usage,
      model: 'm',
    });

describe('the activity callModel', () => {
  it('returns a reply with its usage', async () => {
    const outcome = await environment().run(callModelOf(replyOf(5)), order);

    expect(outcome).toMatchObject({
      kind: 'reply',
      attempts: 1,
      reply: { parts: [{ type: 'text', text: 'xxxxx' }], usage },
    });
  });

  it.each([
    { purpose: 'reply' as const },
    {
      purpose: 'compaction' as const,
      summary: { strategy: 0, earlier: [], activity: [[0, 1] as const] },
    },
  ])('[row 25] asks for a $purpose within the middleware of the agent', async (asked) => {
    const seen: string[] = [];
    const model: ModelFunction = ({ messages }) => {
      seen.push(...messages.map(textOf));
      return Promise.resolve('done');
    };
    const discreet: ModelMiddleware = (request, next) =>
      next({ ...request, messages: [textMessage('user', 'Hidden.')] });
    const compaction = { triggers: [counter('agent:iterations', 1)], strategies: [summarize()] };
    const callModel = callModelOf(model, { modelMiddleware: [discreet], compaction });

    const result = await environment().run(callModel, { ...order, ...asked });

    expect(result).toMatchObject({ kind: 'reply', reply: { parts: [{ text: 'done' }] } });
    expect(seen).toEqual(['Hidden.']);
  });

  it('leaves a middleware behind that does not stop when the call is aborted', async () => {
    const asked = new AbortController();
    const stubborn: ModelMiddleware = () => {
      asked.abort();
      return new Promise(() => undefined);
    };
    const info = { run: 'r', runId: 'r', agent: 'a', agentPath: 'a', iteration: 1 };
    const result = await withoutWaits(() =>
      callLayeredModel({ layers: [stubborn], info }, { id: 'm', model: replyOf(5) }, bare, {
        signal: asked.signal,
        onChunk: () => undefined,
      }),
    );

    expect(result).toMatchObject({ kind: 'aborted', usageKnown: false });
  });

  it('counts a call whose reply its middleware then refuses', async () => {
    const strict: ModelMiddleware = async (request, next) => {
      await next(request);
      throw new Error('not this reply');
    };

    const call = environment().run(callModelOf(replyOf(5), { modelMiddleware: [strict] }), order);

    await expect(call).rejects.toMatchObject({
      message: 'not this reply',
      details: [{ usage: { inputTokens: usage.inputTokens }, usageKnown: true, attempts: 1 }],
    });
  });

  it.each([
    { name: '[R4] of the agent, which another worker may have', own: undefined, type: 'not_here' },
    {
      name: 'that a loop named by itself',
      own: { messages: [textMessage('user', 'Hi')], models: ['gone'] },
      type: 'model_error',
    },
  ])('fails on an unknown model $name: $type', async ({ own, type }) => {
    const asked = { ...order, model: 'gone', ...(own === undefined ? {} : { own }) };

    await expect(environment().run(callModelOf(replyOf(5)), asked)).rejects.toMatchObject({
      type,
      nonRetryable: true,
      message: 'Expected a model that this worker knows (m), got gone. Add it to `models`.',
      details: [{ usageKnown: false, attempts: 1 }],
    });
  });

  it.each([
    ['an agent', { ...order, agent: 'nobody' }, replyOf(5), { what: 'agent nobody' }],
    [
      'credentials',
      order,
      async () => {
        throw Object.assign(new Error('no'), { statusCode: 401 });
      },
      { what: 'credentials of model m', code: 'model_auth', status: 401, attempts: 1 },
    ],
    [
      'a key',
      order,
      async () => {
        const message = "Pass it using the 'apiKey' parameter or the M_KEY environment variable.";
        throw Object.assign(new Error(message), { name: 'AI_LoadAPIKeyError' });
      },
      { what: 'credentials of model m (M_KEY)', code: 'model_auth', attempts: 1 },
    ],
  ] as const)('[R4] leaves %s to a worker that has it', async (_name, asked, model, details) => {
    await expect(environment().run(callModelOf(model), asked)).rejects.toMatchObject({
      type: 'not_here',
      details: [details],
    });
  });

  it('leaves a model to a worker that has the package of its provider', async () => {
    const call = environment().run(callModelOf(replyOf(5)), { ...order, model: 'cerebras/m' });
    const lacking = environment().run(callModelOf(replyOf(5)), { ...order, model: 'xai/grok' });

    await expect(call).rejects.toMatchObject({ details: [{ what: 'model cerebras/m' }] });
    await expect(lacking).rejects.toMatchObject({
      type: 'not_here',
      message: expect.stringMatching(/^Expected the package .* Run `npm i @ai-sdk\/xai`\.$/),
      details: [{ what: 'the package of model xai/grok', attempts: 1 }],
    });
  });

  it.each([
    ['does not answer', new Error('busy'), { type: 'transcript_unavailable', nonRetryable: false }],
    [
      'gives another one',
      new OtherTranscriptError('other digest', true),
      { type: 'model_error', details: [{ attempts: 1, usageKnown: false, retryAfterMs: 1_000 }] },
    ],
    [
      'has left its epoch',
      new OtherTranscriptError('later epoch', false),
      { type: 'model_error', nonRetryable: true, details: [{ attempts: 1, usageKnown: false }] },
    ],
  ] as const)('[R1] has no transcript when its run %s', async (_name, error, failure) => {
    const asked = { ...order, attemptsBefore: 0, lossesBefore: 9 };
    const call = environment().run(callModelOf(replyOf(5), {}, error), asked);

    await expect(call).rejects.toMatchObject(failure);
  });

  it.each([
    { bytes: INLINE_SIZES.reply - 1, blobs: undefined, hasBlobs: true, ends: 'is taken' },
    { bytes: INLINE_SIZES.reply, blobs: undefined, hasBlobs: true, ends: 'is taken' },
    { bytes: INLINE_SIZES.reply + 1, blobs: undefined, hasBlobs: true, ends: 'is too large' },
    { bytes: BLOB_SIZES.reply - 1, blobs: true, hasBlobs: true, ends: 'is taken' },
    { bytes: BLOB_SIZES.reply, blobs: true, hasBlobs: true, ends: 'is taken' },
    { bytes: BLOB_SIZES.reply + 1, blobs: true, hasBlobs: true, ends: 'is too large' },
    { bytes: INLINE_SIZES.reply, blobs: true, hasBlobs: false, ends: 'is taken' },
    { bytes: INLINE_SIZES.reply + 1, blobs: true, hasBlobs: false, ends: 'is asked for again' },
  ] as const)(
    'a reply of $bytes bytes $ends where the run has blobs: $blobs, and the worker: $hasBlobs',
    async ({ bytes, blobs, hasBlobs, ends }) => {
      const asked = blobs === undefined ? order : { ...order, blobs };
      const small: UnfailedOutcome = await environment().run(callModelOf(replyOf(5)), order);
      const around = small.kind === 'reply' ? byteSize(small.reply as unknown as Json) - 5 : 0;
      const model = callModelOf(replyOf(bytes - around), {}, undefined, hasBlobs);
      const call = environment().run(model, asked);

      if (ends === 'is taken') expect(await call).toMatchObject({ kind: 'reply' });
      else {
        const retried = ends === 'is asked for again' ? { retryAfterMs: 1_000 } : {};
        await expect(call).rejects.toMatchObject({ type: 'model_error', details: [retried] });
      }
    },
  );

  it.each([
    { name: 'by its texts', model: replyOf(INLINE_SIZES.reply), got: 'a longer one' },
    // JSON writes each quote with two characters.
    { name: 'as JSON', model: replyOf(INLINE_SIZES.reply / 2, '"'), got: String.raw`\d+` },
  ])(
    'fails for good on a reply that no payload could carry $name, and says what it cost',
    async ({ model, got }) => {
      const call = environment().run(callModelOf(model), order);

      await expect(call).rejects.toMatchObject({
        type: 'model_error',
        nonRetryable: true,
        message: expect.stringMatching(
          new RegExp(
            `^Expected a reply of at most 1048576 bytes, got ${got}\\. Set \`maxOutputTokens\`\\.$`,
          ),
        ),
        details: [{ usage, usageKnown: true, attempts: 1 }],
      });
    },
  );

  it('leaves a failed attempt that had cost to the workflow, and waits longer each time', async () => {
    const broken: ModelFunction = () =>
      Promise.reject(Object.assign(new Error('overloaded'), { status: 503, usage }));

    const first = environment().run(callModelOf(broken), order);
    const third = environment().run(callModelOf(broken), { ...order, attemptsBefore: 2 });

    const details = { usage, usageKnown: true, attempts: 1, status: 503 };
    await expect(first).rejects.toMatchObject({
      type: 'model_error',
      nonRetryable: true,
      details: [{ ...details, retryAfterMs: 1_000 }],
    });
    await expect(third).rejects.toMatchObject({ details: [{ ...details, retryAfterMs: 4_000 }] });
  });

  it('is tried again by the workflow when its worker stops it and it had cost', async () => {
    const context = environment();
    const call = context.run(
      callModelOf(async (_request, { signal }) => {
        setImmediate(() =>
          context.cancel('CANCELLED', new ActivityCancellationDetails({ workerShutdown: true })),
        );
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () =>
            reject(Object.assign(new Error('aborted'), { usage })),
          );
        });
        return '';
      }),
      order,
    );

    await expect(call).rejects.toMatchObject({
      type: 'worker_shutdown',
      nonRetryable: true,
      details: [{ usage, usageKnown: true, attempts: 1, retryAfterMs: 100 }],
    });
  });

  it.each(['workerShutdown', 'paused', 'reset'])(
    'is tried again when the service stops it: %s',
    async (cause) => {
      const details = { [cause]: true };
      const context = environment();
      const call = context.run(
        callModelOf(async (_request, { signal }) => {
          setImmediate(() => context.cancel('CANCELLED', new ActivityCancellationDetails(details)));
          await new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')));
          });
          return '';
        }),
        order,
      );

      await expect(call).rejects.toMatchObject({
        type: 'worker_shutdown',
        nonRetryable: false,
        // Its provider was asked, and has reported nothing [R8].
        details: [{ estimated: { totalTokens: expect.any(Number), costMicroUsd: 0 } }],
      });
    },
  );

  it('returns what a canceled call had cost', async () => {
    const context = environment();
    const call = context.run(
      callModelOf(async (_request, { signal }) => {
        setImmediate(() => context.cancel('CANCELLED', new ActivityCancellationDetails()));
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () =>
            reject(Object.assign(new Error('aborted'), { usage })),
          );
        });
        return '';
      }),
      order,
    );

    expect(await call).toMatchObject({ kind: 'aborted', usage, usageKnown: true, attempts: 1 });
  });
});

describe('a model call that the service gave up', () => {
  const tried: ModelOrder = { ...order, seq: 7, attemptsBefore: 0, lossesBefore: 0 };

  /** A worker whose provider waits for `answer`, and how often it was asked. */
  function slowWorker() {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const asked: string[] = [];
    const model: ModelFunction = async ({ runId }, { signal }) => {
      asked.push(runId);
      await answered;
      signal.throwIfAborted();
      return { content: 'done', usage };
    };
    const callModel = callModelOf(model, { mode: 'text' }, undefined, false, createGivenUpCalls());
    return { callModel, asked, answer };
  }
  const gone = new ActivityCancellationDetails({ notFound: true });

  it('is taken over by the next attempt, which the provider does not notice', async () => {
    const { callModel, asked, answer } = slowWorker();
    const first = environment();
    const lost = first.run(callModel, tried);
    await expect.poll(() => asked).toHaveLength(1);
    first.cancel('NOT_FOUND', gone);
    const second = environment();
    const said: unknown[] = [];
    second.on('heartbeat', (details: unknown) => said.push(details));
    const next = second.run(callModel, { ...tried, lossesBefore: 1 });
    await expect.poll(() => said).toEqual([{ attempts: 1 }]);
    answer();

    expect(await next).toMatchObject({ kind: 'reply', attempts: 1, takenOver: 1 });
    expect(await lost).not.toHaveProperty('takenOver');
    expect(asked).toHaveLength(1);
  });

  it('is taken over when it was the first, whose order says nothing of attempts', async () => {
    const { callModel, asked, answer } = slowWorker();
    answer();
    const logger = new DefaultLogger('ERROR');
    const once = { retryPolicy: { maximumAttempts: 1 } };
    const first = new MockActivityEnvironment(once, { logger });
    const { attemptsBefore: _attempts, lossesBefore: _losses, ...begun } = tried;
    await first.run(callModel, begun);
    const next = await environment().run(callModel, { ...tried, lossesBefore: 1 });

    expect(next).toMatchObject({ kind: 'reply', attempts: 1, takenOver: 1 });
    expect(asked).toHaveLength(1);
  });

  it('is taken over with what its activity had lost before, when the service repeats it', async () => {
    const { callModel, asked, answer } = slowWorker();
    const lost = { totalTokens: 100, costMicroUsd: 20 };
    const more = { totalTokens: 9, costMicroUsd: 1 };
    const logger = new DefaultLogger('ERROR');
    const at = (attempt: number, heartbeatDetails: object): MockActivityEnvironment =>
      new MockActivityEnvironment({ attempt, heartbeatDetails }, { logger });
    const first = at(2, { attempts: 1, asked: lost });
    const ended = first.run(callModel, { ...tried, lossesBefore: 5 });
    await expect.poll(() => asked).toHaveLength(1);
    first.cancel('NOT_FOUND', gone);
    const second = at(3, { attempts: 1, asked: more, lost });
    const next = second.run(callModel, { ...tried, lossesBefore: 5 });
    answer();

    expect(await next).toMatchObject({ kind: 'reply', losses: 2, estimated: lost });
    expect(await next).not.toHaveProperty('takenOver');
    expect(await ended).toMatchObject({ losses: 1, estimated: lost });
    expect(asked).toHaveLength(1);
  });

  it('is made again for another call, and for an attempt after a failure', async () => {
    const { callModel, asked, answer } = slowWorker();
    answer();
    const orders = [tried, { ...tried, seq: 8 }, { ...tried, attemptsBefore: 1 }];
    for (const one of orders) await environment().run(callModel, one);

    expect(asked).toHaveLength(3);
    await environment().run(callModel, { ...tried, seq: 8, lossesBefore: 1 });
    expect(asked).toHaveLength(3);
  });
});

describe('[R8] what a model call lost with its worker', () => {
  const lost = { totalTokens: 100, costMicroUsd: 20 };
  const asked = { totalTokens: 10, costMicroUsd: 2 };
  const overloaded: ModelFunction = () =>
    Promise.reject(Object.assign(new Error('overloaded'), { status: 503 }));

  /** The third attempt of an activity, whose last heartbeat was `said`. */
  function third(said: object | undefined): MockActivityEnvironment {
    const logger = new DefaultLogger('ERROR');
    return new MockActivityEnvironment({ attempt: 3, heartbeatDetails: said }, { logger });
  }
  /** An order whose activity is repeated after losses only. */
  const repeated: ModelOrder = { ...order, attemptsBefore: 1, lossesBefore: 5 };

  it('is in its heartbeats: the prompt, and what was written so far', async () => {
    const context = environment();
    const beats: unknown[] = [];
    const beat = new Promise<void>((resolve) => {
      context.on('heartbeat', (details: unknown) => resolve(void beats.push(details)));
    });
    const slow: ModelFunction = async (_request, { onChunk }) => {
      onChunk({ kind: 'text', delta: 'x'.repeat(400) });
      await beat;
      return 'done';
    };

    const agent = { instructions: 'y'.repeat(4_000), mode: 'text' } as const;
    const outcome = await context.run(callModelOf(slow, agent), order);

    const firstTokenMs = expect.any(Number) as number;
    expect(outcome).toMatchObject({ kind: 'reply', attempts: 1, firstTokenMs });
    expect(outcome).not.toHaveProperty('estimated');
    const [said] = beats as [{ readonly asked: { readonly totalTokens: number } }];
    expect(said).toMatchObject({ attempts: 1, asked: { costMicroUsd: 0 } });
    expect(said).not.toHaveProperty('lost');
    // The prompt, 100 tokens of text, and at most as many that come before the next heartbeat.
    expect(said.asked.totalTokens).toBeGreaterThanOrEqual(1_100);
    expect(said.asked.totalTokens).toBeLessThan(1_300);
  });

  it.each([
    ['of the last attempt', { attempts: 2, asked }, asked],
    ['of all attempts', { attempts: 2, asked, lost }, { totalTokens: 110, costMicroUsd: 22 }],
    ['of none that had not asked yet', { attempts: 2, lost }, lost],
    ['of none before a heartbeat', undefined, undefined],
  ])('comes with the result: %s', async (_which, said, estimated) => {
    const outcome = await third(said).run(callModelOf(replyOf(5)), repeated);

    expect(outcome).toMatchObject({ kind: 'reply', attempts: 1, losses: 2, reply: { usage } });
    expect((outcome as UnfailedOutcome).estimated).toEqual(estimated);
  });

  it('comes with a failure of the provider, of which nothing is estimated', async () => {
    await expect(
      third({ attempts: 2, asked }).run(callModelOf(overloaded), repeated),
    ).rejects.toMatchObject({ details: [{ attempts: 1, losses: 2, estimated: asked }] });
    const first = environment().run(callModelOf(overloaded), order);
    await expect(first).rejects.toSatisfy(
      ({ details: [detail] }: { readonly details: readonly object[] }) => !('estimated' in detail!),
    );
  });

  it('is not told from other failures if the service repeats these as well', async () => {
    const outcome = await third({ attempts: 2, asked }).run(callModelOf(replyOf(5)), order);

    expect(outcome).not.toHaveProperty('estimated');
  });
});

describe('reads beside a reply', () => {
  it('send the whole reply in a heartbeat while they are open, and come back with it', async () => {
    let look = (): void => undefined;
    const looked = new Promise<void>((resolve) => (look = resolve));
    const tool = defineTool({
      name: 'look',
      description: 'Looks.',
      effect: 'read',
      execute: async () => {
        await looked;
        return 'seen';
      },
    });
    const agent = defineAgent({
      name: 'tester',
      mode: 'chat',
      model: { id: 'm', model: streamingModel(() => [{ call: 'look', args: {} }]) },
      tools: [tool],
    });
    const registry = createRegistry({ agents: [agent] });
    const compiled = compileAgent(agent, registry.models);
    if (compiled.kind !== 'agent') throw new Error('Expected an agent that compiles.');
    const head: TranscriptHead = { spec: compiled.spec, task: { text: 'Go' } };
    const callModel = createCallModel({
      registry,
      transcripts: { resolve: async () => ({ head, messages: [] }), remember: () => undefined },
      chunks: { publish: () => undefined },
      figures: createToolFigures(),
    });
    const surroundings = environment();
    const beats: unknown[] = [];
    surroundings.on('heartbeat', (details: unknown) => {
      beats.push(details);
      look();
    });

    const reads = { calls: 1, tools: { look: 1 } };
    const outcome = await surroundings.run(callModel, { ...order, reads });

    const result = { outcome: 'ok', output: 'seen', attempts: 1, started: true };
    expect(outcome).toMatchObject({
      kind: 'reply',
      attempts: 1,
      reply: { parts: [{ tool: 'look' }] },
      reads: [{ index: 1, tool: 'look', args: {}, result }],
    });
    expect(beats).toEqual([
      expect.objectContaining({
        attempts: 1,
        kept: expect.objectContaining({
          kind: 'reply',
          reply: expect.objectContaining({ parts: [expect.objectContaining({ tool: 'look' })] }),
        }),
      }),
    ]);
  });
});
