/** A request as prose, for golden files that are reviewed like text. */
import type { Part } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';

/** Every message under a line with its role; what can be cached ends at a line of its own. */
export function renderRequest(request: ModelRequest): string {
  const messages = request.messages.map(
    ({ role, parts }, index) =>
      `${index === request.cacheUpTo ? '======== not cached ========\n' : ''}-------- ${role} --------\n${parts.map(renderPart).join('\n')}`,
  );
  const tools = (request.tools ?? []).map(
    (tool) =>
      `-------- tool ${tool.name} --------\n${tool.description}\n${JSON.stringify(tool.parameters)}`,
  );
  const choice =
    request.toolChoice === undefined
      ? []
      : [`-------- tool choice --------\n${JSON.stringify(request.toolChoice)}`];
  return `${[...messages, ...tools, ...choice].join('\n')}\n`;
}

function renderPart(part: Part): string {
  return part.type === 'text' ? part.text : JSON.stringify(part);
}
