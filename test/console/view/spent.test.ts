import { expect, test } from 'vitest';
import { spentTexts } from '../../../src/console/view/spent.ts';

const USAGE = { totalTokens: 770, costMicroUsd: 315, modelCalls: 7 };

test.each([
  { name: 'what was reported', usage: USAGE, texts: ['770 tokens', '$0.00032'] },
  {
    name: 'what nobody reported, apart',
    usage: { ...USAGE, estimated: { totalTokens: 463, costMicroUsd: 116 } },
    texts: ['770 tokens', '$0.00032', '+ about 463 tokens, $0.00012 not reported'],
  },
  {
    name: 'estimates without a price',
    usage: { ...USAGE, estimated: { totalTokens: 1_463, costMicroUsd: 0 } },
    texts: ['770 tokens', '$0.00032', '+ about 1\u2009463 tokens not reported'],
  },
  {
    name: 'that the cost is at least so much, where fees are not known',
    usage: { ...USAGE, unpricedCalls: 1 },
    texts: ['770 tokens', '≥ $0.00032'],
  },
  {
    name: 'that it does not know the cost',
    usage: { ...USAGE, costMicroUsd: 0 },
    texts: ['770 tokens', 'cost unknown'],
  },
  {
    name: 'no tokens where no call reported them',
    usage: { totalTokens: 0, costMicroUsd: 0, modelCalls: 1 },
    texts: ['tokens not reported'],
  },
])('a run says $name', ({ usage, texts }) => {
  expect(spentTexts(usage)).toEqual(texts);
});
