import { createRequire } from 'node:module';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { IsolatedToolOptions } from '../../src/define/tool/tool-options.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ToolContext } from '../../src/define/definition/definitions.ts';
import type { Isolation, ToolPlaces } from '../../src/tools/isolation.ts';
import { createIsolation } from '../../src/tools/isolate/create-isolation.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import type { ToolRunOptions } from '../../src/tools/tool-call.ts';
import { quietSignal, testerWith, toolOrder } from '../define/agents.ts';
import { startFixture } from '../support/child-process.ts';
import { extentOf, RUNS_ALL } from '../support/extent.ts';
import { gate } from '../support/runs.ts';
import { poisonAgents } from '../support/fixtures/poison-agents.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { eventually } from '../support/eventually.ts';

const MODULE = new URL('../support/fixtures/isolated-run.ts', import.meta.url);

const isolation = createIsolation(2);
afterAll(() => isolation.close());

type Place = IsolatedToolOptions['isolate'];

/** All calls run in `own`, also those that lost many workers. */
function placesOf(own: Isolation, agentsModule?: string): ToolPlaces {
  return {
    isolation: own,
    apart: { isolation: own, ...(agentsModule === undefined ? {} : { agentsModule }) },
  };
}

/** Enough for a thread or process on a busy machine to begin. */
const TIME = 20_000;

function workTool(fields: Partial<IsolatedToolOptions>) {
  return defineTool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({
      what: z.string(),
      ms: z.number().optional(),
      at: z.iso
        .datetime()
        .transform((text) => new Date(text))
        .optional(),
    }),
    isolate: 'thread',
    module: MODULE,
    retry: { attempts: 1 },
    timeoutMs: TIME,
    ...(fields as object),
  });
}

/** Gauges that the run has when a call begins. */
const GAUGES = { 'shop:open': 5, 'shop:queue': 3 };

/** What a person has answered before. */
const RESUME = {
  state: { seen: 1 },
  responses: { answer: { action: 'accept', content: 'a' } },
} as const;

/** The outcome of the call, without the number of the attempt. */
async function outcomeOf(
  args: JsonObject,
  fields: Partial<IsolatedToolOptions>,
  options: Partial<ToolRunOptions> = {},
): Promise<unknown> {
  const agent = testerWith({
    tools: [workTool(fields)],
    model: {
      id: 'small',
      model: () => Promise.reject(new Error('no question')),
      price: { input: 1, output: 1 },
    },
  });
  const run = await runTool(
    agent,
    { ...toolOrder('work', args), gauges: GAUGES, resume: RESUME },
    {
      attempt: 1,
      run: 'run-1',
      signal: quietSignal(),
      places: placesOf(isolation),
      ...options,
    },
  );
  if (run.kind !== 'result') return run;
  const { attempts: _attempts, started, ...rest } = run.result;
  return started ? rest : { ...rest, started };
}

/** `isolation`, which calls `listener` with the data of each event of its calls. */
function onEvent(own: Isolation, listener: (data: Json) => void): Isolation {
  return {
    ...own,
    enter: async (signal, waitMs) => {
      const place = await own.enter(signal, waitMs);
      if (typeof place === 'string') return place;
      return {
        ...place,
        run: (call) => {
          const emit: ToolContext['emit'] = (name, data) => {
            call.context.emit(name, data);
            listener(data);
          };
          return place.run({ ...call, context: { ...call.context, emit } });
        },
      };
    },
  };
}

/** The outcome of a call that is canceled at its first event. */
function canceledOutcome(args: JsonObject, fields: Partial<IsolatedToolOptions>): Promise<unknown> {
  const stop = new AbortController();
  const canceling = onEvent(isolation, () => stop.abort(new Error('canceled')));
  return outcomeOf(args, fields, { places: placesOf(canceling), signal: stop.signal });
}

