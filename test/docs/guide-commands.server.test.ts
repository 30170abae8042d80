/** The agents of the guides run from the command line with the commands that their pages show. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { processIo, type LineSource } from '../../src/cli/terminal/io.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-guides-'));
  await shareBundle(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** One command of a page. */
interface GuideCommand {
  readonly page: string;
  /** As it stands on the page, without `--agents` and its file. */
  readonly command: string;
  /** What a person types once they have seen what stands before it. */
  readonly typed?: readonly (readonly [seen: string, line: string])[];
  readonly stdout: string;
}

const COMMANDS: readonly GuideCommand[] = [
  {
    page: 'modes',
    command: `run writer 'Be brief.' --context '{"sentiment": "annoyed"}'`,
    stdout: 'We are sorry, and on it.\n',
  },
  {
    page: 'modes',
    command: `run router --context '{"message": "Still broken!"}'`,
    stdout: '{\n  "sentiment": "annoyed",\n  "urgent": true\n}\n',
  },
  {
    page: 'modes',
    command: "run forecaster 'Which is warmer, Rome or Oslo?'",
    stdout: '{\n  "warmest": "Rome",\n  "celsius": 18\n}\n',
  },
  {
    page: 'modes',
    command: "run thinker 'How cold is it in Oslo?'",
    stdout: 'It is -4 degrees in Oslo.\n',
  },
  {
    page: 'structured-output',
    command: `run triage --context '{"review": "Great, but late."}'`,
    stdout: '{\n  "sentiment": "positive",\n  "score": 0.9\n}\n',
  },
  {
    page: 'structured-output',
    command: "run invoice 'Invoice A-7: Tea 4.50'",
    stdout:
      '{\n  "number": "A-7",\n  "lines": [\n    {\n      "text": "Tea",\n      "amount": 4.5\n    }\n  ],\n  "total": 4.5\n}\n',
  },
  {
    page: 'asking-people',
    command: 'chat concierge',
    typed: [
      ['', 'A table for two'],
      ['? Inside or outside?', 'outside'],
    ],
    stdout: 'Your table is booked.\n',
  },
  {
    page: 'asking-people',
    command: 'chat cashier',
    typed: [
      ['', 'Pay A-7'],
      ['? May I call pay {"invoice":"A-7","amount":500}\n  It is due today.', 'y'],
    ],
    stdout: 'The invoice is settled.\n',
  },
  {
    page: 'asking-people',
    command: 'chat builder',
    typed: [
      ['', 'Build abc123'],
      [
        'waits for external 1.1: build {"url":"https://ci.example.com/1.1"}',
        '/answer 1.1 {"passed": 212}',
      ],
    ],
    stdout: 'The build is green.\n',
  },
  {
    page: 'programs',
    command: `run accountant --context '{"customers": ["C1", "C2"], "minimum": 5000}'`,
    stdout: '{\n  "cents": 12000,\n  "orders": 1\n}\n',
  },
  {
    page: 'piping',
    command: `run reader --context '{"mail": "Where is order 7?"}'`,
    stdout: '{\n  "topic": "a late parcel",\n  "tone": "annoyed",\n  "orders": [\n    7\n  ]\n}\n',
  },
  {
    page: 'piping',
    command: `run clerk 'Be brief.' --context '{"topic": "a late parcel", "orders": [7]}'`,
    stdout: 'We are sorry: order 7 arrives tomorrow.\n',
  },
  {
    page: 'piping',
    command: `run judge --context '{"input": "We are sorry."}'`,
    stdout: '{\n  "polite": true\n}\n',
  },
  {
    page: 'chat-applications',
    command: 'chat host',
    typed: [
      ['', 'A table for two, please.'],
      ['? Inside or outside?', '2'],
      ['? May I call book', 'y'],
    ],
    stdout: 'Booked: table 7, outside, for two.\n',
  },
];

test('each command of a guide is run here', () => {
  const pages = [...new Set(COMMANDS.map(({ page }) => page))];
  const shown = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, `docs/${page}.md`), 'utf8').matchAll(/^npx everloop (.*)$/gm)].map(
      ([, command = '']) => ({
        page,
        command: command.replace(` --agents examples/docs/${page}.ts`, ''),
      }),
    ),
  );

  expect(shown).toEqual(COMMANDS.map(({ page, command }) => ({ page, command })));
});

test.each(COMMANDS)('$page: everloop $command', async ({ page, command, typed = [], stdout }) => {
  const { address, namespace } = inject('temporal');
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => (written[name] += text),
  });

  const exitCode = await runCli(
    [...wordsOf(command), '--agents', `examples/docs/${page}.ts`, '--serve'],
    {
      ...processIo(),
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      cwd: ROOT,
      env: {
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        EVERLOOP_DATA_DIR: folder,
        EVERLOOP_TASK_QUEUE: `guide-${wordsOf(command)[1]}`,
        EVERLOOP_LOG_LEVEL: 'ERROR',
      },
      openLines: () => personAt(typed, () => written.stderr),
    },
  );

  expect({ exitCode, stdout: written.stdout }, written.stderr).toEqual({ exitCode: 0, stdout });
});

/** Somebody at a terminal who reads before they type, and leaves after the answer. */
function personAt(typed: NonNullable<GuideCommand['typed']>, screen: () => string): LineSource {
  return {
    isTerminal: true,
    lines: (async function* () {
      for (const [seen, line] of [...typed, ['success', '/quit'] as const]) {
        await eventually(seen, () => screen().includes(seen), 60_000);
        yield line;
      }
    })(),
    prompt: () => undefined,
    close: () => undefined,
  };
}

/** The words of a line of a shell, with single quotes. */
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}
