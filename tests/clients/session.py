"""Calls one tool with the first generation of the Python SDK: TARGET TOOL ARGUMENTS.

TARGET is a URL, or a command as a JSON list. Prints one line of JSON.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def use(read, write, tool, arguments):
    async with ClientSession(read, write) as session:
        greeting = await session.initialize()
        tools = (await session.list_tools()).tools
        result = await session.call_tool(tool, arguments)
        told = {
            "revision": greeting.protocolVersion,
            "tools": len(tools),
            "text": result.content[0].text,
            "error": result.isError,
            "id": (result.meta or {}).get("counterfoil/execution_id"),
        }
        print(json.dumps(told))


async def main(target, tool, arguments):
    if target.startswith("http"):
        async with streamablehttp_client(target) as (read, write, _):
            await use(read, write, tool, arguments)
    else:
        program, *words = json.loads(target)
        parameters = StdioServerParameters(command=program, args=words)
        async with stdio_client(parameters) as (read, write):
            await use(read, write, tool, arguments)


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
