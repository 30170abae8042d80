/** What public reports of other products say that providers answer, played over HTTP. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, type Step } from '../../src/index.ts';
import { createFakeClock, startInMemory } from '../../src/testing.ts';
import { modelAt, startPlainServer, type PlainServer } from '../support/aimock.ts';
import { START } from '../support/runs.ts';

interface Refused {
  readonly status: number;
  readonly body: unknown;
}

type Body = { readonly [field: string]: unknown };

let server: PlainServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** A message of the assistant, as chat completions have it. */
function said(message: object): string {
  const choices = [{ index: 0, message: { role: 'assistant', content: null, ...message } }];
  const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
  const isCall = 'tool_calls' in message;
  const finished = choices.map((choice) => ({
    ...choice,
    finish_reason: isCall ? 'tool_calls' : 'stop',
  }));
  return JSON.stringify({ id: 'c', created: 1, model: 'm', choices: finished, usage });
}

const callOf = (name: string, args = '{"city":"Vienna"}'): object => ({
  tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: args } }],
});

interface Played {
  readonly step: Step;
  readonly bodies: readonly Body[];
  readonly ran: readonly string[];
}

/** A run of an agent with one tool, whose provider gives one answer after another. */
async function play(
  answers: readonly (Refused | object)[],
  options: { readonly toolChoice?: 'required'; readonly image?: string } = {},
): Promise<Played> {
  const bodies: Body[] = [];
  server = await startPlainServer((_request, response, body) => {
    bodies.push(JSON.parse(body) as Body);
    const answer = answers[Math.min(bodies.length, answers.length) - 1] ?? {};
    response.setHeader('content-type', 'application/json');
    if (!('status' in answer)) return void response.end(said(answer));
    const { status, body: refusal } = answer as Refused;
    response.writeHead(status).end(typeof refusal === 'string' ? refusal : JSON.stringify(refusal));
  });
  const ran: string[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks at a city.',
    effect: 'read',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => (ran.push(city), 'grey'),
  });
  const { image, ...more } = options;
  const agent = defineAgent({
    name: 'a',
    model: {
      id: 'm',
      model: modelAt(`${server.url}/unchecked`, 'openai-compatible'),
      settings: { stream: false },
    },
    tools: [look],
    ...more,
  });
  const media =
    image === undefined ? [] : [{ type: 'media' as const, mediaType: 'image/png', url: image }];
  const task = { text: 'Look.', media };
  const step = await startInMemory({ agent, task, clock: createFakeClock(START) }).result;
  return { step, bodies, ran };
}

const DONE = { content: 'Done.' };
const error = (message: string, more: object = {}): object => ({ error: { message, ...more } });

describe('a refusal that public reports quote', () => {
  it.each([
    {
      name: 'of content by xAI, with 403',
      status: 403,
      body: {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
      },
      reason: 'model_refused',
    },
    {
      name: 'of content by Zhipu, in Chinese',
      status: 400,
      body: error('系统检测到输入或生成内容可能包含不安全或敏感内容', { code: '1301' }),
      reason: 'model_refused',
    },
    {
      name: 'of one message that is too long',
      status: 400,
      body: error(
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
        { code: 'string_above_max_length' },
      ),
      reason: 'context_too_long',
    },
    {
      name: 'by a server that has no room for an answer',
      status: 400,
      body: error('max_tokens must be at least 1, got -120.', { type: 'BadRequestError' }),
      reason: 'context_too_long',
    },
  ])('is named: $name', async ({ status, body, reason }) => {
    const { step, bodies } = await play([{ status, body }]);

    expect(step).toMatchObject({ status: 'error', reason });
    expect(bodies).toHaveLength(1);
  });

  it.each([
    {
      name: 'LM Studio',
      status: 400,
      body: { error: 'The model has crashed without additional information. (Exit code: 6)' },
    },
    {
      name: 'Text Generation Inference',
      status: 424,
      body: { error: 'CUDA out of memory', error_type: 'generation' },
    },
    {
      name: 'OpenAI',
      status: 400,
      body: error('The server had an error processing your request.', { type: 'server_error' }),
    },
    { name: 'a proxy', status: 499, body: 'client closed request' },
  ])(
    'with the status of a bad request, but by a server that failed, is tried again: $name',
    async ({ status, body }) => {
      const { step, bodies } = await play([{ status, body }, DONE]);

      expect(step).toMatchObject({ status: 'success', value: 'Done.' });
      expect(bodies).toHaveLength(2);
    },
  );

  it.each([
    'Thinking mode does not support this tool_choice',
    '<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode',
    'Thinking may not be enabled when tool_choice forces tool use.',
  ])('of a forced call leaves the choice to the model, and tells it: %s', async (message) => {
    const refused = { status: 400, body: error(message, { type: 'invalid_request_error' }) };

    const { step, bodies, ran } = await play([refused, callOf('look'), DONE], {
      toolChoice: 'required',
    });

    expect(step).toMatchObject({ status: 'success', value: 'Done.' });
    expect(ran).toEqual(['Vienna']);
    expect(bodies.map(({ tool_choice: choice }) => choice)).toEqual(['required', 'auto', 'auto']);
    expect(JSON.stringify(bodies[1])).toContain('Call one of the tools now.');
    expect(JSON.stringify(bodies[2])).not.toContain('Call one of the tools now.');
  });

  it('of a picture that only its code names leaves the picture out', async () => {
    const body = error('Timeout while downloading https://files.example/a.png.', {
      type: 'invalid_request_error',
      code: 'invalid_image_url',
    });

    const { step, bodies } = await play([{ status: 400, body }, DONE], {
      image: 'https://files.example/a.png',
    });

    expect(step).toMatchObject({ status: 'success', value: 'Done.' });
    expect(JSON.stringify(bodies[0])).toContain('image_url');
    expect(JSON.stringify(bodies[1])).not.toContain('image_url');
  });
});

describe('a call whose name has marks of a template', () => {
  it.each([
    'functions.look',
    'look<|channel|>commentary',
    'default_api:look',
    'look<|constrain|>json',
  ])('is a call of the tool: %s', async (name) => {
    const { step, bodies, ran } = await play([callOf(name), DONE]);

    expect(step).toMatchObject({ status: 'success', value: 'Done.' });
    expect(ran).toEqual(['Vienna']);
    expect(JSON.stringify(bodies[1])).not.toContain(name);
  });

  it.each(['functions.look.more', 'looks<|channel|>commentary', 'my.look'])(
    'of another tool is none: %s',
    async (name) => {
      const { ran } = await play([callOf(name), DONE]);

      expect(ran).toEqual([]);
    },
  );
});
