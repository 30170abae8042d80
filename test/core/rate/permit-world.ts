/**
 * Workers and a counter of permits with a clock of their own, in which anything may come late, be lost
 * or die. Each request of a worker that has a permit is under way at once.
 */
import {
  answered,
  askFor,
  isLeased,
  newHolding,
  unanswered,
  usablePermits,
  type Holding,
} from '../../../src/core/rate/holding.ts';
import { leasedPermits, NEW_COUNTER, type RateCounter } from '../../../src/core/rate/counter.ts';
import type { PermitAnswer, PermitOrder } from '../../../src/core/rate/permits.ts';

/** What happens next; `at` chooses a worker or a message. */
export type Happening =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'want'; readonly at: number; readonly requests: number }
  | { readonly kind: 'end'; readonly at: number }
  | { readonly kind: 'ask'; readonly at: number; readonly givesBack: boolean }
  | { readonly kind: 'deliver'; readonly at: number; readonly skewMs: number }
  | { readonly kind: 'answer'; readonly at: number }
  | { readonly kind: 'give up'; readonly at: number }
  | { readonly kind: 'kill'; readonly at: number }
  | { readonly kind: 'lose counter' }
  | { readonly kind: 'continue'; readonly skewMs: number };

interface Worker {
  holding: Holding;
  underWay: number;
  waiting: number;
  /** What its clock shows more than others. */
  readonly aheadMs: number;
}

interface Sent {
  readonly worker: Worker;
  readonly order: PermitOrder;
  answer: PermitAnswer | null;
}

/** Of `limit` permits. */
export class PermitWorld {
  readonly workers: Worker[];
  readonly #limit: number;
  #now = 1_000_000;
  #named = 0;
  #sent: Sent[] = [];
  #counter: { state: RateCounter; mayLackSince: number | undefined } | null = null;
  #hasBegun = false;

  constructor(limit: number, workers: number) {
    this.#limit = limit;
    this.workers = Array.from({ length: workers }, () => this.#newWorker());
  }

  /** Requests under way now. */
  get underWay(): number {
    return this.workers.reduce((sum, { underWay }) => sum + underWay, 0);
  }

  /** Lets it happen; nothing does if it cannot. */
  play(happening: Happening): void {
    this.#happen(happening);
    for (const worker of this.workers) this.#serve(worker);
  }

  #happen(happening: Happening): void {
    switch (happening.kind) {
      case 'pass':
        this.#now += happening.ms;
        return;
      case 'want':
        this.#worker(happening.at).waiting += happening.requests;
        return;
      case 'end': {
        const worker = this.#worker(happening.at);
        worker.underWay = Math.max(0, worker.underWay - 1);
        return;
      }
      case 'ask':
        this.#ask(this.#worker(happening.at), happening.givesBack);
        return;
      case 'deliver':
        this.#deliver(happening.at, this.#now + happening.skewMs);
        return;
      case 'answer':
        this.#answer(happening.at);
        return;
      case 'give up': {
        const worker = this.#worker(happening.at);
        worker.holding = unanswered(worker.holding);
        return;
      }
      case 'kill':
        this.workers[happening.at % this.workers.length] = this.#newWorker();
        return;
      case 'lose counter':
        this.#counter = null;
        return;
      case 'continue':
        this.#continue(this.#now + happening.skewMs);
    }
  }

  #worker(at: number): Worker {
    const worker = this.workers[at % this.workers.length];
    if (worker === undefined) throw new Error('Expected a worker.');
    return worker;
  }

  #newWorker(): Worker {
    this.#named += 1;
    const holding = newHolding(`w${this.#named}`);
    return { holding, underWay: 0, waiting: 0, aheadMs: this.#named * 7_000 };
  }

  #clockOf({ aheadMs }: Worker): number {
    return this.#now + aheadMs;
  }

  #serve(worker: Worker): void {
    const now = this.#clockOf(worker);
    const kept = isLeased(worker.holding, now) ? worker.holding.booked : 0;
    worker.underWay = Math.min(worker.underWay, kept);
    while (worker.waiting > 0 && worker.underWay < usablePermits(worker.holding, now)) {
      worker.waiting -= 1;
      worker.underWay += 1;
    }
  }

  #ask(worker: Worker, givesBack: boolean): void {
    if (worker.holding.asked !== null) return;
    const { underWay, waiting } = worker;
    const demand = { limit: this.#limit, underWay, wanted: underWay + waiting, givesBack };
    const { holding, order } = askFor(worker.holding, demand, this.#clockOf(worker));
    worker.holding = holding;
    this.#sent.push({ worker, order, answer: null });
  }

  /** Any order that is on its way comes to the counter, also one that its worker has given up. */
  #deliver(at: number, clock: number): void {
    const open = this.#sent.filter(({ answer }) => answer === null);
    const sent = open[at % open.length];
    if (sent === undefined) return;
    this.#counter ??= { state: NEW_COUNTER, mayLackSince: this.#hasBegun ? clock : undefined };
    this.#hasBegun = true;
    const { state, mayLackSince } = this.#counter;
    const { counter, answer } = leasedPermits(state, sent.order, { now: clock, mayLackSince });
    this.#counter.state = counter;
    if (answer.permits === undefined) throw new Error('Expected an answer with permits.');
    sent.answer = answer.permits;
  }

  #answer(at: number): void {
    const open = this.#sent.filter(({ answer }) => answer !== null);
    const sent = open[at % open.length];
    if (sent === undefined || sent.answer === null) return;
    this.#sent = this.#sent.filter((one) => one !== sent);
    const { worker, order, answer } = sent;
    if (worker.holding.asked === null || worker.holding.n !== order.n) return;
    worker.holding = answered(worker.holding, answer, this.#clockOf(worker));
  }

  /** The counter continues as new. */
  #continue(clock: number): void {
    if (this.#counter === null) return;
    const state = JSON.parse(JSON.stringify(this.#counter.state)) as RateCounter;
    this.#counter = { state, mayLackSince: clock };
  }
}
