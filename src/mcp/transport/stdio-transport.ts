/**
 * A server as a child process. The SDK's own transport closes the connection under all calls when
 * one message is too long, starts a second process to negotiate, and leaves descendants; this one does
 * not.
 *
 * I1  A message that is too long fails the call that it answers, and no other.
 * I2  What is read or written at a time is bounded: a server that sends too fast is read more slowly,
 *     and one that does not read is ended. Between a few messages, others have their turn.
 * I3  When the transport is closed, or the process ends, no descendant of its process group is left.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import {
  deserializeMessage,
  SdkError,
  SdkErrorCode,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { TOO_LONG } from './failure-codes.ts';
import { MAX_MESSAGE_BYTES, MessageLines, type MessageLine } from './message-lines.ts';
import { MESSAGES_AT_ONCE, othersTurn, Pace } from './pace.ts';
import { MARK } from './reaper.ts';

/** How long a process may take to end after SIGTERM. */
const END_GRACE_MS = 2_000;

/** How long the rest of what an ended process wrote is read. */
const REST_MS = 200;

/** What {@link StdioTransport} needs. */
export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Record<string, string>;
  readonly cwd?: string;
  /** Receives what the process writes to stderr. */
  readonly onStderr: (chunk: Buffer) => void;
  /** Called when the process runs, with its mark; what it returns is called when it has ended. */
  readonly onStart: (pid: number, mark: string) => () => void;
  /** Asks the process to end, with its descendants; false if nobody was asked. */
  readonly onEnd: (pid: number) => boolean;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** A connection to a child process. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The SDK takes a transport that has this and `pid` for one over stdio. */
  readonly stderr = null;
  private readonly options: StdioOptions;
  private readonly lines = new MessageLines();
  private readonly pace = new Pace();
  private readonly stderrPace = new Pace();
  private child: Child | undefined;
  private ended: Promise<void> = Promise.resolve();
  private taken: Promise<void> = Promise.resolve();
  private hasEnded = false;
  private drained: Promise<void> | undefined;
  private onDrained = (): void => undefined;

  constructor(options: StdioOptions) {
    this.options = options;
  }

  /** The id of the process; null before it runs. */
  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** Starts the process. */
  start(): Promise<void> {
    const { command, args, env, cwd, onStderr, onStart } = this.options;
    return new Promise((resolve, reject) => {
      const mark = randomUUID();
      const child = spawn(command, args, {
        env: { ...env, [MARK]: mark },
        ...(cwd === undefined ? undefined : { cwd }),
        stdio: ['pipe', 'pipe', 'pipe'],
        shell: false,
        // A group of its own, so that its descendants can be ended with it.
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      this.child = child;
      let release = (): void => undefined;
      this.ended = new Promise((end) => {
        const finish = (): void => {
          if (this.hasEnded) return;
          this.hasEnded = true;
          endGroup(child, 'SIGKILL');
          release();
          end();
          this.onDrained();
          this.onclose?.();
        };
        // What came before the end is taken before it.
        child.once('close', () => void this.taken.then(finish));
        // A descendant may hold the pipes open.
        child.once('exit', () => {
          setTimeout(() => void this.taken.then(finish), REST_MS);
        });
        child.once('error', (error) => {
          reject(error);
          this.onerror?.(error);
          if (child.pid === undefined) finish();
        });
      });
      child.once('spawn', () => {
        if (child.pid !== undefined) release = onStart(child.pid, mark);
        resolve();
      });
      child.stdin.on('error', (error) => this.onerror?.(error));
      child.stdout.on('error', (error) => this.onerror?.(error));
      child.stderr.on('error', () => undefined);
      child.stderr.on('data', (chunk: Buffer) => {
        const waitMs = this.stderrPace.count(1, chunk.length);
        if (waitMs > 0) {
          child.stderr.pause();
          setTimeout(() => child.stderr.resume(), waitMs);
        }
        onStderr(chunk);
      });
      child.stdout.on('data', (chunk: Buffer) => this.read(child, chunk));
    });
  }

  /** Writes a message; resolves when there is room for the next one. */
  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (child === undefined || this.hasEnded || !child.stdin.writable) {
      throw new SdkError(SdkErrorCode.NotConnected, 'Not connected');
    }
    if (child.stdin.writableLength > MAX_MESSAGE_BYTES) {
      void this.close();
      throw new SdkError(SdkErrorCode.ConnectionClosed, 'The server does not read its input');
    }
    if (child.stdin.write(`${JSON.stringify(message)}\n`)) return;
    // One wait for all who write meanwhile: a listener for each would stay until the process ends.
    this.drained ??= new Promise<void>((resolve) => {
      this.onDrained = () => {
        child.stdin.off('drain', this.onDrained);
        this.drained = undefined;
        resolve();
      };
      child.stdin.once('drain', this.onDrained);
    });
    await this.drained;
  }

  /** Ends the process and its descendants, and waits for it. */
  async close(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    if (!this.hasEnded) {
      const isAsked = child.pid !== undefined && this.options.onEnd(child.pid);
      if (!isAsked) {
        child.stdin.end();
        endGroup(child, 'SIGTERM');
      }
      const timer = setTimeout(() => endGroup(child, 'SIGKILL'), END_GRACE_MS);
      await this.ended;
      clearTimeout(timer);
    }
  }

  private read(child: Child, chunk: Buffer): void {
    const lines = this.lines.add(chunk);
    const waitMs = this.pace.count(lines.length, chunk.length);
    for (const line of lines.slice(0, MESSAGES_AT_ONCE)) this.take(line);
    if (waitMs === 0 && lines.length <= MESSAGES_AT_ONCE) return;
    child.stdout.pause();
    this.taken = this.takeRest(lines);
    const goOn = (): void => void child.stdout.resume();
    void this.taken.then(() => (waitMs === 0 ? goOn() : setTimeout(goOn, waitMs)));
  }

  private async takeRest(lines: readonly MessageLine[]): Promise<void> {
    for (let at = MESSAGES_AT_ONCE; at < lines.length; at += MESSAGES_AT_ONCE) {
      await othersTurn();
      for (const line of lines.slice(at, at + MESSAGES_AT_ONCE)) this.take(line);
    }
  }

  private take(line: MessageLine): void {
    if (line.kind === 'too_long') {
      if (line.id === undefined) {
        void this.close();
        return;
      }
      const error = { code: TOO_LONG, message: 'the answer is too long' };
      this.onmessage?.({ jsonrpc: '2.0', id: line.id, error });
      return;
    }
    // Some servers greet on stdout.
    if (!line.text.trimStart().startsWith('{')) return;
    try {
      this.onmessage?.(deserializeMessage(line.text));
    } catch (error) {
      if (error instanceof Error) this.onerror?.(error);
    }
  }
}

/** Signals the process group of `child`, and the process alone where there are no groups. */
function endGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended.
  }
}
