"""LangChain and LangGraph.

    from counterfoil import Guard
    from counterfoil.adapters.langchain import CounterfoilCallback, tool_node

    session = Guard().session()
    agent = create_agent(model, tools)
    agent.invoke({"messages": messages}, {"callbacks": [CounterfoilCallback(session)]})

`tool_node(session, tools)` is a node of LangGraph whose calls go through the guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult
from langchain_core.tools import BaseTool

from .._answers import Verified
from .._session import Session
from ._shared import Blocked, Recorder, acall, call, register, text_of


class CounterfoilCallback(BaseCallbackHandler):
    """Records what tools really do, and holds each final answer against it.

    `verified` has what was found, the latest last. With `on_false="raise"` an answer that the record
    does not support ends the run with `Blocked`.
    """

    def __init__(self, session: Session, on_false: Literal["note", "raise"] = "note") -> None:
        self.session = session
        self.verified: list[Verified] = []
        self.raise_error = on_false == "raise"
        self.run_inline = True
        self._recorder = Recorder(session)
        self._heard: set[str] = set()

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> None:
        for message in messages[0] if messages else []:
            text = text_of(message.content)
            role = {"human": "user", "system": "system"}.get(message.type)
            if role is not None and text and f"{role} {text}" not in self._heard:
                self._heard.add(f"{role} {text}")
                self.session.hear(text, "user" if role == "user" else "system")

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        name = (serialized or {}).get("name") or kwargs.get("name") or "tool"
        self._recorder.begin(run_id, name, inputs if inputs is not None else input_str)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        failed = isinstance(output, ToolMessage) and output.status == "error"
        content = output.content if isinstance(output, ToolMessage) else output
        if failed:
            self._recorder.fail(run_id, text_of(content))
        else:
            self._recorder.end(run_id, content)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._recorder.fail(run_id, error)

    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        for generations in response.generations:
            message = getattr(generations[0], "message", None) if generations else None
            text = text_of(message.content) if message is not None else ""
            if not text or getattr(message, "tool_calls", None):
                continue
            self.verified.append(self.session.verify(text))
            if self.raise_error and not self.verified[-1].ok:
                raise Blocked(self.verified[-1])


def tool_node(session: Session, tools: Sequence[BaseTool], **how: Any) -> Any:
    """A `ToolNode` of LangGraph whose calls go through the guard: a call that is refused or denied is
    answered with the reason, as a tool message with the status `error`."""
    from langgraph.prebuilt import ToolNode

    for tool in tools:
        schema = tool.get_input_jsonschema()
        register(session, tool.name, tool.description, schema)

    def answered(request: Any, answer: Any, message: Any) -> Any:
        if message is not None and answer.ok:
            return message
        return ToolMessage(
            answer.text,
            tool_call_id=request.tool_call["id"],
            name=request.tool_call["name"],
            status="success" if answer.ok else "error",
        )

    def told(request: Any, arguments: dict[str, Any]) -> Any:
        return request.override(tool_call={**request.tool_call, "args": arguments})

    def performed(message: Any) -> Any:
        if isinstance(message, ToolMessage) and message.status == "error":
            raise RuntimeError(text_of(message.content))
        return message

    def wrap(request: Any, execute: Any) -> Any:
        messages: list[Any] = []

        def perform(arguments: dict[str, Any]) -> Any:
            messages.append(performed(execute(told(request, arguments))))
            return _content(messages[-1])

        asked = request.tool_call
        answer = call(session, asked["name"], asked["args"], perform, asked["id"])
        return answered(request, answer, messages[-1] if messages else None)

    async def awrap(request: Any, execute: Any) -> Any:
        messages: list[Any] = []

        async def perform(arguments: dict[str, Any]) -> Any:
            messages.append(performed(await execute(told(request, arguments))))
            return _content(messages[-1])

        asked = request.tool_call
        answer = await acall(session, asked["name"], asked["args"], perform, asked["id"])
        return answered(request, answer, messages[-1] if messages else None)

    return ToolNode(list(tools), wrap_tool_call=wrap, awrap_tool_call=awrap, **how)


def _content(message: Any) -> Any:
    return message.content if isinstance(message, ToolMessage) else message