describe.each<{ readonly isolate: Place }>([{ isolate: 'thread' }, { isolate: 'process' }])(
  '[R2] a tool in a $isolate',
  ({ isolate }) => {
    // Each call of a process starts one; what is common to both places is proved by threads.
    const cases = [
      {
        what: 'answer',
        at: '2026-01-02T03:04:05.000Z',
        result: { outcome: 'ok', output: { answer: 'fine', at: '2026-01-02T03:04:05.000Z' } },
      },
      {
        what: 'context',
        result: {
          outcome: 'ok',
          output: {
            what: 'context',
            run: 'run-1',
            runId: 'run-1',
            callId: '1.1',
            agentPath: 'tester',
            attempt: 1,
            idempotencyKey: 'run-1/1.1',
          },
        },
      },
      { what: 'nothing', result: { outcome: 'ok' } },
      {
        what: 'report',
        result: {
          outcome: 'ok',
          output: 'reported',
          counts: { 'shop:refunds': 3 },
          gauges: { 'shop:stock': 7 },
          events: [{ type: 'shop:refunded', data: { id: 1 }, id: 'refund', keep: true }],
          modelCalls: [
            {
              model: 'small',
              usage: expect.objectContaining({ costMicroUsd: 1010 }),
              usageKnown: true,
            },
          ],
        },
      },
      {
        what: 'gauges',
        result: {
          outcome: 'ok',
          output: [5, 7, 8, 0, 0],
          gauges: { 'shop:stock': 8, 'shop:queue': 0 },
          raised: { 'shop:open': 2 },
        },
      },
      {
        what: 'result',
        result: { outcome: 'ok', output: { id: 7 }, instructions: 'Say it.', importance: 3 },
      },
      {
        what: 'outside',
        result: { outcome: 'ok', external: { details: { job: 4 }, timeoutMs: 60_000 } },
      },
      {
        what: 'ask',
        result: {
          outcome: 'ok',
          input: {
            requests: { answer: { kind: 'form', message: 'Which?', form: { enum: ['a', 'b'] } } },
            state: { seen: 1 },
          },
          started: false,
        },
      },
      { what: 'answered', result: { outcome: 'ok', output: ['a', { seen: 1 }] } },
      {
        what: 'map',
        result: {
          outcome: 'error',
          error: 'Error: the result of work is not JSON: rows[1] is Map.',
        },
      },
      {
        what: 'large',
        result: {
          outcome: 'error',
          error: 'Error: the result of work has 9000042 bytes, at most 8388608 can leave its place',
        },
      },
      { what: 'throw', result: { outcome: 'error', error: 'Error: no stock' } },
      { what: 'tool error', result: { outcome: 'error', error: 'Error: no such order' } },
      { what: 'uncaught error', result: { outcome: 'error', error: 'Error: thrown later' } },
      { what: 'unhandled rejection', result: { outcome: 'error', error: 'Error: rejected aside' } },
      {
        what: 'exit',
        result: {
          outcome: 'error',
          error: `Error: the ${isolate} of work ended with exit code 3`,
        },
      },
    ];
    test.each(isolate === 'thread' ? cases : extentOf(cases, 3))(
      'ends as one in the worker does: $what',
      async ({ result, ...args }) => {
        expect(await outcomeOf(args as JsonObject, { isolate })).toEqual(result);
      },
    );

    test('throws where it is called for a key that is not allowed', async () => {
      expect(await outcomeOf({ what: 'bad key' }, { isolate })).toMatchObject({
        outcome: 'error',
        error: expect.stringContaining('Expected a key of your own'),
      });
    });

    test('ends alone when its heap is full', async () => {
      expect(await outcomeOf({ what: 'heap' }, { isolate, heapMb: 32 })).toMatchObject({
        outcome: 'error',
        error: expect.stringContaining('its heap of 32 MB'),
      });
    });

    test('ends at its time when it loops', async () => {
      expect(await outcomeOf({ what: 'loop' }, { isolate, timeoutMs: 1_000 })).toMatchObject({
        outcome: 'error',
        error: 'Error: work did not finish within 1 s.',
      });
    });

    test('is killed when it loops after a cancel; what it had reported counts', async () => {
      expect(await canceledOutcome({ what: 'report and loop' }, { isolate })).toEqual({
        outcome: 'canceled',
        error: 'Error: canceled before it finished.',
        events: [{ type: 'shop:refunded', data: { id: 1 } }],
        modelCalls: [
          {
            model: 'small',
            usage: expect.objectContaining({ costMicroUsd: 1010 }),
            usageKnown: true,
          },
        ],
      });
    });

    test('of effect `once` ends as unknown when its place is lost', async () => {
      expect(await outcomeOf({ what: 'exit' }, { isolate, effect: 'once' })).toMatchObject({
        outcome: 'unknown',
      });
      expect(await outcomeOf({ what: 'throw' }, { isolate, effect: 'once' })).toMatchObject({
        outcome: 'error',
      });
    });

    test('is retried when its place is lost and attempts are left', async () => {
      expect(await outcomeOf({ what: 'exit' }, { isolate, retry: { attempts: 2 } })).toEqual({
        kind: 'retry',
        message: `the ${isolate} of work ended with exit code 3`,
      });
    });

    test.each([
      { what: 'wait', result: { outcome: 'canceled' } },
      { what: 'wait and finish', result: { outcome: 'ok', output: 'finished all the same' } },
    ])('hears of a cancel: $what', async ({ what, result }) => {
      expect(await canceledOutcome({ what }, { isolate })).toMatchObject(result);
    });

    test.runIf(RUNS_ALL)('tells the model what its module lacks', async () => {
      const module = new URL('./isolation.test.ts', import.meta.url).href.replace(
        'isolation.test',
        'missing',
      );

      expect(await outcomeOf({ what: 'answer' }, { isolate, module })).toMatchObject({
        outcome: 'error',
        error: expect.stringMatching(/missing/),
      });
      const empty = new URL('../support/eventually.ts', import.meta.url);
      expect(await outcomeOf({ what: 'answer' }, { isolate, module: empty })).toMatchObject({
        outcome: 'error',
        error: expect.stringMatching(/to export a function `run`, got eventually/),
      });
    });
  },
);

