/** `chat AGENT`: a conversation with an agent. */
import { Option, type Command } from 'commander';
import type { Conversation, ConversationOptions } from '../../client/conversation.ts';
import type { Everloop } from '../../client/everloop-client.ts';
import { defined } from '../../core/base/defined.ts';
import { conversationPlace } from '../../core/base/ids.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { collect } from '../terminal/arguments.ts';
import type { CommandRunner, Cli } from '../terminal/cli.ts';
import { createChatView, createJsonChatView, type ChatView } from '../chat/chat-view.ts';
import { runChatSession, type ChatEnding, type ChatSessionParts } from '../chat/chat-session.ts';
import { leaveSoon } from '../terminal/leave.ts';
import { EXIT_CODES, exitCodeOfStep } from '../terminal/exit-codes.ts';
import {
  ON_EVENT_HELP,
  openServed,
  startFrom,
  type StartFlags,
  SERVED_CLOSE_MS,
} from './open-served.ts';

interface ChatOptions extends StartFlags {
  readonly resume?: string;
  readonly tenant?: string;
  readonly stream?: boolean;
}

/** Adds `chat AGENT`: a conversation, message by message. */
export function addChatCommand(program: Command, act: CommandRunner): void {
  program
    .command('chat')
    .summary('talk with an agent')
    .description(
      'Talks with an agent. Each line is a message; answers go to stdout. You also answer its questions ' +
        'and approve its calls here. Ctrl-C stops the current turn, and a second Ctrl-C leaves. /quit ' +
        'and the end of input leave without stopping anything; /close ends the conversation. With ' +
        '--json, each update is a JSON document on one line.',
    )
    .argument('<agent>', 'name of the agent')
    .option('--agents <file>', 'agent file to serve (default: agents.ts, if it exists)')
    .option('--workflows <file>', 'the file of your own loops, formats, … to serve')
    .option('--context <json>', "named data as a JSON object, or @ and a file's path")
    .addOption(
      new Option(
        '--id <id>',
        "id of the new conversation (default: the agent's name and 8 digits)",
      ).conflicts('resume'),
    )
    .option(
      '--limit <key=value>',
      'limit of each turn, such as totalTokens=200000; repeatable',
      collect,
      [],
    )
    .option('--model <id>', "model entry that replaces the agent's own")
    .option('--on-event <url>', ON_EVENT_HELP, collect, [])
    .option('--resume <id>', 'continue this conversation')
    .option('--serve', 'serve the agent file even if TEMPORAL_ADDRESS is set')
    .option('--no-serve', 'leave the work to other workers')
    .option('--tenant <name>', 'the tenant of the conversation')
    .option('--stream', 'show provisional text even if stderr is not a terminal')
    .option('--no-stream', 'show answers only')
    .action((agent: string, options: ChatOptions) => act((cli) => chat(cli, agent, options)));
}

async function chat(cli: Cli, agent: string, options: ChatOptions): Promise<number> {
  const { resume } = options;
  // `ps` shows the id of the run of a conversation, with its tenant.
  const named = resume === undefined ? undefined : conversationPlace(resume);
  const id = named?.id ?? resume ?? options.id;
  const tenant = options.tenant ?? named?.tenant;
  const opening = { ...(await startFrom(cli, options)), ...defined({ id, tenant }) };
  const { everloop, isServed } = await openServed(cli, agent, { ...options, mayServe: true });
  try {
    return await talk(cli, everloop, { agent, opening, options, isServed });
  } finally {
    await everloop.close();
  }
}

interface Talk {
  readonly agent: string;
  readonly opening: ConversationOptions;
  readonly options: ChatOptions;
  readonly isServed: boolean;
}

