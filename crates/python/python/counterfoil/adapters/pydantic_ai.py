"""Pydantic AI.

    from counterfoil import Guard
    from counterfoil.adapters.pydantic_ai import GuardedToolset, supported

    session = Guard().session()
    agent = Agent(model, toolsets=[GuardedToolset(FunctionToolset([get_order]), session)])
    agent.output_validator(supported(session))

A call that is refused or denied is told to the model, and so is an answer that the receipts do not
support: it may try again within the agent's retries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from .._plain import to_json
from .._session import Session
from ._shared import acall, register


class GuardedToolset(WrapperToolset[Any]):
    """A toolset whose calls go through the guard."""

    def __init__(self, wrapped: AbstractToolset[Any], session: Session) -> None:
        super().__init__(wrapped)
        self.session = session

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        tools = await super().get_tools(ctx)
        for tool in tools.values():
            told = tool.tool_def
            register(self.session, told.name, told.description or "", told.parameters_json_schema)
        prompt = ctx.prompt
        if isinstance(prompt, str) and ctx.run_step <= 1:
            self.session.hear(prompt)
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        inner = super().call_tool

        async def perform(arguments: dict[str, Any]) -> Any:
            return await inner(name, {**tool_args, **arguments}, ctx, tool)

        answer = await acall(self.session, name, to_json(tool_args), perform, ctx.tool_call_id)
        if answer.ok:
            return answer.value
        if answer.error is not None:
            raise answer.error
        raise ModelRetry(answer.text)


def supported(session: Session) -> Callable[[RunContext[Any], Any], Any]:
    """A validator of outputs that holds the answer against the receipts of `session`."""

    async def validate(ctx: RunContext[Any], output: Any) -> Any:
        if ctx.partial_output:
            return output
        verified = await session.averify(output if isinstance(output, str) else to_json(output))
        if not verified.ok:
            raise ModelRetry(verified.feedback)
        return output

    return validate
