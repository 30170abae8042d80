import { EventEmitter } from 'node:events';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { external } from '../../src/define/tool/external.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import {
  CHAT_COMMANDS,
  readCommand,
  type ChatCommand,
  readDecision,
} from '../../src/cli/chat/chat-commands.ts';
import { askText } from '../../src/cli/chat/chat-view.ts';
import type { CliIo, LineSource } from '../../src/cli/terminal/io.ts';
import type { PendingItem } from '../../src/core/contract/messages.ts';
import type { Decision } from '../../src/core/contract/pending.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { eventually } from '../support/eventually.ts';
import { memoryEverloop, type MemoryEverloop } from '../support/memory-everloop.ts';
import { cli, type CliResult } from './cli-fixture.ts';

const ASK = { question: 'Where?', options: ['inside', 'outside'], default: 'inside' };

/** Does what the message says: asks, pays, builds, hangs, or answers `re: {message}`. */
const model: ModelFunction = async ({ messages }, { signal, onChunk }) => {
  const last = messages.at(-1);
  const said = messages.findLast(({ role }) => role === 'user');
  const text = said === undefined ? '' : textOf(said);
  if (last?.role === 'tool') {
    const result = last.parts.flatMap((part) =>
      part.type === 'tool_result' ? part.parts.map((one) => ('text' in one ? one.text : '')) : [],
    );
    return { content: `result: ${result.join(', ')}` };
  }
  switch (text) {
    case 'ask':
      return { toolCalls: [{ name: 'ask_user', args: ASK }] };
    case 'ask twice':
      return {
        toolCalls: ['One?', 'Two?'].map((question) => ({ name: 'ask_user', args: { question } })),
      };
    case 'pay':
      return { content: 'It is due.', toolCalls: [{ name: 'pay', args: { amount: 5 } }] };
    case 'build':
      return { toolCalls: [{ name: 'build', args: {} }] };
    case 'hang':
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('aborted'))),
      );
      return '';
    default:
      for (const delta of ['re: ', text]) onChunk({ kind: 'text', delta });
      return { content: `re: ${text}` };
  }
};

const clerk: AgentDefinition = defineAgent({
  name: 'clerk',
  mode: 'chat',
  model: { id: 'm', model },
  askUser: true,
  tools: [
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ amount: z.number() }),
      approval: 'always',
      execute: ({ amount }) => `paid ${amount}`,
    }),
    defineTool({ name: 'build', description: 'Builds.', execute: () => external() }),
  ],
});

function talk(
  stdin: readonly string[],
  argv: readonly string[] = [],
  everloop: MemoryEverloop = memoryEverloop([clerk]),
): Promise<CliResult> {
  return cli(['chat', 'clerk', ...argv], { stdin, everloop });
}

