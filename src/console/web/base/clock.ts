/** The clock of the pages: the server's, so that relative times are right on every machine. */
import { signal, type Signal } from '@preact/signals';

let ahead = 0;

/** Now, as the server counts; moves once a second while the page is visible. */
export const now: Signal<number> = signal(Date.now());

/** Takes the time of the server. */
export function setServerTime(at: number): void {
  ahead = at - Date.now();
  now.value = at;
}

/** The server's time at this moment. */
export function serverNow(): number {
  return Date.now() + ahead;
}

/** Moves the clock. */
export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = serverNow();
  }, 1_000);
}
