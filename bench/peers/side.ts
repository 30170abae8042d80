/** What a side is to the main process, which starts it as a process of its own. */
import type { Order } from './work.ts';

/** Where the services are that a side may need. */
export interface Places {
  /** A folder that stays when the side is killed. */
  readonly folder: string;
  readonly temporal?: string;
  readonly postgres?: string;
  /** Restate's addresses, and the port at which the side serves. */
  readonly restate?: { readonly ingress: string; readonly admin: string; readonly port: number };
}

/** An engine that has been started. */
export interface Side {
  /** Plays a run to its end. */
  play(order: Order): Promise<void>;
  /** Goes on with a run that a killed process has left. Absent: the engine does that by itself. */
  resume?(order: Order): Promise<void>;
}

/** What the main process sends: orders to play at once, or a run to go on with. */
export type ToSide =
  | { readonly type: 'play'; readonly orders: readonly Order[] }
  | { readonly type: 'resume'; readonly order: Order };

/** What a side sends. */
export type FromSide =
  | { readonly type: 'ready' }
  | { readonly type: 'played'; readonly ms: number }
  | { readonly type: 'failed'; readonly error: string };

/** Runs in the process of a side: starts it, then does what the main process says. */
export async function serveSide(start: (places: Places) => Promise<Side>): Promise<void> {
  const send = (message: FromSide): void => {
    process.send?.(message);
  };
  const orDie = (work: Promise<void>): void => {
    work.catch((error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      send({ type: 'failed', error: text });
    });
  };
  const side = await start(JSON.parse(process.env['PEERS_PLACES'] ?? '{}') as Places);
  process.on('message', (message: ToSide) => {
    if (message.type === 'resume') return orDie(side.resume?.(message.order) ?? Promise.resolve());
    orDie(
      (async () => {
        const startedAt = performance.now();
        await Promise.all(message.orders.map((order) => side.play(order)));
        send({ type: 'played', ms: performance.now() - startedAt });
      })(),
    );
  });
  // A side lives as long as the process that started it.
  process.on('disconnect', () => process.exit(0));
  send({ type: 'ready' });
}
