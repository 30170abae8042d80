/** Loads the client of the Model Context Protocol, whose package only agents with servers need. */
import { missingPackage } from '../core/base/missing-package.ts';
import type * as McpToolsModule from './mcp-tools.ts';

/** The module. @throws UsageError `mcp_package` if the package is missing. */
export async function loadMcpTools(): Promise<typeof McpToolsModule> {
  try {
    return await import('./mcp-tools.ts');
  } catch (cause) {
    throw missingPackage(cause, {
      code: 'mcp_package',
      name: '@modelcontextprotocol/client',
      what: 'tools of MCP servers',
      install: 'npm install @modelcontextprotocol/client@2.4.0',
    });
  }
}
