"""What several frameworks need."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from .._answers import Answer
from .._errors import CounterfoilError
from .._session import Execution, Session

Perform = Callable[[dict[str, Any]], Any]

# What performs the call that runs in this context.
_performing: ContextVar[Perform] = ContextVar("counterfoil_performing")


class Blocked(CounterfoilError):
    """An answer that the record does not support. `verified` has the findings, and what to tell the
    model."""

    def __init__(self, verified: Any) -> None:
        findings = "; ".join(str(finding) for finding in verified.findings)
        super().__init__(f"the answer is not supported: {findings}")
        self.verified = verified


def register(
    session: Session, name: str, description: str, parameters: Mapping[str, Any] | None
) -> None:
    """Makes a framework's tool one of the guard; whoever calls it says how it is performed."""
    guard = session.guard
    if name in {tool["name"] for tool in guard.tools}:
        return
    schema = dict(parameters or {"type": "object"})

    def perform(**arguments: Any) -> Any:
        return _performing.get()(arguments)

    guard.tool(name=name, description=description or "", parameters=schema)(perform)


@contextlib.contextmanager
def _performed_by(perform: Perform) -> Iterator[None]:
    token = _performing.set(perform)
    try:
        yield
    finally:
        _performing.reset(token)


def call(
    session: Session,
    name: str,
    arguments: Mapping[str, Any] | str,
    perform: Perform,
    call_id: str | None = None,
) -> Answer:
    """Takes a call of a registered tool through the guard; `perform` gets the arguments to run."""
    with _performed_by(perform):
        return session.call(name, arguments, call_id=call_id)


async def acall(
    session: Session,
    name: str,
    arguments: Mapping[str, Any] | str,
    perform: Perform,
    call_id: str | None = None,
) -> Answer:
    """`call` for a loop; `perform` may give an awaitable."""
    with _performed_by(perform):
        return await session.acall(name, arguments, call_id=call_id)


class Recorder:
    """Receipts of executions that a framework performs and tells of, by the id that it gives them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._open: dict[str, Execution] = {}

    def begin(self, id: object, tool: str, arguments: Any) -> None:
        """An execution begins; arguments are an object, or its JSON."""
        named = _object(arguments)
        self._open[str(id)] = self.session.track(tool, named)

    def end(self, id: object, result: object) -> None:
        execution = self._open.pop(str(id), None)
        if execution is not None:
            execution.complete(result)

    def fail(self, id: object, error: BaseException | str) -> None:
        execution = self._open.pop(str(id), None)
        if execution is not None:
            execution.fail(error)


def _object(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError:
            return {"input": arguments}
    return dict(arguments) if isinstance(arguments, Mapping) else {"input": arguments}


def text_of(content: Any) -> str:
    """The words of a message: text, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return ""
    texts: list[str] = []
    for block in content:
        text = block.get("text") if isinstance(block, Mapping) else getattr(block, "text", None)
        if isinstance(block, str):
            text = block
        if isinstance(text, str):
            texts.append(text)
    return "\n".join(texts)