describe('everloop chat, over a pipe', () => {
  it('answers message by message, and remembers', async () => {
    const { exitCode, stdout, stderr } = await talk(['one', '', 'two', '/history'], ['--id', 'c']);

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 're: one\nre: two\nyou: one\nclerk: re: one\nyou: two\nclerk: re: two\n',
    });
    expect(stderr.split('\n')).toEqual([
      'conversation c · /help lists the commands',
      expect.stringMatching(/^success · 1 iteration · /),
      expect.stringMatching(/^success · 1 iteration · /),
      'Come back with `everloop chat clerk --resume c`.',
      '',
    ]);
  });

  it.each<{ name: string; stdin: readonly string[]; stdout: string; told: readonly string[] }>([
    { name: 'by number', stdin: ['ask', '2'], stdout: 'result: outside\n', told: [] },
    { name: 'by label', stdin: ['ask', 'Outside'], stdout: 'result: outside\n', told: [] },
    { name: 'by the default', stdin: ['ask', ''], stdout: 'result: inside\n', told: [] },
    {
      name: 'after one that does not fit',
      stdin: ['ask', 'roof', '1'],
      stdout: 'result: inside\n',
      told: ['answer one of: 1 inside, 2 outside'],
    },
    {
      name: 'one after the other',
      stdin: ['ask twice', 'a', 'b'],
      stdout: 'result: a, b\n',
      told: ['? One?', '? Two?'],
    },
    { name: 'yes', stdin: ['pay', 'y'], stdout: 'result: paid 5\n', told: ['  It is due.'] },
    {
      name: 'no',
      stdin: ['pay', 'maybe', 'n too much'],
      stdout: 'result: Denied by a person: too much.\n',
      told: ['Expected y, always, n and a reason, or arguments as a JSON object. Answer again.'],
    },
    {
      name: 'other arguments',
      stdin: ['pay', '{"amount": 4}'],
      stdout: 'result: A person changed the arguments to {"amount":4}.\npaid 4\n',
      told: ['? May I call pay {"amount":5}'],
    },
  ])('takes answers and decisions: $name [sub 17] [sub 18]', async ({ stdin, stdout, told }) => {
    const result = await talk(stdin);

    expect(result).toMatchObject({ exitCode: 0, stdout });
    expect(result.stderr.split('\n')).toEqual(expect.arrayContaining([...told]));
  });

  it('leaves a question open at the end of input, and comes back to it', async () => {
    const everloop = memoryEverloop([clerk]);

    const left = await talk(['ask'], ['--id', 'c'], everloop);
    const back = await talk(['outside', 'more'], ['--resume', 'c'], everloop);

    expect(left).toMatchObject({ exitCode: 0, stdout: '' });
    expect(left.stderr).toContain('Turn c-1 goes on.\nCome back with');
    expect(back).toMatchObject({ exitCode: 0, stdout: 'result: outside\nre: more\n' });
    expect(back.stderr).toContain('you: ask\n? Where?\n  1 inside\n  2 outside\n');
  });

  it('gives each update as JSON', async () => {
    const { stdout } = await talk(['pay', 'y'], ['--json']);

    const updates = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string });
    expect(updates.filter(({ kind }) => kind === 'pending')).toMatchObject([
      { item: { id: '1.1', kind: 'approval', tool: 'pay', args: { amount: 5 } } },
    ]);
    expect(updates.at(-1)).toMatchObject({ kind: 'step', step: { value: 'result: paid 5' } });
  });

  it('shows no control characters of a model or a tool on a terminal', async () => {
    const { stdout, stderr } = await cli(['chat', 'clerk', '--stream'], {
      everloop: memoryEverloop([clerk]),
      isTty: true,
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1', NO_COLOR: '1' },
      io: { openLines: () => ({ ...piped(['a\u001b[2Jb\u202e', '/quit']), isTerminal: false }) },
    });

    expect(stderr + stdout).toContain('re: a\\u001B[2Jb\\u202E');
    const unsafe = ['\u001b', '\u202e'].filter((one) => (stderr + stdout).includes(one));
    expect(unsafe).toEqual([]);
  });

  it.each([
    {
      name: 'an id that is in use',
      argv: ['--id', 'c'],
      says: 'Expected a free id of a conversation, got `c`. Choose another, or go on with `everloop chat clerk --resume c`.\n',
    },
    {
      name: 'an id that nobody has',
      argv: ['--resume', 'd'],
      says: "Expected the id of a conversation within the service's retention, got `d`. `everloop ps` lists its turns as `{id}-1` and so on.\n",
    },
  ])('refuses $name', async ({ argv, says }) => {
    const everloop = memoryEverloop([clerk]);
    await talk(['one'], ['--id', 'c'], everloop);

    const result = await talk([], argv, everloop);

    expect(result).toMatchObject({ exitCode: 2, stdout: '', stderr: says });
  });
});

function piped(lines: readonly string[]): Omit<LineSource, 'isTerminal'> {
  return {
    lines: (async function* () {
      yield* lines;
    })(),
    prompt: () => undefined,
    close: () => undefined,
  };
}

