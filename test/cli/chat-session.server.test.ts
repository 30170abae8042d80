/** `everloop chat` in this process, with a conversation on a real server. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { external } from '../../src/define/tool/external.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { Conversation } from '../../src/client/conversation.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { CliIo, LineSource } from '../../src/cli/terminal/io.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from '../support/stage.ts';
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

let stage: Stage;
let everloop: Everloop;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  ({ everloop } = await stage.serve([clerk]));
});
afterAll(() => stage.close());

function talk(
  stdin: readonly string[],
  argv: readonly string[] = [],
  with_: Everloop = everloop,
): Promise<CliResult> {
  return cli(['chat', 'clerk', ...argv], { stdin, everloop: with_ });
}

function newId(): string {
  return `c-${randomUUID().slice(0, 8)}`;
}

function conversation(id: string): Conversation {
  return everloop.conversation('clerk', { id });
}

describe('everloop chat, over a pipe', () => {
  it('answers message by message, and remembers', async () => {
    const id = newId();
    const { exitCode, stdout, stderr } = await talk(['one', '', 'two', '/history'], ['--id', id]);

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 're: one\nre: two\nyou: one\nclerk: re: one\nyou: two\nclerk: re: two\n',
    });
    expect(stderr.split('\n')).toEqual([
      `conversation ${id} · /help lists the commands`,
      expect.stringMatching(/^success · 1 iteration · /),
      expect.stringMatching(/^success · 1 iteration · /),
      `Come back with \`everloop chat clerk --resume ${id}\`.`,
      '',
    ]);
    expect(await conversation(id).run.status()).toMatchObject({ conversation: { count: 2 } });
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
    const id = newId();

    const left = await talk(['ask'], ['--id', id]);
    const back = await talk(['outside', 'more'], ['--resume', `~conversation:${id}`]);

    expect(left).toMatchObject({ exitCode: 0, stdout: '' });
    expect(left.stderr).toContain('The turn goes on.\nCome back with');
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
      everloop,
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
      argv: (id: string) => ['clerk', '--id', id],
      says: (id: string) =>
        `Expected a free id of a conversation, got \`${id}\`. Choose another, or go on with \`everloop chat clerk --resume ${id}\`.\n`,
    },
    {
      name: 'an id that nobody has',
      argv: () => ['clerk', '--resume', 'none'],
      says: () =>
        "Expected the id of a conversation within the service's retention, got `none`. `everloop ps` lists conversations as `~conversation:{id}`.\n",
    },
    {
      name: 'one with another agent',
      argv: (id: string) => ['waiter', '--resume', id],
      says: (id: string) =>
        `Expected conversation \`${id}\` to be with agent \`waiter\`, got one with \`clerk\`. Resume it with \`everloop chat clerk --resume ${id}\`.\n`,
    },
  ])('refuses $name', async ({ argv, says }) => {
    const id = newId();
    await talk(['one'], ['--id', id]);

    const result = await cli(['chat', ...argv(id)], { everloop });

    expect(result).toMatchObject({ exitCode: 2, stdout: '', stderr: says(id) });
  });

  it('says why the first message could not begin', async () => {
    const { stderr, exitCode } = await talk(['one'], ['--limit', 'costUsd=1']);

    expect(exitCode).toBe(1);
    expect(stderr).toContain('Expected a `price` for every model under a cost limit');
  });

  it('closes a conversation, which a later message begins anew with all it knew', async () => {
    const id = newId();
    const closed = await talk(['one', '/close'], ['--id', id]);
    expect(await conversation(id).run.result()).toMatchObject({ reason: 'closed' });
    const back = await talk(['two'], ['--resume', id]);

    expect(closed.stderr).toContain('The conversation is closed. Come back with');
    expect(back).toMatchObject({ exitCode: 0, stdout: 're: two\n' });
    expect(back.stderr).toContain('you: one\nclerk: re: one\n');
  });
});

describe('a conversation on the command line', () => {
  it('is one row, whose turns `show` lists and whose events `logs` shows', async () => {
    const id = newId();
    await talk(['one', 'hang on', 'two'], ['--id', id]);
    const run = `~conversation:${id}`;
    const shown = await cli(['show', run], { everloop });
    const logs = await cli(['logs', run], { everloop });
    const tree = await cli(['tree', run], { everloop });

    expect(shown.stdout).toMatch(/state +waiting\n/);
    expect(shown.stdout).toMatch(/turns +3\n/);
    expect(shown.stdout).toMatch(/waits for +message\n/);
    expect(shown.stdout.split('\n').slice(-5)).toEqual([
      expect.stringMatching(/^TURN +BY +SAID +ENDED +COST +ANSWER$/),
      expect.stringMatching(/^1 +- +one +success +\$0\.0000 +re: one$/),
      expect.stringMatching(/^2 +- +hang on +success +\$0\.0000 +re: hang on$/),
      expect.stringMatching(/^3 +- +two +success +\$0\.0000 +re: two$/),
      '',
    ]);
    expect(logs.stdout).toMatch(/turn:after 3, success · 1 iteration · /);
    expect(tree.stdout).toMatch(/clerk +~conversation:\S+ +waiting +3 .* message\n/);
    // Other tests of the server have clerks that are forks, or that schedules started: columns of their own.
    const row = new RegExp(`^${run} +(?:- +)?clerk +(?:- +)?open +.*one$`, 'm');
    await eventually('the conversation in the list', async () => {
      const { stdout } = await cli(['ps', '--agent', 'clerk', '--limit', '1000'], { everloop });
      return row.test(stdout);
    });
    const plain = await cli(['show', id], { everloop });
    expect(plain).toMatchObject({ exitCode: 2 });
    const json = await cli(['show', run, '--json'], { everloop });
    expect(JSON.parse(json.stdout)).toMatchObject({
      turns: [
        { number: 1, text: 'one', step: { value: 're: one' } },
        { number: 2, text: 'hang on' },
        { number: 3, step: { status: 'success' } },
      ],
    });
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
  /** What was written to stderr so far. */
  readonly told: () => string;
  readonly type: (line: string) => void;
  readonly interrupt: () => void;
} {
  const typed = new EventEmitter();
  const signals = Object.assign(new EventEmitter(), { exit: () => undefined });
  const prompts: string[] = [];
  let told = '';
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
    io: {
      openLines,
      signals,
      stderr: { isTTY: false, write: (text) => void (told += text) },
    },
    prompts,
    told: () => told,
    type: (line) => void typed.emit('line', line),
    interrupt: () => void signals.emit('SIGINT'),
  };
}

