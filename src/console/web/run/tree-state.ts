/**
 * The runs of a tree as the page knows them. A tree of at most {@link MANY} runs comes whole, and
 * again when it changes. Of a larger one only the branches that are open are asked for.
 */
import { signal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { TreeRunsAnswer } from '../../api.ts';
import { get, RequestFailed, runPath } from '../base/api.ts';
import { lateNews } from '../base/late-news.ts';
import { listen } from '../base/live.ts';
import type { RunModel } from './run-state.ts';

type TreeRuns = TreeRunsAnswer['runs'];

/** Above so many runs, branches begin closed, and only open ones are asked. */
const MANY = 200;

/** How often the open branches of a large tree are asked. */
const BRANCHES_MS = 5_000;

/** A tree, and which of its branches are closed. */
export interface KnownTree {
  readonly runs: Signal<TreeRuns | null>;
  readonly error: Signal<RequestFailed | null>;
  readonly isLarge: boolean;
  readonly isOpen: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly load: () => Promise<void>;
}

/** The tree from `run` down while a component is shown. */
export function useTree(run: RunModel): KnownTree {
  const tree = useMemo(() => new Tree(run, sizeOf(run) > MANY), [run]);
  const isLive = run.header.value?.state !== 'ended';
  useEffect(() => {
    void tree.load();
    if (!isLive) return undefined;
    if (tree.isLarge) return every(BRANCHES_MS, () => void tree.load());
    return listen({ run: run.id, tree: true }, (frames) => {
      if (frames === null) void tree.load();
      else tree.news.take(frames);
    });
  }, [tree, isLive]);
  return tree;
}

/** Calls `work` from time to time while the page is visible. */
function every(ms: number, work: () => void): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') work();
  }, ms);
  return () => clearInterval(timer);
}

/** How many runs stand below, as the limit on children counts them. */
function sizeOf(run: RunModel): number {
  const line = run.header.value?.budgets.find(({ key }) => key === 'agent:children');
  return line?.used ?? run.header.value?.step?.children.length ?? 0;
}

class Tree implements KnownTree {
  readonly runs: Signal<TreeRuns | null> = signal(null);
  readonly error: Signal<RequestFailed | null> = signal(null);
  readonly isLarge: boolean;
  readonly news = lateNews((frames) => {
    for (const frame of frames) {
      if (frame.kind === 'tree' && frame.run === this.#run.id) this.runs.value = frame.runs;
    }
  });
  readonly #run: RunModel;
  /** Of a large tree the branches that are open, of others those that are closed. */
  readonly #turned: Signal<ReadonlySet<string>>;

  constructor(run: RunModel, isLarge: boolean) {
    this.#run = run;
    this.isLarge = isLarge;
    this.#turned = signal(new Set(isLarge ? [run.id] : []));
  }

  readonly isOpen = (id: string): boolean => this.#turned.value.has(id) === this.isLarge;

  readonly toggle = (id: string): void => {
    const next = new Set(this.#turned.value);
    if (!next.delete(id)) next.add(id);
    this.#turned.value = next;
    if (this.isLarge && this.isOpen(id)) void this.#ask(id);
  };

  readonly load = (): Promise<void> =>
    this.news.during(async () => {
      if (!this.isLarge) return this.#ask(this.#run.id);
      for (const id of this.#turned.value) await this.#ask(id);
    });

  async #ask(id: string): Promise<void> {
    const depth = this.isLarge ? '?depth=1' : '';
    try {
      const { runs } = await get<TreeRunsAnswer>(runPath(id, `/tree${depth}`));
      const others = this.isLarge ? (this.runs.value ?? []) : [];
      const fresh = new Set(runs.map((one) => one.id));
      this.runs.value = [...others.filter((one) => !fresh.has(one.id)), ...runs];
      this.error.value = null;
    } catch (error) {
      if (error instanceof RequestFailed) this.error.value = error;
    }
  }
}