/** A person at a terminal: types when the test says so, and sees prompts. */
function terminal(): {
  readonly io: Partial<CliIo>;
  readonly prompts: readonly string[];
  readonly type: (line: string) => void;
  readonly interrupt: () => void;
} {
  const typed = new EventEmitter();
  const signals = Object.assign(new EventEmitter(), { exit: () => undefined });
  const prompts: string[] = [];
  const queue: string[] = [];
  typed.on('line', (line: string) => queue.push(line));
  const lines = async function* (): AsyncGenerator<string> {
    for (;;) {
      for (const line of queue.splice(0)) yield line;
      await new Promise((resolve) => typed.once('line', resolve));
    }
  };
  const openLines = (): LineSource => ({
    isTerminal: true,
    lines: lines(),
    prompt: (text) => void prompts.push(text),
    close: () => undefined,
  });
  return {
    io: { openLines, signals },
    prompts,
    type: (line) => void typed.emit('line', line),
    interrupt: () => void signals.emit('SIGINT'),
  };
}

describe('everloop chat, at a terminal', () => {
  it('prompts for messages and answers, and takes a line while the agent works', async () => {
    const person = terminal();
    const everloop = memoryEverloop([clerk]);
    const chat = cli(['chat', 'clerk', '--id', 'c'], { everloop, io: person.io });

    person.type('ask');
    await eventually('a prompt for an answer', () => person.prompts.includes('answer> '));
    person.type('1');
    await eventually('the answer', async () => (await everloop.attach('c-1').step()) !== null);
    await eventually('a prompt', () => person.prompts.at(-1) === 'you> ');
    person.type('hang');
    await eventually('the second turn', async () =>
      everloop
        .attach('c-2')
        .status()
        .then(
          () => true,
          () => false,
        ),
    );
    person.type('hurry');
    person.type('/cancel');
    await eventually('the end', async () => (await everloop.attach('c-2').step()) !== null);
    person.type('/quit');
    const { exitCode, stderr } = await chat;

    expect(exitCode).toBe(0);
    expect(person.prompts).toContain('');
    expect(stderr).toContain('Sent to the current turn.\n');
    expect(stderr).toContain('Stopped.\ncanceled (canceled)');
  });

  it('stops a turn at Ctrl-C, and leaves at the second one', async () => {
    const person = terminal();
    const everloop = memoryEverloop([clerk]);
    const chat = cli(['chat', 'clerk', '--id', 'c'], { everloop, io: person.io });
    person.type('hang');
    await eventually('the turn', () => everloop.started.length === 1);

    person.interrupt();
    expect(await everloop.attach('c-1').result()).toMatchObject({
      status: 'canceled',
      message: 'Stopped by the person.',
    });
    await eventually('a prompt', () => person.prompts.at(-1) === 'you> ');
    person.interrupt();
    person.interrupt();
    const { exitCode, stderr } = await chat;

    expect(exitCode).toBe(130);
    expect(stderr).toContain('Stopping this turn. Press Ctrl-C again to leave.\n');
    expect(stderr).toContain('Press Ctrl-C again to leave, or type /quit.\nCome back with');
  });

  it('leaves a turn that goes on', async () => {
    const person = terminal();
    const everloop = memoryEverloop([clerk]);
    const chat = cli(['chat', 'clerk', '--id', 'c'], { everloop, io: person.io });
    person.type('build');
    await eventually('outside work', async () =>
      everloop
        .attach('c-1')
        .pending()
        .then(
          (items) => items.length > 0,
          () => false,
        ),
    );

    person.type('/quit');
    const { exitCode, stderr } = await chat;

    expect([exitCode, await everloop.attach('c-1').step()]).toEqual([0, null]);
    expect(stderr).toContain('Turn c-1 goes on.\n');

    const again = terminal();
    const back = cli(['chat', 'clerk', '--resume', 'c'], { everloop, io: again.io });
    again.type('/answer 1.1 {"passed": 7}');
    await everloop.attach('c-1').result();
    await eventually('a prompt', () => again.prompts.at(-1) === 'you> ');
    again.type('/quit');
    expect(await back).toMatchObject({ exitCode: 0, stdout: 'result: {"passed":7}\n' });
  });
});

