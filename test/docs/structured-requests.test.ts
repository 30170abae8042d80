/** What docs/structured-output.md says of requests is what goes out, for each strategy. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { raterWith } from '../../examples/docs/structured-output.ts';
import type { StructuredOutput } from '../../src/define/model/model-entry.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { modelAt, startPlainServer, type PlainServer } from '../support/aimock.ts';
import { withHiddenValue } from '../support/hidden-values.ts';

const PAGE = readFileSync(new URL('../../docs/structured-output.md', import.meta.url), 'utf8');

/** The block of the page under a name: ` ```json name `. */
function blockOf(name: string): string {
  const block = new RegExp(`^(\`{3,4})(?:json|text) ${name}\\n([^]*?)^\\1$`, 'm').exec(PAGE);
  if (block === null) throw new Error(`Expected a block \`${name}\` in the page, got none.`);
  return block[2] ?? '';
}

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly [field: string]: unknown;
}

let server: PlainServer;
let sent: Sent | undefined;
beforeAll(async () => {
  server = await startPlainServer((_request, response, body) => {
    sent = JSON.parse(body) as Sent;
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"Enough."}}');
  });
});
afterAll(() => server.stop());

async function requestBy(structuredOutput: StructuredOutput): Promise<Sent> {
  sent = undefined;
  const model = { id: 'm', model: modelAt(server.url, 'openai-chat', 'gpt-5'), structuredOutput };
  await startInMemory({
    agent: raterWith(model),
    task: 'Great, but late.',
    context: withHiddenValue(),
    limits: { modelCalls: 1 },
  }).result;
  if (sent === undefined) throw new Error('Expected a request, got none.');
  return sent;
}

describe('a request with a schema', () => {
  test.each([
    { strategy: 'schema', fields: ['response_format'] },
    { strategy: 'tool', fields: ['tools', 'tool_choice'] },
    { strategy: 'prompt', fields: [] },
  ] as const)('has what the page says: $strategy', async ({ strategy, fields }) => {
    const request = await requestBy(strategy);

    const shown = Object.fromEntries(fields.map((field) => [field, request[field]]));
    const others = ['response_format', 'tools', 'tool_choice'].filter(
      (field) => !(fields as readonly string[]).includes(field) && field in request,
    );
    expect(others).toEqual([]);
    if (fields.length > 0) expect(JSON.parse(blockOf(strategy))).toEqual(shown);
    expect(request.messages.map(({ content }) => content).join('\n\n')).toContain(
      blockOf('prompt'),
    );
  });
});
