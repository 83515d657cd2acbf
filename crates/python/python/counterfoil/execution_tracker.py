"""Tracks what the tools of a program really did.

    from counterfoil.execution_tracker import track_tool_execution, verify_execution

    @track_tool_execution
    def check_internet_connection() -> dict:
        return {"status": "connected", "latency": 15}

Every execution has a receipt in a ledger, and the ledger decides what `verify_execution` says. By
default it is kept in memory; `configure(state=FOLDER)` keeps it.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Generator
from datetime import datetime
from typing import Any, ParamSpec, TypeVar, cast

from . import _counterfoil as native
from ._calling import Naming, named_arguments, words_of
from ._guard import Guard
from ._plain import clean
from ._schema import is_coroutine
from ._session import Execution, Session

P = ParamSpec("P")
R = TypeVar("R")

# What is remembered of executions beside the ledger: their arguments and results as objects.
_REMEMBERED = 100
# Of what a generator yields, so much is recorded.
_ITEMS = 1000


class Tracker:
    """Executions of one program, on one ledger.

    `state` is a folder that keeps them, for other processes, too; without it they are gone with the
    process, and take about 3 kB of memory each. `window` is for how
    many seconds an execution may be cited. `guard` and `session` are for programs that have them.
    """

    def __init__(
        self,
        state: str | os.PathLike[str] | None = None,
        window: float = 300.0,
        *,
        guard: Guard | None = None,
        session: Session | None = None,
    ) -> None:
        self.window = window
        self.is_given = guard is not None or session is not None
        self.guard = guard if guard is not None else Guard(state=state)
        # What is kept is found again by the next process.
        kept = "tracked" if guard is None and state is not None else None
        self.session = session if session is not None else self.guard.session(kept)
        self._records: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(
        self, tool: str, named: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> _Open:
        """Opens the receipt of an execution that the program performs."""
        started = time.time()
        execution = self.session.track(tool, named)
        record: dict[str, Any] = {
            "execution_id": execution.execution_id,
            "tool_name": tool,
            "args": args,
            "kwargs": kwargs,
            "start_time": started,
            "completed": False,
            "result": None,
            "error": None,
            "duration": None,
        }
        with self._lock:
            self._records[execution.execution_id] = record
            while len(self._records) > _REMEMBERED:
                self._records.popitem(last=False)
        return _Open(execution, record)

    def verify(self, execution_id: str, tool_name: str) -> dict[str, Any]:
        """Whether a cited execution occurred: see `verify_execution`."""
        execution_id = clean(execution_id)
        cited = self.session.cited(execution_id, tool_name, self.window)
        if cited["valid"]:
            record = self._record(execution_id, cited["receipt"])
            if not record["completed"]:
                record["completed"] = True
                record["result"] = _read(cited.get("result"))
            return {"valid": True, "execution": record, "actual_result": record["result"]}
        reason = _REASONS.get(cited["reason"], cited["reason"])
        message = _MESSAGES[reason]
        if reason == "tool_name_mismatch":
            receipt = self.guard.receipt(execution_id) or {}
            told = message.format(id=execution_id, tool=receipt.get("tool"), claimed=tool_name)
        else:
            told = message.format(id=execution_id)
        return {"valid": False, "reason": reason, "message": told}

    def known(self, execution_id: str) -> bool:
        """Whether this session has an execution of this id."""
        receipt = self.guard.receipt(clean(execution_id))
        return receipt is not None and receipt.get("session_id") == self.session.id

    def recent(self, limit: int = 10) -> list[dict[str, Any]]:
        """The latest executions, oldest first; at most the last 100."""
        with self._lock:
            return list(self._records.values())[-limit:] if limit > 0 else []

    def forget_old(self) -> None:
        """Lets go of the objects of executions outside the window. Their receipts stay: they are the
        record."""
        oldest = time.time() - self.window
        with self._lock:
            for id in [i for i, r in self._records.items() if r["start_time"] < oldest]:
                del self._records[id]

    def _record(self, execution_id: str, receipt: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            known = self._records.get(execution_id)
        if known is not None:
            return known
        return {
            "execution_id": execution_id,
            "tool_name": receipt["tool"],
            "args": (),
            "kwargs": receipt["arguments"],
            "start_time": receipt["started_at"] / 1000,
            "completed": False,
            "result": None,
            "error": None,
            "duration": (receipt.get("duration_us") or 0) / 1e6,
        }


class _Open:
    """An execution that is not at its end."""

    def __init__(self, execution: Execution, record: dict[str, Any]) -> None:
        self.execution = execution
        self.record = record
        self._began = time.perf_counter()

    def completed(self, result: object) -> None:
        self.execution.complete(result)
        self._ended(True, result, None)

    def failed(self, error: BaseException) -> None:
        self.execution.fail(error)
        self._ended(False, None, words_of(error))

    def _ended(self, completed: bool, result: object, error: str | None) -> None:
        self.record["duration"] = time.perf_counter() - self._began
        self.record["result"] = result
        self.record["error"] = error
        self.record["completed"] = completed

    def shown(self, result: object) -> dict[str, Any]:
        """The result with the id of its execution in it."""
        id = self.execution.execution_id
        at = datetime.fromtimestamp(self.record["start_time"]).isoformat()
        if isinstance(result, dict):
            try:
                # What was returned may be shared: it stays as it is.
                own = cast("dict[str, Any]", copy.copy(cast("dict[str, Any]", result)))
                own["execution_id"] = id
                own["executed_at"] = at
                return own
            except Exception:  # one that lets nobody in
                pass
        tool = self.record["tool_name"]
        return {"execution_id": id, "tool_name": tool, "result": result, "executed_at": at}


def _read(result: str | None) -> Any:
    """A recorded result: an object or a list, where it is one, else its text."""
    if result is None or result[:1] not in ("{", "["):
        return result
    try:
        return json.loads(result)
    except ValueError:
        return result


_REASONS = {"malformed_id": "execution_id_not_found", "execution_evicted": "execution_expired"}
_MESSAGES = {
    "execution_id_not_found": "No execution found with ID: {id}",
    "execution_expired": "Execution {id} is outside the valid time window",
    "tool_name_mismatch": "Execution {id} was for tool {tool}, not {claimed}",
    "execution_incomplete": "Execution {id} did not complete successfully",
}

_default: Tracker | None = None
_again: Callable[[], Tracker] = Tracker
_making = threading.Lock()


def default_tracker() -> Tracker:
    """The tracker of this process."""
    global _default
    with _making:
        if _default is None:
            _default = _again()
        return _default


def configure(
    state: str | os.PathLike[str] | None = None,
    window: float = 300.0,
    *,
    guard: Guard | None = None,
    session: Session | None = None,
) -> Tracker:
    """Gives this process another tracker; see `Tracker`. What the old one has is not looked at. A
    forked child makes one alike, unless `guard` or `session` are the parent's."""
    global _default, _again
    made = Tracker(state, window, guard=guard, session=session)
    with _making:
        _default = made
        _again = functools.partial(Tracker, state, window)
    return made


