// Calls one tool with the JavaScript SDK: URL TOOL ARGUMENTS. Prints one line of JSON.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages are where this is started, not where it lies.
const require = createRequire(`${process.cwd()}/`);
const sdk = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client')));

const [url, tool, given] = process.argv.slice(2);
const client = new sdk.Client({ name: 'check', version: '1' });
const transport = new sdk.StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: JSON.parse(given) });
console.log(JSON.stringify({
  revision: transport.protocolVersion ?? null,
  tools: tools.length,
  text: result.content[0].text,
  error: result.isError ?? false,
  id: result._meta?.['counterfoil/execution_id'] ?? null,
}));
await client.close();
