/** The answers of a worker process of the benchmark `fleet`. */
import type { WorkerUsed } from './orders.ts';

/** Answers each question with what this process has used; ends with the process that asks. */
export function tellUsed(): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const rssMb = process.memoryUsage.rss() / 1e6;
    const used: WorkerUsed = { cpuMs: (user + system) / 1_000, rssMb };
    process.send?.(used);
  });
  process.once('disconnect', () => process.exit());
}
