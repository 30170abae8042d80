import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OWN_PARTS } from '../../src/core/extension/store.ts';
import { cli } from './cli-fixture.ts';

const FILE = 'examples/docs/structured-output.ts';
const cwd = process.cwd();

describe('preview [sub 2]', () => {
  it('shows the first request without server, key and model', async () => {
    const { exitCode, stdout, stderr } = await cli(
      ['preview', FILE, 'triage', '--context', '{"review": "Great, but late."}'],
      { cwd },
    );

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`--- system ---
You answer with one JSON value and nothing else.
--- user ---
# Task
Classify this review: Great, but late.
# Output format
Answer with one JSON object of this form:
\`\`\`json
{"sentiment": "text", "score": 1.5}
\`\`\`
- \`sentiment\` (string): positive, neutral or negative
- \`score\` (float, optional): how sure you are, 0 to 1
Return only the JSON, without explanation and without other text.
--- schema ---
{"type":"object","properties":{"sentiment":{"type":"string","description":"positive, neutral or negative"},"score":{"type":"number","description":"how sure you are, 0 to 1"}},"required":["sentiment"],"additionalProperties":false}
`);
  });

  it('writes one JSON document with --json', async () => {
    const { stdout } = await cli(
      ['--json', 'preview', FILE, 'triage', '--context', '{"review": "x"}'],
      { cwd },
    );

    expect(JSON.parse(stdout)).toMatchObject({ request: { mode: 'json' }, warnings: [] });
  });

  it('describes what the file of --workflows adds', async () => {
    // Files share a process, which keeps own parts and runs each module once: none is left from
    // other files, and the module is a new one.
    Reflect.deleteProperty(globalThis, OWN_PARTS);
    const folder = await mkdtemp(join(tmpdir(), 'everloop-preview-'));
    onTestFinished(async () => {
      Reflect.deleteProperty(globalThis, OWN_PARTS);
      await rm(folder, { recursive: true });
    });
    const workflows = join(folder, 'workflow.ts');
    const sources = ['src/workflow.ts', 'examples/toml-calls/workflow.ts'].map(
      (path) => pathToFileURL(join(cwd, path)).href,
    );
    await writeFile(
      workflows,
      `import { extend } from '${sources[0]}';\nimport { toml } from '${sources[1]}';\nextend({ toolchains: { toml } });\n`,
    );
    const argv = ['preview', 'examples/docs/own-parts.ts', 'guide', '--task', 'Go'];

    const without = await cli(argv, { cwd });
    const { exitCode, stdout } = await cli([...argv, '--workflows', workflows], { cwd });

    expect(without.stderr).toContain('Expected toolchain `own:toml` of agent `guide`');
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('[[call]]\ntool = "tool_name"'),
    ]);
  });

  it('names the agents of the file when there is none of the name', async () => {
    const { exitCode, stderr } = await cli(['preview', FILE, 'triag'], { cwd });

    expect(exitCode).toBe(2);
    expect(stderr).toContain('got `triag`. Did you mean `triage`?');
  });

  it('says what the context lacks', async () => {
    const { exitCode, stderr } = await cli(['preview', FILE, 'triage'], { cwd });

    expect(exitCode).toBe(2);
    expect(stderr).toContain('`review` is required (string).');
  });
});
