/**
 * Runs whose loops issue more at once than one message to the service may have: each loop ends with a
 * Step, with a blob store and without, encrypted or not, and its history replays.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { fanOut } from '../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { NO_PROTECTION, protectionOf, type Protection } from '../../src/protection/protection.ts';
import { TEST_LOOPS } from '../support/bundles.ts';
import { extentOf } from '../support/extent.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

const LARGE = 'x'.repeat(800_000);

function agentOf(name: string, tools: readonly ToolDefinition[] = []): AgentDefinition {
  return defineAgent({
    name,
    description: `Is ${name}.`,
    mode: tools.length === 0 ? 'text' : 'react',
    ...(tools.length === 0 ? { prompt: '{{task}}' } : { tools: [...tools] }),
    model: { id: `m-${name}`, model: async () => `${name} ok` },
    limits: 'unlimited',
  });
}

const measure = defineTool({
  name: 'measure',
  description: 'Says how long a text is.',
  parameters: z.object({ text: z.string() }),
  effect: 'once',
  execute: ({ text }) => text.length,
}) as ToolDefinition;
const fetch = defineTool({
  name: 'fetch',
  description: 'Gives so much text.',
  parameters: z.object({ bytes: z.number() }),
  effect: 'read',
  local: true,
  maxResultBytes: 262_144,
  execute: ({ bytes }) => 'y'.repeat(bytes),
}) as ToolDefinition;

const reviewers = ['facts', 'style', 'law', 'tone', 'links', 'maths'].map((name) => agentOf(name));
const reader = agentOf('reader');
const agents: readonly AgentDefinition[] = [
  ...reviewers,
  reader,
  pipeline('press', [reviewers], { limits: 'unlimited' }),
  fanOut('readers', reader, { batch: 20, limits: 'unlimited' }),
  agentOf('programmer', [measure, fetch, agentTool({ agent: reader, name: 'read' })]),
  agentOf('spawner'),
  agentOf('asker'),
  agentOf('caller', [measure]),
  agentOf('fetcher', [fetch]),
];

interface Place {
  readonly name: string;
  readonly protection: Protection;
  served: Served;
}

let stage: Stage;
const places: Place[] = [];
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const blobs = directoryBlobs(join(stage.folder, 'blobs'));
  const keys = keyRing({ current: 'k1', keys: { k1: randomBytes(32) } });
  const kinds = {
    plain: NO_PROTECTION,
    encrypted: protectionOf({ keys }),
    'encrypted in a store': protectionOf({ keys, blobs }),
  };
  for (const [name, protection] of Object.entries(kinds)) {
    const served = await stage.serve(agents, { protection, workflowsPath: TEST_LOOPS });
    places.push({ name, protection, served });
  }
}, 300_000);
afterAll(() => stage?.close());

/** The text of a program that binds `text` to so many times ten characters, doubled `times` times. */
const longText = (times: number): string =>
  `(def text (loop [s "xxxxxxxxxx" n 0] (if (< n ${times}) (recur (str s s) (inc n)) s)))`;

interface Row {
  readonly name: string;
  readonly agent: string;
  readonly context: JsonObject;
  readonly value: unknown;
}

const ROWS: readonly Row[] = [
  {
    name: 'a stage of a pipeline, in which six agents read one document',
    agent: 'press',
    context: { document: LARGE },
    value: Object.fromEntries(reviewers.map(({ name }) => [name, `${name} ok`])),
  },
  {
    name: 'a fan-out over a list that a start just holds, each item with the whole task',
    agent: 'readers',
    context: { items: Array.from({ length: 9 }, (_, at) => `${at}`.repeat(150_000)) },
    value: Array.from({ length: 9 }, () => 'reader ok'),
  },
  {
    name: 'children of an own loop',
    agent: 'spawner',
    context: { count: 7, bytes: 900_000 },
    value: Array.from({ length: 7 }, () => 'reader ok'),
  },
  {
    name: 'questions of an own loop',
    agent: 'asker',
    context: { count: 6, bytes: 900_000 },
    value: 6,
  },
  {
    name: 'calls of an own loop with large arguments',
    agent: 'caller',
    context: { count: 6, bytes: 900_000 },
    value: Array.from({ length: 6 }, () => 'ok'),
  },
  {
    name: 'local reads of an own loop with large results',
    agent: 'fetcher',
    context: { count: 24, bytes: 250_000 },
    value: Array.from({ length: 24 }, () => 'ok'),
  },
  {
    name: 'calls of a program with large arguments',
    agent: 'programmer',
    context: {
      programs: [`${longText(16)} (pmap #(tool/measure {:text (str text %)}) (range 8))`],
    },
    value: Array.from({ length: 8 }, () => 655_361),
  },
  {
    name: 'children of a program',
    agent: 'programmer',
    context: { programs: [`${longText(16)} (pmap #(tool/read {:task (str text %)}) (range 7))`] },
    value: Array.from({ length: 7 }, () => 'reader ok'),
  },
  {
    name: 'local reads of a program with large results',
    agent: 'programmer',
    context: { programs: ['(count (pmap #(tool/fetch {:bytes (+ 250000 %)}) (range 24)))'] },
    value: 24,
  },
];

/** How many timers the history of the first link has. */
async function timersOf(run: RunHandle): Promise<number> {
  const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  return (events ?? []).filter((event) => event.timerStartedEventAttributes != null).length;
}

/** The rows that are played with a protection: all of them plain, and each other one in two. */
const PLAYED = [
  ['plain', ROWS],
  [
    'encrypted',
    extentOf(
      ROWS.filter((_, place) => place % 2 === 0),
      2,
    ),
  ],
  [
    'encrypted in a store',
    extentOf(
      ROWS.filter((_, place) => place % 2 === 1),
      2,
    ),
  ],
] as const;

describe.each(PLAYED)('%s: more than one message', (name, rows) => {
  const place = (): Place => places.find((one) => one.name === name) as Place;

  it.each(rows)('$name', { timeout: 180_000 }, async ({ agent, context, value }) => {
    const { served, protection } = place();
    const run = await served.everloop.start(agent, { task: 'Go', context });

    const step = await run.result();

    expect([step.status, step.reason, step.value]).toEqual(['success', 'answered', value]);
    await stage.replay(run, { protection, workflowsPath: TEST_LOOPS });
  });
});

describe('what one payload has no room for', () => {
  it('is the failed child of a loop, in words', async () => {
    const { everloop } = (places[0] as Place).served;
    const run = await everloop.start('spawner', {
      task: 'Go',
      context: { count: 1, bytes: 2_500_000 },
    });

    const { status, value } = await run.result();

    expect([status, value]).toEqual([
      'success',
      [expect.stringMatching(/its input has 25\d{5} bytes, at most 1500000 are allowed/)],
    ]);
  });
});

describe('what fits one message', () => {
  it.each(['spawner', 'caller', 'fetcher'])('starts no timer: %s', async (agent) => {
    const { everloop } = (places[0] as Place).served;
    const context = { count: 8, bytes: 50_000 };
    const run = await everloop.start(agent, { task: 'Go', context });

    expect(await run.result()).toMatchObject({ status: 'success' });
    expect(await timersOf(run)).toBe(0);
  });
});
