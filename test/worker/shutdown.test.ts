import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { stopOnSignal } from '../../src/worker/serve/shutdown.ts';

/** A process that only notes what happens to it. */
function start(deadlineMs?: number) {
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
    onDeadline: () => log.push('late'),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
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

  it('ends when the ordered stop takes longer than its time, unless it is released', () => {
    vi.useFakeTimers();
    try {
      const { emitter, log } = start(5_000);
      const other = start(5_000);
      emitter.emit('SIGINT');
      other.emitter.emit('SIGINT');
      vi.advanceTimersByTime(4_999);
      other.release();
      expect(log).toEqual(['stop SIGINT']);
      vi.advanceTimersByTime(1);

      expect(log).toEqual(['stop SIGINT', 'late', 'exit 130']);
      vi.advanceTimersByTime(10_000);
      expect(other.log).toEqual(['stop SIGINT']);
    } finally {
      vi.useRealTimers();
    }
  });
});
