import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { stopOnSignal } from '../../src/worker/serve/shutdown.ts';

/** A process that only notes what happens to it. */
function start() {
  const emitter = new EventEmitter();
  const log: string[] = [];
  const source = {
    on: (signal: NodeJS.Signals, listener: () => void) => emitter.on(signal, listener),
    off: (signal: NodeJS.Signals, listener: () => void) => emitter.off(signal, listener),
    exit: (code: number) => log.push(`exit ${code}`),
  };
  const release = stopOnSignal({
    stop: (signal) => log.push(`stop ${signal}`),
    beforeForce: (signal) => log.push(`force ${signal}`),
    source,
  });
  return { emitter, log, release };
}

describe('stopOnSignal', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('stops in order on %s', (signal) => {
    const { emitter, log } = start();

    emitter.emit(signal);

    expect(log).toEqual([`stop ${signal}`]);
  });

  it('ends at once on a second signal, whichever it is', () => {
    const { emitter, log } = start();

    emitter.emit('SIGTERM');
    emitter.emit('SIGINT');

    expect(log).toEqual(['stop SIGTERM', 'force SIGINT', 'exit 130']);
  });

  it('takes its listeners away when it is released', () => {
    const { emitter, log, release } = start();

    release();
    release();
    emitter.emit('SIGTERM');

    expect(log).toEqual([]);
    expect(emitter.eventNames()).toEqual([]);
  });
});
