import { describe, expect, it } from 'vitest';
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
    const argv = ['preview', 'examples/docs/own-parts.ts', 'guide', '--task', 'Go'];
    const without = await cli(argv, { cwd });
    const { exitCode, stdout } = await cli(
      [...argv, '--workflows', 'examples/toml-calls/workflow.ts'],
      { cwd },
    );

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
