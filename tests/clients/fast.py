"""A FastMCP server with a tool, a resource and a prompt; over HTTP with a port as argument."""

import sys

from fastmcp import FastMCP

server = FastMCP("fast")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.resource("data://one")
def one() -> str:
    return "one"


@server.prompt
def greet(name: str) -> str:
    return f"Greet {name}."


if len(sys.argv) > 1:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
