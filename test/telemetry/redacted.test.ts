/** What `redact` of an agent and `secrets` of a worker take out of the spans of calls. */
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, it } from 'vitest';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { secretValues } from '../../src/protection/secret-values.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { openTelemetry } from '../../src/telemetry/open.ts';
import { checkTelemetry } from '../../src/telemetry/options.ts';
import { telemetryParts } from '../../src/worker/serve/telemetry-parts.ts';

const CARD = '4111 1111 1111 1111';
const KEY = 'a-key-of-a-service';

const clerk = defineAgent({
  name: 'clerk',
  mode: 'chat',
  model: { id: 'm', model: async () => ({ content: '' }) },
  redact: (text) => text.replaceAll(/\b\d{4}(?:[ -]?\d{4}){3}\b/g, '[card]'),
});

/** What the span of an attempt shows of the reply of a model to `agent`. */
async function shownReply(agent: string, text: string): Promise<unknown> {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const checked = checkTelemetry(
    { traces: { spanProcessors, content: 'full' } },
    { hasEndpoint: false },
  );
  const { hide } = secretValues(['SERVICE_KEY'], { SERVICE_KEY: KEY }, () => undefined);
  const parts = telemetryParts(createRegistry({ agents: [clerk] }), {
    stats: () => ({ bytes: 0 }) as never,
  });
  const telemetry = await openTelemetry(checked, { ...parts, hide });
  const order = { agent, runId: 'run', model: 'm', purpose: 'reply', seq: 7 } as ModelOrder;
  await telemetry.watch.model({ order, attempt: 1, queueMs: 0 }, async (notes) => {
    notes.replied([{ type: 'text', text }]);
  });
  const [span] = exporter.getFinishedSpans();
  await telemetry.close();
  return span?.attributes['gen_ai.output.messages'];
}

it('the reply of a model is shown as its agent may read it', async () => {
  const text = `Charged ${CARD} with ${KEY}.`;
  expect(await shownReply('clerk', text)).toBe(
    '[{"type":"text","text":"Charged [card] with [redacted]."}]',
  );
  // An agent without `redact` has no patterns; the values of a worker are hidden for all.
  expect(await shownReply('other', text)).toBe(
    `[{"type":"text","text":"Charged ${CARD} with [redacted]."}]`,
  );
});

it.each([
  { what: 'a number that its agent takes out', value: CARD },
  { what: 'a value that its worker hides', value: KEY },
])('keeps no part of $what at the cut', async ({ value }) => {
  // An attribute is cut after 32,768 bytes: in the middle of the value.
  const before = 'word '.repeat(6_600).slice(0, 32_730);
  for (const words of [1_000, 8_000]) {
    const text = `${before} ${value} ${'word '.repeat(words)}`;
    const shown = String(await shownReply('clerk', text));
    expect(shown).toMatch(/word[^]*\n\[cut: \d+ bytes in all\]$/);
    expect(shown).not.toContain(value.slice(0, 4));
  }
});
