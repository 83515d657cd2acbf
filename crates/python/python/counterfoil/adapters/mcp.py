"""Sessions of MCP clients.

    from counterfoil import Guard
    from counterfoil.adapters.mcp import GuardedClient

    async with ClientSession(read, write) as client:
        await client.initialize()
        guarded = await GuardedClient.of(client, Guard().session())
        result = await guarded.call_tool("get_order", {"id": 7})
        verified = await guarded.session.averify(answer)

For a gate that no client has to know, put `counterfoil mcp --` before the server's command.
"""

from __future__ import annotations

from typing import Any

from mcp import ClientSession
from mcp.types import CallToolResult, TextContent

from .._session import Session
from ._shared import acall, register


class GuardedClient:
    """An MCP session whose calls go through the guard. Everything else is the session's own."""

    def __init__(self, client: ClientSession, session: Session) -> None:
        self.client = client
        self.session = session

    @classmethod
    async def of(cls, client: ClientSession, session: Session) -> GuardedClient:
        """Of a session that is initialised: its tools become those of the guard."""
        made = cls(client, session)
        await made.list_tools()
        return made

    async def list_tools(self, **how: Any) -> Any:
        listed = await self.client.list_tools(**how)
        for tool in listed.tools:
            schema = getattr(tool, "input_schema", None) or getattr(tool, "inputSchema", None)
            register(self.session, tool.name, tool.description or "", schema)
        return listed

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, **how: Any
    ) -> Any:
        """The server's result; a call that is refused or denied is a result with an error in it."""
        results: list[Any] = []

        async def perform(given: dict[str, Any]) -> Any:
            result = await self.client.call_tool(name, given, **how)
            results.append(result)
            text = _text(result)
            if _is_error(result):
                raise ToolFailed(text)
            return text

        answer = await acall(self.session, name, arguments or {}, perform)
        if results:
            return results[-1]
        if answer.error is not None:
            raise answer.error
        content = [TextContent(type="text", text=answer.text)]
        return CallToolResult.model_validate({"content": content, "isError": True})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


class ToolFailed(Exception):
    """The server says that the tool failed."""


def _is_error(result: Any) -> bool:
    return bool(getattr(result, "is_error", None) or getattr(result, "isError", None))


def _text(result: Any) -> str:
    texts = [getattr(block, "text", None) for block in getattr(result, "content", None) or []]
    return "\n".join(text for text in texts if isinstance(text, str))