describe('[R2] the places of isolated calls', () => {
  test.each<{ readonly isolate: Place }>([{ isolate: 'thread' }, { isolate: 'process' }])(
    'tell at once what a call in a $isolate emits',
    async ({ isolate }) => {
      const stop = new AbortController();
      const emitted: unknown[] = [];
      const onEvent = (topic: string, data: Json): void => {
        emitted.push([topic, data]);
        // The call waits for a minute, so this ends it only if the event came while it runs.
        stop.abort(new Error('heard'));
      };

      const outcome = await outcomeOf(
        { what: 'wait' },
        { isolate },
        { signal: stop.signal, onEvent },
      );

      expect(outcome).toMatchObject({ outcome: 'canceled' });
      expect(emitted).toEqual([['test:begun', null]]);
    },
  );

  test.runIf(RUNS_ALL)(
    'are bounded: a call waits for one, and ends when none becomes free',
    async () => {
      const small = createIsolation(1);
      const first = outcomeOf({ what: 'wait', ms: 2_000 }, {}, { places: placesOf(small) });
      const stop = new AbortController();
      const canceled = outcomeOf(
        { what: 'answer' },
        {},
        { places: placesOf(small), signal: stop.signal },
      );
      const busy = await outcomeOf(
        { what: 'answer' },
        { timeoutMs: 100 },
        { places: placesOf(small) },
      );
      stop.abort();
      const waited = outcomeOf({ what: 'answer' }, {}, { places: placesOf(small) });

      expect(busy).toEqual({
        outcome: 'error',
        error:
          'Error: work was not run: its worker was busy with other calls for 0.1 s. Call it again later.',
        started: false,
      });
      expect(await canceled).toMatchObject({ outcome: 'canceled', started: false });
      expect(await first).toMatchObject({ output: 'waited' });
      expect(await waited).toMatchObject({ outcome: 'ok' });
      await small.close();
      expect(await outcomeOf({ what: 'answer' }, {}, { places: placesOf(small) })).toMatchObject({
        outcome: 'canceled',
        started: false,
      });
    },
  );

  test.runIf(RUNS_ALL)(
    'are taken by a thread that blocks, also after its call has ended',
    async () => {
      const small = createIsolation(1);
      const places = placesOf(small);
      expect(await outcomeOf({ what: 'answer' }, {}, { places })).toMatchObject({ outcome: 'ok' });

      const blocked = await outcomeOf(
        { what: 'block', ms: 6_000 },
        { timeoutMs: 1_000 },
        { places },
      );
      const next = await outcomeOf({ what: 'answer' }, { timeoutMs: 2_000 }, { places });
      const last = await outcomeOf({ what: 'answer' }, {}, { places });

      expect(blocked).toMatchObject({ error: 'Error: work did not finish within 1 s.' });
      expect(next).toMatchObject({ error: expect.stringContaining('busy'), started: false });
      expect(last).toMatchObject({ outcome: 'ok' });
      await small.close();
    },
  );

  test('end with what they started, and when they are closed', async () => {
    const own = createIsolation(1);
    const begun = gate();
    let pid = 0;
    const watched = onEvent(own, (data) => {
      ({ pid } = data as { readonly pid: number });
      begun.open();
    });
    const isolate = 'process';
    const looping = outcomeOf(
      { what: 'start and loop' },
      { isolate },
      { places: placesOf(watched) },
    );
    await begun.opened;
    expect(isAlive(pid)).toBe(true);
    await own.close();

    expect(await looping).toMatchObject({
      error: 'Error: the process of work was ended by SIGKILL',
    });
    await eventually('the end of what the process started', () => !isAlive(pid));
  });

  test('do not outlive a worker that is killed', async () => {
    const worker = await startFixture('looping-call', []);
    const { pid } = worker.firstLine as { readonly pid: number };
    expect(isAlive(pid)).toBe(true);
    await worker.kill('SIGKILL');

    await eventually('the end of what the process started', () => !isAlive(pid));
  });

  test('keep an error of an earlier call from a later one', async () => {
    expect(await outcomeOf({ what: 'late error' }, {})).toMatchObject({ output: 'ended' });
    expect(await outcomeOf({ what: 'wait', ms: 500 }, {})).toMatchObject({ output: 'waited' });
  });

  test('refuse arguments that cannot be copied', async () => {
    const parameters = z.object({
      what: z.string().transform((what) => ({ what, go: () => what })),
    });
    const fields = { parameters } as object;

    expect(await outcomeOf({ what: 'answer' }, fields)).toMatchObject({
      outcome: 'error',
      error: expect.stringContaining('that can be copied to a thread'),
    });
  });
});

