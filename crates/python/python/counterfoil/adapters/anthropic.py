"""The tool runner of Anthropic's SDK.

from counterfoil import Guard
from counterfoil.adapters.anthropic import guarded_tools, verify_message

session = Guard().session()
runner = client.beta.messages.tool_runner(tools=guarded_tools(session, [get_order]), …)
verified = verify_message(session, runner.until_done())
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool
from anthropic.lib.tools import ToolError as AnthropicToolError

from .._answers import Answer, Verified
from .._session import Session
from ._shared import acall, call, register, text_of


def guarded_tools(session: Session, tools: Sequence[Any]) -> list[Any]:
    """Tools made by `beta_tool` and `beta_async_tool`, whose calls go through the guard. What is
    refused, denied or fails is told to the model as an error of the tool."""
    return [_guarded(session, tool) for tool in tools]


def verify_message(session: Session, message: Any) -> Verified:
    """Holds the words of a message against the receipts of `session`."""
    return session.verify(text_of(message.content))


def _guarded(session: Session, tool: Any) -> Any:
    told = tool.to_dict()
    name = told["name"]
    register(session, name, told.get("description", ""), told.get("input_schema"))

    if _is_async(tool):

        class Later(BetaAsyncBuiltinFunctionTool):
            def to_dict(self) -> Any:
                return told

            async def call(self, input: Any) -> Any:
                return _given(await acall(session, name, input, tool.call))

        return Later()

    class Now(BetaBuiltinFunctionTool):
        def to_dict(self) -> Any:
            return told

        def call(self, input: Any) -> Any:
            return _given(call(session, name, input, tool.call))

    return Now()


def _is_async(tool: Any) -> bool:
    return "Async" in "".join(base.__name__ for base in type(tool).__mro__)


def _given(answer: Answer) -> Any:
    if answer.ok:
        return answer.value
    if answer.error is not None:
        raise answer.error
    raise AnthropicToolError(answer.text)
