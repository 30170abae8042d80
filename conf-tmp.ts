import { readFileSync, readdirSync } from 'node:fs';
import { evaluate } from './test/lisp/support/evaluate.ts';
let n = 0, bad = 0;
for (const f of readdirSync('test/lisp/conformance').sort()) {
  readFileSync('test/lisp/conformance/' + f, 'utf8').split('\n').forEach((l, i) => {
    const at = Math.max(l.lastIndexOf(' ;=> '), l.lastIndexOf(' ;=! '));
    if (at < 0) return;
    n++;
    const exp = (l[at + 3] === '!' ? '!' : '') + l.slice(at + 5);
    const src = l.slice(0, at);
    const got = [false, true].map((forced) => { try { const r = evaluate(src, { forced }); return r.kind === 'value' ? r.printed : '!' + r.reason + ' ' ; } catch (e) { return 'THROW ' + String(e).slice(0, 100); } }).map((x) => x.trim());
    if (got[0] !== exp || got[1] !== exp) { bad++; console.log(`${f}:${i + 1} ${src.slice(0, 120)}   want ${exp.slice(0, 80)}   got ${got[0].slice(0, 90)}${got[1] !== got[0] ? '   FORCED ' + got[1].slice(0, 60) : ''}`); }
  });
}
console.log(n, bad);
