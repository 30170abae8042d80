import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isToolReturn } from '../../src/define/tool/tool-result.ts';
import type { McpListing } from '../../src/define/mcp/mcp-tools.ts';
import { createMcpTools, type WorkerMcpTools } from '../../src/mcp/mcp-tools.ts';
import { callListed, referenceServer } from '../support/mcp-servers.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'everloop-mcp-'));
const everything = referenceServer('everything', [], { resources: true, prompts: true });
const files = referenceServer('filesystem', [FOLDER], { tools: { allow: ['read_*', 'list_*'] } });
const memory = referenceServer('memory', [], {
  env: { MEMORY_FILE_PATH: join(FOLDER, 'memory.jsonl') },
  approval: 'destructive',
});
const SERVERS = [everything, files, memory];

describe('the reference servers of the 2025 era', () => {
  let tools: WorkerMcpTools;
  let listing: Extract<McpListing, { kind: 'listed' }>;

  beforeAll(async () => {
    writeFileSync(join(FOLDER, 'note.txt'), 'a note');
    tools = createMcpTools({ servers: SERVERS });
    const listed = await tools.list(SERVERS);
    if (listed.kind !== 'listed') throw new Error(listed.message);
    listing = listed;
  }, 120_000);
  afterAll(() => tools.close());

  const specOf = (name: string) => listing.tools.find((tool) => tool.spec.name === name)?.spec;
  const call = (name: string, args = {}, options = {}) =>
    callListed(tools, SERVERS, name, args, options);

  it('are listed, sorted, with effects and approvals by their hints', () => {
    const names = listing.tools.map(({ spec }) => spec.name);

    expect(names).toEqual(names.toSorted());
    expect(specOf('everything_echo')).toMatchObject({
      effect: 'read',
      retry: { attempts: 3 },
      parameters: { type: 'object', required: ['message'] },
      area: { domain: 'everything' },
      mcp: { server: 'everything', tool: 'echo', hash: expect.stringMatching(/^[\da-f]{16}$/) },
    });
    expect(specOf('memory_create_entities')).toMatchObject({
      effect: 'once',
      retry: { attempts: 1 },
    });
    expect(specOf('memory_delete_entities')).toMatchObject({ approval: 'always' });
    expect(specOf('memory_read_graph')).not.toHaveProperty('approval');
    expect(names.filter((name) => name.startsWith('files_write'))).toEqual([]);
  });

  it('have arguments whose schemas of draft 7 are checked', () => {
    expect(JSON.stringify(listing.tools)).not.toContain('$schema');
    expect(specOf('filesystem_read_text_file')?.parameters).toMatchObject({
      properties: { path: { type: 'string' } },
    });
  });

  it.each([
    ['everything_echo', { message: 'hello' }, 'Echo: hello'],
    [
      'everything_get-structured-content',
      { location: 'Chicago' },
      expect.objectContaining({ conditions: expect.any(String) as string }),
    ],
    [
      'everything_get-resource-links',
      { count: 1 },
      expect.stringContaining('demo://resource/dynamic/'),
    ],
    [
      'everything_get-resource-reference',
      { resourceType: 'Text', resourceId: 1 },
      expect.stringContaining('Resource demo://resource/dynamic/text/1:'),
    ],
    [
      'everything_list_resources',
      { query: 'text' },
      expect.stringContaining('demo://resource/dynamic/text/{resourceId}'),
    ],
    [
      'everything_read_resource',
      { uri: 'demo://resource/dynamic/text/1' },
      expect.stringContaining('plaintext resource'),
    ],
    ['everything_list_prompts', {}, expect.stringContaining('- args-prompt(city, state?)')],
    [
      'everything_get_prompt',
      { name: 'args-prompt', args: { city: 'Oslo' } },
      expect.stringContaining('Oslo'),
    ],
    ['memory_read_graph', {}, { entities: [], relations: [] }],
  ])('answer %s', async (name, args, value) => {
    expect((await call(name, args)).value).toEqual(value);
  });

  it('return media, and keep what is for the user from the model', async () => {
    const { value } = await call('everything_get-tiny-image');
    const { emitted } = await call('everything_get-annotated-message', {
      messageType: 'success',
      includeImage: true,
    });

    expect(isToolReturn(value) && value.media).toMatchObject([
      { type: 'media', mediaType: 'image/png' },
    ]);
    expect(emitted.map(({ name }) => name)).toContain('mcp:for_user');
  });

  it('fail with words for the model', async () => {
    const { error } = await call('filesystem_read_text_file', { path: '/etc/hostname' });

    expect(error).toMatchObject({
      name: 'ToolError',
      message: expect.stringContaining('Access denied') as string,
    });
  });

  it('are declined what they ask within a call, and the model reads it', async () => {
    const { value } = await call('everything_trigger-elicitation-request', {}, { asksUser: true });

    expect(value).toMatchObject({
      output: expect.stringContaining('declined') as string,
      instructions: expect.stringMatching(
        /^The server asked: .*Ask with ask_user and call again\.$/s,
      ) as string,
    });
  });

  it('report progress', async () => {
    const heard: unknown[] = [];
    const onProgress = (progress: unknown): void => void heard.push(progress);
    const args = { duration: 0.6, steps: 2 };
    await call('everything_trigger-long-running-operation', args, { onProgress });

    expect(heard).toContainEqual({ progress: 1, total: 2 });
  });

  it('are told when a call is stopped, and go on with others', async () => {
    const stop = new AbortController();
    const args = { duration: 60, steps: 60 };
    const stopped = call('everything_trigger-long-running-operation', args, {
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('enough')),
    });

    expect((await stopped).error).toMatchObject({ message: 'enough' });
    expect((await call('everything_echo', { message: 'on' })).value).toBe('Echo: on');
  });
});
