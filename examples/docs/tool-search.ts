/** The examples of docs/tool-search.md: its code blocks are the regions of this file. */
import { z } from 'zod';
import {
  defineAgent,
  defineTool,
  type AgentDefinition,
  type AgentModel,
  type SearchEngine,
} from '../../src/index.ts';

/** An agent that searches its tools. */
export function desk(model: AgentModel): AgentDefinition {
  // #region search
  const moveBooking = defineTool({
    name: 'move_booking',
    description: 'Move a booking to another flight.',
    parameters: z.object({ booking_id: z.string(), flight: z.string() }),
    effect: 'once',
    search: {
      domain: 'Booking',
      categories: ['change'],
      keywords: ['reschedule', 'rebook'],
      queries: ['change my flight', 'move to a later flight'],
    },
    execute: ({ booking_id, flight }) => `${booking_id} is on ${flight}`,
  });
  const readPolicy = defineTool({
    name: 'read_policy',
    description: 'Read what a change costs.',
    search: { domain: 'Policy', queries: ['what does a change cost'] },
    execute: () => 'Changes are free.',
  });

  const desk = defineAgent({
    name: 'desk',
    model,
    tools: [moveBooking, readPolicy],
    toolSearch: { pins: ['read_policy'] },
  });
  // #endregion
  return desk;
}

/** The same agent with an engine of its own. */
export function deskWithEngine(model: AgentModel): AgentDefinition {
  const { tools } = desk(model);
  // #region engine
  const byBeginning: SearchEngine = {
    id: 'beginning',
    guidance: 'how the name of the tool begins, for example "move"',
    search: (query, searchable) =>
      searchable.map((tool) => tool.name).filter((name) => name.startsWith(query)),
  };
  const withEngine = defineAgent({
    name: 'desk',
    model,
    tools,
    toolSearch: { hint: 'names', pageSize: 5, engines: ['bm25', byBeginning] },
  });
  // #endregion
  return withEngine;
}