async function talk(
  cli: Cli,
  everloop: Everloop,
  { agent, opening, options, isServed }: Talk,
): Promise<number> {
  const { io } = cli;
  const conversation = everloop.conversation(agent, opening);
  const isNew = await isNewConversation(conversation, options);
  const view = viewOf(cli, options);
  const signals = listenTo(io.signals);
  view.note(`conversation ${conversation.id} · /help lists the commands`);
  const lines = io.openLines();
  try {
    const ending = await runChatSession({ conversation, isNew, lines, view, onSignal: signals.on });
    if (ending.isOpen) {
      const goesOn = isServed ? 'waits until a worker serves its agent' : 'goes on';
      view.note(`The turn ${goesOn}.`);
    }
    const { tenant } = opening;
    if (!isNew || ending.hasSpoken) {
      const closed = ending.how === 'closed' ? 'The conversation is closed. ' : '';
      const ofTenant = tenant === undefined ? '' : ` --tenant ${tenant}`;
      view.note(
        `${closed}Come back with \`everloop chat ${agent} --resume ${conversation.id}${ofTenant}\`.`,
      );
    }
    const exitCode = exitCodeOf(ending, lines.isTerminal);
    if (ending.how === 'interrupted') {
      leaveSoon(io.signals, exitCode, isServed ? SERVED_CLOSE_MS : undefined);
    }
    return exitCode;
  } finally {
    signals.off();
  }
}

function viewOf({ io, output }: Cli, { stream }: ChatOptions): ChatView {
  if (output.isJson) return createJsonChatView(output, (line) => io.stdout.write(line));
  return createChatView(output, {
    streams: stream ?? output.isLive,
    isWatched: output.isLive && io.stdout.isTTY === true,
    now: () => Date.now(),
  });
}

/** At a terminal, leaving is a success; a script gets the exit code of its last turn. */
function exitCodeOf({ how, lastStep }: ChatEnding, isTerminal: boolean): number {
  if (how === 'interrupted') return EXIT_CODES.interrupted;
  return isTerminal || lastStep === null ? EXIT_CODES.success : exitCodeOfStep(lastStep);
}

/** Passes signals of the process on to the listener that `on` sets, until `off`. */
function listenTo(source: Cli['io']['signals']) {
  type Listener = Parameters<ChatSessionParts['onSignal']>[0];
  let notify: Listener = () => undefined;
  const interrupt = (): void => notify('interrupt');
  const leave = (): void => notify('leave');
  const handlers = [
    ['SIGINT', interrupt],
    ['SIGTERM', leave],
    ['SIGHUP', leave],
  ] as const;
  for (const [signal, handler] of handlers) source.on(signal, handler);
  return {
    on: (listener: Listener) => void (notify = listener),
    off: () => handlers.forEach(([signal, handler]) => source.off(signal, handler)),
  };
}

/** Whether there is none with this id yet; refuses what `--id` or `--resume` do not mean. */
async function isNewConversation(
  { agent, id, run }: Conversation,
  { id: wanted, resume }: ChatOptions,
): Promise<boolean> {
  if (wanted === undefined && resume === undefined) return true;
  const found = await run.summary().catch((error: unknown) => {
    if (isUsageError(error) && error.code === 'run_not_found') return null;
    throw error;
  });
  if (found === null && resume !== undefined) throw unknownConversation(resume);
  if (found !== null && wanted !== undefined) throw takenConversation(agent, id);
  if (found !== null && found.agent !== agent) throw otherAgent(id, found.agent, agent);
  return found === null;
}

function unknownConversation(id: string): UsageError {
  return new UsageError(
    'run_not_found',
    `Expected the id of a conversation within the service's retention, got \`${id}\`. \`everloop ps\` lists conversations as \`~conversation:{id}\`.`,
  );
}

function otherAgent(id: string, found: string, wanted: string): UsageError {
  return new UsageError(
    'id_in_use',
    `Expected conversation \`${id}\` to be with agent \`${wanted}\`, got one with \`${found}\`. Resume it with \`everloop chat ${found} --resume ${id}\`.`,
  );
}

function takenConversation(agent: string, id: string): UsageError {
  return new UsageError(
    'id_in_use',
    `Expected a free id of a conversation, got \`${id}\`. Choose another, or go on with \`everloop chat ${agent} --resume ${id}\`.`,
  );
}
