/** What the processes of the benchmark `console` are told, and what they tell. */

/** Where they find the server, and each other. */
export interface ConsolePlace {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly dataDir: string;
}

/** What the console process tells: how people open it, or how often the service was asked. */
export type ConsoleNote = { readonly opened: string } | { readonly asked: AskedOfService };

/** Requests to the service since the process began, by name: `QueryWorkflow`. */
export type AskedOfService = Readonly<Record<string, number>>;

/** Writes `task` times a time, 20 ms apart, in one reply. */
export const WRITER = 'writer';
/** Calls a tool of {@link CALL_MS} in each of as many iterations as its task says. */
export const TICKER = 'ticker';
/** Writes 300 pieces a second for as many seconds as its task says, 10 s in each reply. */
export const TORRENT = 'torrent';

/** How long the tool of the ticker takes. */
export const CALL_MS = 60;
/** Pieces a second of the torrent. */
export const PIECES_PER_S = 300;
/** Seconds of each of its replies. */
export const REPLY_S = 10;
