/** Data of the server as signals: old data stays while new comes, and a failure blanks nothing. */
import { signal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { get, RequestFailed } from './api.ts';
import { isOffline } from './connection.ts';

/** An answer that is loaded, and loaded again. */
export interface Resource<Answer> {
  readonly data: Signal<Answer | null>;
  readonly error: Signal<RequestFailed | null>;
  readonly isLoading: Signal<boolean>;
  /** Asks again. Of several calls at once, the last decides. */
  readonly load: () => Promise<void>;
  /** Forgets a question that is under way. */
  readonly stop: () => void;
}

/** The answer to GET `path`; null: nothing is asked. */
function resource<Answer>(path: () => string | null): Resource<Answer> {
  const data = signal<Answer | null>(null);
  const error = signal<RequestFailed | null>(null);
  const isLoading = signal(false);
  let current: AbortController | null = null;
  const load = async (): Promise<void> => {
    current?.abort();
    const where = path();
    if (where === null) return;
    const mine = new AbortController();
    current = mine;
    isLoading.value = true;
    try {
      const answer = await get<Answer>(where, mine.signal);
      if (current !== mine) return;
      data.value = answer;
      error.value = null;
      isOffline.value = false;
    } catch (failure) {
      if (current !== mine || mine.signal.aborted) return;
      error.value = failure instanceof RequestFailed ? failure : unexpected(failure);
      if (error.value.code === 'offline') isOffline.value = true;
    } finally {
      if (current === mine) isLoading.value = false;
    }
  };
  return { data, error, isLoading, load, stop: () => current?.abort() };
}

/** The answer to GET `path` while a component is shown, asked again every `everyMs`. */
export function useResource<Answer>(path: string | null, everyMs?: number): Resource<Answer> {
  const found = useMemo(() => resource<Answer>(() => path), [path]);
  useEffect(() => {
    void found.load();
    const timer =
      everyMs === undefined
        ? undefined
        : setInterval(() => {
            // A slow answer is waited for: asking again would give it up.
            if (document.visibilityState === 'visible' && !found.isLoading.value) void found.load();
          }, everyMs);
    return () => {
      clearInterval(timer);
      found.stop();
    };
  }, [found, everyMs]);
  return found;
}

function unexpected(failure: unknown): RequestFailed {
  return new RequestFailed(
    'internal',
    failure instanceof Error ? failure.message : 'It failed.',
    0,
  );
}
