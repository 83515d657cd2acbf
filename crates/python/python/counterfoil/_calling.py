"""How a function of the program is called: with which arguments, in which context, and what it gave."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from ._errors import CounterfoilError
from ._plain import clean, to_json
from ._schema import convert, is_method


@dataclass(frozen=True)
class _Called:
    """What a guarded function was called with: the objects, and their JSON that is judged."""

    function: Callable[..., Any]
    judged: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_called: ContextVar[_Called | None] = ContextVar("counterfoil_called", default=None)


@contextlib.contextmanager
def called_with(
    function: Callable[..., Any], judged: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[None]:
    """Within it, `prepared` finds the objects again."""
    token = _called.set(_Called(function, judged, args, kwargs))
    try:
        yield
    finally:
        _called.reset(token)


def prepared(function: Callable[..., Any], arguments: str) -> Callable[[], Any]:
    """A function with what it is to be called with: the objects of whoever called it, where the
    arguments are still theirs, else what its hints make of the JSON."""
    called = _called.get()
    if called is not None and called.function is function and _same(called.judged, arguments):
        return partial(function, *called.args, **called.kwargs)
    return _bound(function, convert(function, json.loads(arguments)))


def _same(one: str, other: str) -> bool:
    """Whether two JSON texts hold the same: `1`, `1.0` and `true` are three things. A whole number that
    is too large for 64 bits is what the guard makes of it."""

    def whole(digits: str) -> int | float:
        value = int(digits)
        return value if -(2**63) <= value < 2**64 else float(value)

    def plain(text: str) -> str:
        return json.dumps(json.loads(text, parse_int=whole), sort_keys=True)

    return plain(one) == plain(other)


Naming = Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]


def named_arguments(function: Callable[..., Any]) -> Naming:
    """What names the arguments of a call, as they are judged and recorded: without the object of a
    method, and whether or not the function takes them.

    `*rest` is a list of that name. An argument by name, where one of that name is given by place, is
    kept apart: `a (by name)`. Of a function that tells no parameters they are `arg0`, `arg1`, …
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
        own = 1 if is_method(function) else 0
    except (TypeError, ValueError):
        return lambda args, kwargs: {**{f"arg{at}": one for at, one in enumerate(args)}, **kwargs}
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in kinds]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "more")

    def named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        found = dict(zip(names[own:], args[own:], strict=False))
        if len(args) > len(names):
            found[rest] = list(args[len(names) :])
        for name, value in kwargs.items():
            found[f"{name} (by name)" if name in found else name] = value
        return found

    return named


def _bound(function: Callable[..., Any], given: dict[str, Any]) -> Callable[[], Any]:
    """A function with its arguments by name, but for those that can only be given by place."""
    parameters = list(inspect.signature(function).parameters.values())
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    # What comes before `*rest` is given by place where there is a rest.
    has_rest = bool(given.get(rest)) if rest is not None else False
    args: list[Any] = []
    for parameter in parameters:
        by_place = parameter.kind is parameter.POSITIONAL_ONLY or (
            has_rest and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        )
        if by_place and parameter.name in given:
            args.append(given.pop(parameter.name))
    further = given.pop(rest, []) if rest is not None else []
    return partial(function, *args, *further, **given)


def waited_for(value: Any) -> Any:
    """A value, or what an awaitable gives, where no loop runs in this thread."""
    if not inspect.isawaitable(value):
        return value
    if not is_in_loop():
        return asyncio.run(_awaited(value))
    if inspect.iscoroutine(value):
        value.close()
    raise CounterfoilError(
        "there is something to await, and a loop runs in this thread", "await `acall` instead"
    )


def is_in_loop() -> bool:
    """Whether a loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def result_of(value: object) -> tuple[str, bool]:
    """What a function gave, as it is recorded, and whether that is text (else it is JSON)."""
    if isinstance(value, str):
        return clean(value), True
    if value is None:
        return "", True
    return to_json(value), False


def failure_of(error: BaseException) -> tuple[str, str]:
    """The category of an exception, and what to tell the model."""
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        kind = "Timeout"
    elif isinstance(error, ConnectionError):
        kind = "NetworkError"
    elif isinstance(error, (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)):
        kind = "Cancelled"
    else:
        kind = "PermanentFailure"
    text = words_of(error)
    name = type(error).__name__
    return kind, f"{name}: {text}" if text else name


def words_of(error: BaseException) -> str:
    """The words of an exception, whatever they do when they are asked for."""
    try:
        return clean(str(error))
    except Exception:
        return ""
