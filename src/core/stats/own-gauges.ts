/** The gauges of the user in an order. */
import { utf8Length } from '../base/json.ts';
import type { ToolOrder } from '../contract/outcome.ts';
import type { Stats } from '../contract/stats.ts';
import { AGENT_PREFIX } from './stat-keys.ts';

/** Bytes of JSON of the gauges in an order, because each order is kept in history. */
const MAX_GAUGE_BYTES = 8_192;

/** The gauges of the user, as far as an order may carry them. */
export function ownGauges({ gauges }: Stats): Pick<ToolOrder, 'gauges' | 'isWithoutGauges'> {
  const own: { [key: string]: number } = {};
  let left = MAX_GAUGE_BYTES;
  for (const [key, value] of Object.entries(gauges)) {
    if (key.startsWith(AGENT_PREFIX)) continue;
    left -= utf8Length(key) + String(value).length + 4;
    if (left < 0) return { gauges: own, isWithoutGauges: true };
    own[key] = value;
  }
  return Object.keys(own).length === 0 ? {} : { gauges: own };
}
