import { randomBytes } from 'node:crypto';
import { keyRing } from '../src/protection/key-ring.ts';
import { protectionOf } from '../src/protection/protection.ts';
import { openStage } from './support/bench-stage.ts';
import { instantAgent } from './support/instant-agent.ts';
const stage = await openStage();
const keyed = protectionOf({ keys: keyRing({ current: 'k', keys: { k: randomBytes(32) } }) });
const agents = [instantAgent('instant')];
const a = await stage.serve(agents);
const b = await stage.serve(agents, { protection: keyed });
const fleet = async (e: typeof a.everloop) => {
  const c0 = process.cpuUsage(); const t0 = performance.now();
  await Promise.all(Array.from({ length: 40 }, async () => { const r = await e.start('instant', { task: '3', limits: { iterations: 3, costUsd: 'unlimited' } }); await r.result(); }));
  const c = process.cpuUsage(c0);
  return { cpu: (c.user + c.system) / 1000, ms: performance.now() - t0 };
};
await fleet(a.everloop); await fleet(b.everloop);
for (let i = 0; i < 6; i++) {
  const x = i % 2 ? await fleet(a.everloop) : await fleet(b.everloop);
  const y = i % 2 ? await fleet(b.everloop) : await fleet(a.everloop);
  const [p, k] = i % 2 ? [x, y] : [y, x];
  console.log('plain', p.cpu.toFixed(0), p.ms.toFixed(0), 'keys', k.cpu.toFixed(0), k.ms.toFixed(0), 'cpu', (k.cpu / p.cpu).toFixed(3), 'wall', (k.ms / p.ms).toFixed(3));
}
await stage.close();