describe('everloop chat, at a terminal', () => {
  it('prompts for messages and answers, and takes a line while the agent works', async () => {
    const id = newId();
    const { run } = conversation(id);
    const person = terminal();
    const chat = cli(['chat', 'clerk', '--id', id], { everloop, io: person.io });

    person.type('ask');
    await eventually('a prompt for an answer', () => person.prompts.includes('answer> '));
    person.type('1');
    await eventually('a prompt', () => person.prompts.at(-1) === 'you> ');
    person.type('hang');
    await eventually('the second turn', async () => {
      const { waitsFor } = await run.status();
      return waitsFor.includes('model m');
    });
    person.type('hurry');
    await eventually('that it was sent', () => person.told().includes('Sent. '));
    person.type('/cancel');
    await eventually('a third turn', async () => {
      const { conversation: { count = 0, isOpen = true } = {} } = await run.status();
      return count === 3 && !isOpen && person.prompts.at(-1) === 'you> ';
    });
    person.type('/quit');
    const { exitCode, stdout } = await chat;

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'result: inside\nre: hurry\n' });
    expect(person.prompts).toContain('');
    expect(person.told()).toContain('Stopped.\ncanceled (canceled)');
  });

  it('stops a turn at Ctrl-C, and leaves at the second one', async () => {
    const id = newId();
    const person = terminal();
    const chat = cli(['chat', 'clerk', '--id', id], { everloop, io: person.io });
    person.type('hang');
    await eventually('the turn', () => person.prompts.at(-1) === '');

    person.interrupt();
    await eventually('a prompt', () => person.prompts.at(-1) === 'you> ');
    person.interrupt();
    person.interrupt();
    const { exitCode } = await chat;
    const stderr = person.told();

    expect(exitCode).toBe(130);
    expect(stderr).toContain('Stopping this turn. Press Ctrl-C again to leave.\n');
    expect(stderr).toContain('Press Ctrl-C again to leave, or type /quit.\nCome back with');
    const [turn] = await conversation(id).turns();
    expect(turn?.step).toMatchObject({ status: 'canceled', message: 'Stopped by the person.' });
  });

  it('leaves a turn that no worker reads, at the second Ctrl-C', async () => {
    const lone = stage.everloopOf(`nobody-${newId()}`);
    const person = terminal();
    const chat = cli(['chat', 'clerk', '--id', newId()], { everloop: lone, io: person.io });
    person.type('one');
    await eventually('the turn', () => person.prompts.at(-1) === '');

    person.interrupt();
    await eventually('a word of it', () => person.told().includes('Stopping this turn.'));
    person.interrupt();

    expect((await chat).exitCode).toBe(130);
  });

  it('leaves a turn that goes on', async () => {
    const id = newId();
    const { run } = conversation(id);
    const person = terminal();
    const chat = cli(['chat', 'clerk', '--id', id], { everloop, io: person.io });
    person.type('build');
    await eventually('outside work', async () =>
      run.pending().then(
        (items) => items.length > 0,
        () => false,
      ),
    );

    person.type('/quit');
    const { exitCode } = await chat;
    const stderr = person.told();

    expect(exitCode).toBe(0);
    expect(stderr).toContain('The turn goes on.\n');

    const again = terminal();
    const back = cli(['chat', 'clerk', '--resume', id], { everloop, io: again.io });
    again.type('/answer 1.1 {"passed": 7}');
    await eventually('a prompt', () => again.prompts.at(-1) === 'you> ');
    again.type('/quit');
    expect(await back).toMatchObject({ exitCode: 0, stdout: 'result: {"passed":7}\n' });
  });
});
