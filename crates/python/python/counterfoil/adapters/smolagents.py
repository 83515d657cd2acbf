"""smolagents.

from counterfoil import Guard
from counterfoil.adapters.smolagents import guarded_tools, supported

session = Guard().session()
agent = ToolCallingAgent(guarded_tools(session, tools), model,
                         final_answer_checks=[supported(session)])
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from smolagents import Tool

from .._errors import Refused
from .._session import Session
from ._shared import Blocked, call, register


def guarded_tools(session: Session, tools: Sequence[Tool]) -> list[Tool]:
    """The same tools, whose calls go through the guard. One that is refused or denied raises
    `Refused`, which smolagents tells the model."""
    return [_guarded(session, tool) for tool in tools]


def _guarded(session: Session, tool: Tool) -> Tool:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, told in tool.inputs.items():
        known = {key: value for key, value in told.items() if key in ("type", "description")}
        if known.get("type") == "any":
            known.pop("type")
        properties[name] = known
        if not told.get("nullable"):
            required.append(name)
    schema = {"type": "object", "properties": properties, "required": required}
    register(session, tool.name, tool.description, schema)
    made = copy.copy(tool)
    forward = tool.forward
    names = list(properties)

    def guarded(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        answer = call(session, tool.name, given, lambda arguments: forward(**arguments))
        if answer.ok:
            return answer.value
        if answer.error is not None:
            raise answer.error
        raise Refused(answer, answer.text)

    made.forward = guarded
    return made


def supported(session: Session) -> Callable[..., bool]:
    """A check of final answers, which holds them against the receipts of `session`. One that they do
    not support raises `Blocked`, whose words the agent reads before it tries again."""

    def check(final_answer: Any, *rest: Any, **more: Any) -> bool:
        verified = session.verify(str(final_answer))
        if not verified.ok:
            raise Blocked(verified)
        return True

    return check
