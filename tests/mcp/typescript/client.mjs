// Asks a CiteKit server everything a client of the official TypeScript SDK can ask, and prints what it heard as JSON.
// Usage: node client.mjs COMMAND ARGUMENT... or node client.mjs URL TOKEN
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const isUrl = /^https?:/.test(command);
const client = new Client({ name: "citekit-test", version: "1.0.0" });
const headers = { Authorization: `Bearer ${args[0]}` };
const transport = isUrl
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new StdioClientTransport({ command, args });
await client.connect(transport);

const calls = [];
const call = (name, given) => {
  calls.push([name, given]);
  return client.callTool({ name, arguments: given });
};
const heard = { calls };
heard.server = client.getServerVersion();
heard.instructions = client.getInstructions();
heard.tools = (await client.listTools()).tools.map((tool) => tool.name);
heard.listed = await call("listResources", {});
heard.structure = await call("getStructure", { resource_id: "notes" });
heard.branch = await call("getStructure", { resource_id: "notes", depth: 1 });
heard.node = await call("getNode", { resource_id: "notes", node_id: "intro" });
heard.virtual = await call("resolve", { resource_id: "notes", node_id: "intro.aim", virtual: true });
heard.physical = await call("resolve", { resource_id: "notes", node_id: "intro.aim" });
heard.alone = await call("resolve", { resource_id: "text://notes#lines=3-5" });
heard.found = await call("findText", { query: "line 4", resource_ids: ["notes"] });
heard.text = await call("readText", { resource_id: "notes", node_id: "intro.aim" });
heard.quoted = await call("verifyQuote", { resource_id: "notes", quotes: ["line 4", "line 4000"] });
heard.nowhere = await call("verifyQuote", { quote: "no such words here" });
heard.missing = await call("getNode", { resource_id: "notes", node_id: "invalid.node" });
heard.resources = (await client.listResources()).resources.map((resource) => resource.uri);
heard.templates = (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate);
heard.evidence = (await client.readResource({ uri: heard.physical.structuredContent.uri })).contents[0];
heard.map = (await client.readResource({ uri: "citekit://maps/notes" })).contents[0];
heard.ingested = await call("ingest", { path: "more.txt" });
await client.close();
console.log(JSON.stringify(heard));