def generate_execution_id(tool_name: str) -> str:
    """An id as executions have them: `{tool}_{milliseconds}_{eight hexadecimal digits}`. It is no
    execution: nothing verifies it."""
    return native.generate_execution_id(tool_name, int(time.time() * 1000))


def track_tool_execution(tool_func: Callable[P, R]) -> Callable[P, Any]:
    """Records every execution of a function; a decorator.

    A dictionary comes back with `execution_id` and `executed_at` in it, anything else as
    `{execution_id, tool_name, result, executed_at}`; generators yield what they yield, and their
    receipt is closed with the last of it. Coroutines, methods and threads work alike. An exception is
    recorded and goes on to the caller.
    """
    target: Any = tool_func
    if isinstance(target, (staticmethod, classmethod)):
        inner = track_tool_execution(target.__func__)
        return cast("Callable[P, Any]", type(cast("Any", target))(inner))
    tool = getattr(target, "__name__", None) or _name_of(target)
    named = named_arguments(target)
    if inspect.isasyncgenfunction(target):
        return cast("Callable[P, Any]", _async_generator(target, tool, named))
    if inspect.isgeneratorfunction(target):
        return cast("Callable[P, Any]", _generator(target, tool, named))
    if is_coroutine(target):

        @functools.wraps(tool_func)
        async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
            opened = default_tracker().begin(tool, named(args, kwargs), args, kwargs)
            try:
                result = await target(*args, **kwargs)
            except BaseException as error:
                opened.failed(error)
                raise
            opened.completed(result)
            return opened.shown(result)

        return later

    @functools.wraps(tool_func)
    def now(*args: P.args, **kwargs: P.kwargs) -> Any:
        opened = default_tracker().begin(tool, named(args, kwargs), args, kwargs)
        try:
            result = target(*args, **kwargs)
        except BaseException as error:
            opened.failed(error)
            raise
        opened.completed(result)
        return opened.shown(result)

    return now