const BASE = { id: 'q1', agent: 'a', path: 'a', since: 0 };

describe('askText', () => {
  it.each<{ name: string; item: PendingItem; text: string }>([
    {
      name: 'options, details, default and deadline',
      item: {
        ...BASE,
        kind: 'question',
        question: 'Which John?',
        options: ['Smith', 'Doe'],
        free: true,
        details: { city: 'Rome' },
        default: 'Doe',
        deadline: 61_000,
      },
      text: '? Which John?\n  {\n    "city": "Rome"\n  }\n  1 Smith\n  2 Doe\n  A number, a label, or an answer of your own. Without an answer within 1 min 0 s: Doe',
    },
    {
      name: 'text alone',
      item: { ...BASE, kind: 'question', question: 'Why?', free: false },
      text: '? Why?',
    },
    {
      name: 'the form of a tool',
      item: {
        ...BASE,
        kind: 'question',
        question: 'From where?',
        free: false,
        details: { tool: 'pay', form: { type: 'object', properties: {} } },
      },
      text: '? From where?\n  {\n    "tool": "pay",\n    "form": {\n      "type": "object",\n      "properties": {}\n    }\n  }\n  An object as JSON.',
    },
    {
      name: 'whose it is, from further down in a tree',
      item: {
        ...BASE,
        kind: 'question',
        question: 'Why?',
        free: false,
        agent: 'writer',
        path: 'planner/2/writer',
      },
      text: '? writer: Why?',
    },
    {
      name: 'a call with a deadline',
      item: { ...BASE, kind: 'approval', tool: 'pay', args: { to: 'a\u0007' }, deadline: 2_000 },
      text: '? May I call pay {"to":"a\\u0007"}\n  y, always, n and a reason, or other arguments as a JSON object. Without an answer within 1.0 s: no',
    },
  ])('shows $name', ({ item, text }) => {
    expect(askText(item, 1_000)).toBe(text);
  });
});

test.each<{ text: string; decision: Decision | null }>([
  { text: 'y', decision: { approve: true } },
  { text: ' YES ', decision: { approve: true } },
  { text: 'n', decision: { deny: '' } },
  { text: 'no: too much', decision: { deny: 'too much' } },
  { text: 'n too\nmuch', decision: { deny: 'too\nmuch' } },
  { text: '{"amount": 4}', decision: { args: { amount: 4 } } },
  { text: '{amount}', decision: null },
  { text: 'never', decision: null },
  { text: 'yes please', decision: null },
  { text: 'Always ', decision: { approve: true, remember: 'tool' } },
  { text: '', decision: null },
])('reads the decision `$text`', ({ text, decision }) => {
  expect(readDecision(text)).toEqual(decision);
});

test.each<{ line: string; command: ChatCommand | null }>([
  { line: 'hello', command: null },
  { line: ' /help', command: null },
  { line: '/help', command: { name: 'help' } },
  { line: '/quit ', command: { name: 'quit' } },
  { line: '/answer 1.1 {"n": 1}', command: { name: 'answer', id: '1.1', value: { n: 1 } } },
  { line: '/answer 1.1 all is well', command: { name: 'answer', id: '1.1', value: 'all is well' } },
  {
    line: '/answer 1.1',
    command: {
      name: 'unknown',
      problem:
        'Expected /help, /stats, /history, /answer ID VALUE, /cancel or /quit, got `/answer 1.1`. Begin with a space to send it as a message.',
    },
  },
])('reads the command `$line`', ({ line, command }) => {
  expect(readCommand(line)).toEqual(command);
});

test('help names every command', () => {
  expect([...CHAT_COMMANDS.matchAll(/^\/(\w+)/gm)].map(([, name]) => name)).toEqual([
    'history',
    'stats',
    'answer',
    'cancel',
    'quit',
    'help',
  ]);
});
