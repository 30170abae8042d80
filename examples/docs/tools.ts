/** The examples of docs/tools.md: its code blocks are the regions of this file. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  clientTool,
  defineAgent,
  defineTool,
  llmTool,
  ToolError,
  toolResult,
  type AgentDefinition,
  type AgentModel,
  type JsonObject,
  type ModelMiddleware,
  type ToolDefinition,
  type ToolMiddleware,
} from '../../src/index.ts';

/** Prices by product. */
const PRICES: Readonly<Record<string, number>> = { mouse: 79.99, keyboard: 149.99 };

/** A tool that only reads; its results are kept for the rest of a run. */
export function priceTool(): ToolDefinition {
  // #region tool
  const price = defineTool({
    name: 'price',
    description: 'Looks up the price of a product.',
    policy: 'One product per call.',
    parameters: z.object({ product: z.string() }),
    output: z.object({ product: z.string(), usd: z.number() }),
    effect: 'read',
    cache: true,
    execute: ({ product }, { count }) => {
      const usd = PRICES[product];
      if (usd === undefined) throw new ToolError(`there is no product ${product}`);
      count('shop:prices');
      return { product, usd };
    },
  });
  // #endregion
  return price;
}

/** A tool whose parameters stand in a file. */
export function orderTool(file: string): ToolDefinition<JsonObject> {
  // #region parsed
  const parameters = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;

  const order = defineTool({
    name: 'order',
    description: 'Orders a part.',
    parameters,
    // Both are `Json | undefined`: the schema has checked them, which TypeScript cannot know.
    execute: ({ part = null, count = 1 }) => ({ ordered: part, count }),
  });
  // #endregion
  return order;
}

/** A tool that returns more than its output. */
export function chartTool(pngBase64: string): ToolDefinition {
  // #region result
  const chart = defineTool({
    name: 'chart',
    description: 'Draws the prices of a product.',
    execute: () =>
      toolResult({
        output: { points: 12 },
        media: [{ type: 'media', mediaType: 'image/png', data: pngBase64 }],
        instructions: 'Describe the trend in one sentence.',
        importance: 5,
      }),
  });
  // #endregion
  return chart;
}

/** A tool that knows its run. */
export function refundTool(): ToolDefinition<{ readonly order: string }> {
  // #region run
  const refund = defineTool({
    name: 'refund',
    description: 'Asks the cashier to refund an order.',
    parameters: z.object({ order: z.string() }),
    effect: 'once',
    readsContext: true,
    execute: ({ order }, { run, context, raise, read }) => {
      if (read('shop:refunds_open') >= 3) throw new ToolError('three refunds are open already');
      raise('shop:refunds_open');
      // The cashier reports to this run: everloop.attach(run).send('Refunded.')
      return { order, customer: context?.['_customer'] ?? null, reportTo: run };
    },
  });
  // #endregion
  return refund;
}

/** A tool that a model calls until something has arrived. */
export function parcelTool(statusOf: (order: string) => Promise<string>): ToolDefinition {
  // #region repeatable
  const parcel = defineTool({
    name: 'parcel',
    description: 'Says where the parcel of an order is.',
    parameters: z.object({ order: z.string() }),
    effect: 'read',
    repeatable: true,
    execute: ({ order }) => statusOf(order),
  });
  // #endregion
  return parcel as ToolDefinition;
}

/** A tool that is left to the worker, and one of which each call is an activity of its own. */
export function stockTools(
  stock: (product: string) => Promise<number>,
  audit: (product: string) => Promise<string>,
): readonly ToolDefinition[] {
  // #region quick
  const inStock = defineTool({
    name: 'in_stock',
    description: 'Says how many of a product are left.',
    parameters: z.object({ product: z.string() }),
    effect: 'read',
    // The default of `read` tools: the worker finds the cheapest way.
    local: 'auto',
    execute: ({ product }) => stock(product),
  });
  const auditStock = defineTool({
    name: 'audit_stock',
    description: 'Compares the stock of a product with its deliveries.',
    parameters: z.object({ product: z.string() }),
    effect: 'read',
    // It costs money, so it never runs for a reply that breaks.
    local: false,
    execute: ({ product }) => audit(product),
  });
  // #endregion
  return [inStock, auditStock] as readonly ToolDefinition[];
}

/** A tool whose code runs in a thread. */
export function outlineTool(): ToolDefinition<{ readonly text: string }> {
  // #region isolated
  const outline = defineTool({
    name: 'outline',
    description: 'Lists the headings of a document.',
    parameters: z.object({ text: z.string() }),
    effect: 'read',
    timeoutMs: 20_000,
    isolate: 'thread',
    module: new URL('./tools-outline.ts', import.meta.url),
    heapMb: 128,
  });
  // #endregion
  return outline;
}

/** A tool that tells how far it is. */
export function reportTool(
  months: readonly string[],
  closeBooks: (year: number, month: string) => Promise<boolean>,
): ToolDefinition<{ year: number }> {
  // #region progress
  const report = defineTool({
    name: 'report',
    description: 'Writes the report of a year.',
    parameters: z.object({ year: z.number() }),
    execute: async function* ({ year }) {
      for (const month of months) yield { month, done: await closeBooks(year, month) };
      return `Report ${year}: all books are closed.`;
    },
  });
  // #endregion
  return report;
}

/** A tool that keeps a card on the page of the chat. */
export function weatherTool(
  lookUp: (city: string) => Promise<{ readonly sky: string }>,
): ToolDefinition<{ city: string }> {
  // #region part
  const weather = defineTool({
    name: 'weather',
    description: 'Tells the weather of a city.',
    parameters: z.object({ city: z.string() }),
    effect: 'read',
    execute: async ({ city }, { emit }) => {
      emit('weather:card', { city }, { id: city, keep: true });
      const { sky } = await lookUp(city);
      emit('weather:card', { city, sky }, { id: city, keep: true });
      return sky;
    },
  });
  // #endregion
  return weather;
}

/** A tool that runs in the page of the chat. */
export function placeTool(): ToolDefinition<{ exact: boolean }> {
  // #region client
  const place = clientTool({
    name: 'place',
    description: 'Where the user is.',
    parameters: z.object({ exact: z.boolean() }),
    timeoutMs: 60_000,
  });
  // #endregion
  return place;
}

/** An agent with middleware around its model and its tools. */
export function clerk(model: AgentModel): AgentDefinition {
  const price = priceTool();
  // #region middleware
  const lowerCase: ToolMiddleware = (call, next) => {
    const product = String(call.args['product']).toLowerCase();
    return next({ ...call, args: { ...call.args, product } });
  };
  const sober: ModelMiddleware = (request, next) =>
    next({ ...request, settings: { ...request.settings, temperature: 0 } });

  const clerk = defineAgent({
    name: 'clerk',
    mode: 'react',
    model,
    toolchain: 'json',
    format: 'markdown',
    tools: [price],
    toolMiddleware: [lowerCase],
    modelMiddleware: [sober],
  });
  // #endregion
  return clerk;
}

/** An agent with a tool that is a question to another model. */
export function sorter(model: AgentModel, small: AgentModel): AgentDefinition {
  // #region llm
  const classify = llmTool({
    name: 'classify',
    prompt: 'Which department should answer this mail?\n{{mail}}',
    signature: '(mail :string) -> {department :string, urgent :bool}',
    description: 'Finds the department of a mail.',
    model: small,
  });

  const sorter = defineAgent({
    name: 'sorter',
    model,
    tools: [classify],
    llmQuery: true,
  });
  // #endregion
  return sorter;
}
