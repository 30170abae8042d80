/** The attempts of the calls that a page of a run shows: what was lost, when and why. */
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { SpansAnswer } from '../../api.ts';
import type { AttemptView } from '../../view/attempts.ts';
import type { IterationView } from '../../view/iteration-view.ts';
import { timelineOf, type Timeline, type TimelineSpan } from '../../view/spans.ts';
import { get, runPath } from '../base/api.ts';

/** How often attempts are read while no worker answers. */
const SILENT_MS = 3_000;

/** Attempts of one run. */
export class RunAttempts {
  readonly #id: string;
  readonly #section: ReadonlySignal<readonly IterationView[]>;
  readonly #views: Signal<readonly AttemptView[]> = signal([]);
  readonly #silence: ReadonlySignal<{ readonly since: number } | null>;
  /** The spans of the iterations that are shown, with what was lost of them. */
  readonly timeline: ReadonlySignal<Timeline>;
  /** Spans of which an attempt was lost. */
  readonly losses: ReadonlySignal<readonly TimelineSpan[]>;
  /** Loads that were asked for since all were done. */
  #asked = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `section`: the iterations that the page shows; `silence`: since when no worker answers. */
  constructor(
    id: string,
    section: ReadonlySignal<readonly IterationView[]>,
    silence: ReadonlySignal<{ readonly since: number } | null>,
  ) {
    this.#id = id;
    this.#section = section;
    this.#silence = silence;
    this.timeline = computed(() =>
      timelineOf(section.value, this.#views.value, silence.value?.since),
    );
    this.losses = computed(() =>
      this.timeline.value.spans.filter(({ lost }) => lost !== undefined && lost.attempt > 0),
    );
  }

  /** While no worker answers, loads again: the service notices some seconds later who was lost. */
  watch(): void {
    this.stop();
    this.#timer = setInterval(() => {
      if (this.#silence.value !== null && document.visibilityState === 'visible') this.load();
    }, SILENT_MS);
  }

  /** Ends {@link watch}. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** All that were loaded. */
  get value(): readonly AttemptView[] {
    return this.#views.value;
  }

  /** Loads those of the iterations that are shown, once at a time: a later answer is a newer one. */
  load(): void {
    this.#asked += 1;
    if (this.#asked === 1) void this.#loadAll();
  }

  async #loadAll(): Promise<void> {
    for (let done = 0; done < this.#asked;) {
      done = this.#asked;
      await this.#loadOnce();
    }
    this.#asked = 0;
  }

  async #loadOnce(): Promise<void> {
    const section = this.#section.value;
    const [from, until] = [section[0]?.number ?? 0, (section.at(-1)?.number ?? 0) + 1];
    try {
      const path = runPath(this.#id, `/spans?from=${from}&until=${until}`);
      const { attempts } = await get<SpansAnswer>(path);
      const others = this.#views.value.filter(
        ({ iteration }) => iteration < from || iteration >= until,
      );
      this.#views.value = [...others, ...attempts];
    } catch {
      // Without them the timeline has no lost parts.
    }
  }
}