def _generator(target: Any, tool: str, named: Naming) -> Callable[..., Any]:
    @functools.wraps(target)
    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        opened = default_tracker().begin(tool, named(args, kwargs), args, kwargs)
        items: list[Any] = []
        inner = target(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(next, inner)
        try:
            while True:
                try:
                    item = step()
                except StopIteration as end:
                    opened.completed(_collected(items, end.value))
                    return end.value
                _collect(items, item)
                try:
                    sent = yield item
                except GeneratorExit:
                    inner.close()
                    raise
                except BaseException as thrown:
                    step = functools.partial(inner.throw, thrown)
                else:
                    step = functools.partial(inner.send, sent)
        except BaseException as error:
            if not opened.record["completed"]:
                opened.failed(error)
            raise

    return generator


def _async_generator(target: Any, tool: str, named: Naming) -> Callable[..., Any]:
    @functools.wraps(target)
    async def generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        opened = default_tracker().begin(tool, named(args, kwargs), args, kwargs)
        items: list[Any] = []
        inner = target(*args, **kwargs)
        step: Callable[[], Any] = inner.__anext__
        try:
            while True:
                try:
                    item = await step()
                except StopAsyncIteration:
                    opened.completed(_collected(items, None))
                    return
                _collect(items, item)
                try:
                    sent = yield item
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as thrown:
                    step = functools.partial(inner.athrow, thrown)
                else:
                    step = functools.partial(inner.asend, sent)
        except BaseException as error:
            if not opened.record["completed"]:
                opened.failed(error)
            raise

    return generator


def _collect(items: list[Any], item: object) -> None:
    if len(items) <= _ITEMS:
        items.append(item)


def _collected(items: list[Any], value: object) -> object:
    found: Any = items if len(items) <= _ITEMS else [*items[:_ITEMS], "… more"]
    return found if value is None else {"items": found, "value": value}


def _name_of(function: Any) -> str:
    """Of a partial its function's, of an object its class's."""
    while isinstance(function, functools.partial):
        function = cast("Any", function).func
    return getattr(function, "__name__", None) or type(function).__name__


def verify_execution(execution_id: str, tool_name: str) -> dict[str, Any]:
    """Whether a claimed execution occurred: `{valid: True, execution, actual_result}`, or
    `{valid: False, reason, message}`, where `reason` is one of `execution_id_not_found`,
    `execution_expired`, `tool_name_mismatch`, `execution_incomplete`."""
    return default_tracker().verify(execution_id, tool_name)


def get_recent_executions(limit: int = 10) -> list[dict[str, Any]]:
    """The latest executions, oldest first: `{execution_id, tool_name, args, kwargs, start_time,
    completed, result, error, duration}`; times in seconds."""
    return default_tracker().recent(limit)


def clear_old_executions() -> None:
    """Lets go of the objects of executions outside the window. Their receipts stay."""
    default_tracker().forget_old()


def wrap_existing_tools(tools_dict: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The same tools, tracked under the names that they have in the dictionary."""
    return {name: _as(name, function) for name, function in tools_dict.items()}


def _as(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    if getattr(function, "__name__", None) == name:
        return track_tool_execution(function)
    target: Any = function
    if inspect.isasyncgenfunction(target):

        async def later_items(*args: Any, **kwargs: Any) -> Any:
            async for item in target(*args, **kwargs):
                yield item

        renamed: Callable[..., Any] = later_items
    elif is_coroutine(target):

        async def later(*args: Any, **kwargs: Any) -> Any:
            return await target(*args, **kwargs)

        renamed = later
    elif inspect.isgeneratorfunction(target):

        def items(*args: Any, **kwargs: Any) -> Any:
            return (yield from target(*args, **kwargs))

        renamed = items
    else:

        def now(*args: Any, **kwargs: Any) -> Any:
            return target(*args, **kwargs)

        renamed = now
    functools.update_wrapper(renamed, target)
    renamed.__name__ = name
    return track_tool_execution(renamed)


def _forget() -> None:
    global _default, _making
    _making = threading.Lock()
    # A guard that was given stays, and says that it is another process's.
    if _default is not None and not _default.is_given:
        _default = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