describe('[R2] a call that five workers died with', () => {
  const module = new URL('../support/fixtures/poison-agents.ts', import.meta.url).href;

  async function poisoned(
    args: JsonObject,
    deaths: number,
    agentsModule?: string,
    own: Isolation = isolation,
  ): Promise<unknown> {
    const agents = createRegistry({ agents: poisonAgents }).agents;
    const agent = agents.get('keeper');
    if (agent === undefined) throw new Error('Expected the agent of the fixture.');
    const order = { ...toolOrder('store', args), agent: 'keeper' };
    const places = placesOf(own, agentsModule);
    const options = { attempt: 1, run: 'run-1', deaths, signal: quietSignal(), places };
    const run = await runTool(agent, order, options);
    return run.kind === 'result' ? run.result : run;
  }

  test('runs in a process that has the agent file', async () => {
    expect(await poisoned({ what: 'pid' }, 4, module)).toMatchObject({ output: process.pid });
    const apart = await poisoned({ what: 'pid' }, 5, module);

    expect(apart).toMatchObject({ outcome: 'ok', output: expect.any(Number) });
    expect(apart).not.toMatchObject({ output: process.pid });
  });

  test('ends alone there', async () => {
    expect(await poisoned({ what: 'kill' }, 5, module)).toEqual({
      kind: 'retry',
      message: 'the process of store was ended by SIGKILL',
    });
  });

  test('runs in the worker without such a file, one at a time', async () => {
    const alone = createIsolation(1);
    const calls = [1, 2].map(() => poisoned({ what: 'overlap' }, 5, undefined, alone));

    expect(await Promise.all(calls)).toEqual([
      expect.objectContaining({ output: 1 }),
      expect.objectContaining({ output: 1 }),
    ]);
  });

  test('says what the agent file lacks', async () => {
    const other = new URL('../support/eventually.ts', import.meta.url).href;

    expect(await poisoned({ what: 'pid' }, 5, other)).toMatchObject({
      outcome: 'error',
      error: expect.stringContaining('to define tool `store` of agent `keeper`'),
    });
  });
});

describe('[R2] a place that cannot be started', () => {
  const { execPath } = process;
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: unknown };
  const { Worker } = threads;
  const none = (): void => {
    process.execPath = '/missing/node';
    threads.Worker = class {
      constructor() {
        throw new Error('the system has no more threads');
      }
    };
  };
  const restore = (): void => {
    process.execPath = execPath;
    threads.Worker = Worker;
  };
  afterEach(restore);

  test.each([
    { isolate: 'thread', error: 'the system has no more threads' },
    { isolate: 'process', error: 'spawn /missing/node ENOENT' },
  ] as const)('$isolate: the call had no effect, so it ends as an error', async (given) => {
    const own = createIsolation(1);
    const { isolate } = given;
    const call = (): Promise<unknown> =>
      outcomeOf({ what: 'answer' }, { isolate, effect: 'once' }, { places: placesOf(own) });
    none();
    const refused = await call();
    restore();

    expect(refused).toEqual({
      outcome: 'error',
      error: `Error: the ${isolate} of work could not be started: ${given.error}`,
      started: false,
    });
    expect(await call()).toMatchObject({ outcome: 'ok' });
    await own.close();
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
