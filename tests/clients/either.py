"""Calls one tool with the second generation of the Python SDK: TARGET TOOL ARGUMENTS MODE.

TARGET is a URL, or a command as a JSON list; MODE is `legacy`, `auto` or a revision of the protocol.
Prints one line of JSON.
"""

import asyncio
import json
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main(target, tool, arguments, mode):
    if not target.startswith("http"):
        program, *words = json.loads(target)
        target = stdio_client(StdioServerParameters(command=program, args=words))
    async with Client(target, mode=mode) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool(tool, arguments)
        told = {
            "revision": client.protocol_version,
            "tools": len(tools),
            "text": result.content[0].text,
            "error": result.is_error,
            "id": (result.meta or {}).get("counterfoil/execution_id"),
        }
        print(json.dumps(told))


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4]))
