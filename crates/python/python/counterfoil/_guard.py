"""The one door for every tool call of an agent, with receipts that the model cannot forge."""

from __future__ import annotations

import functools
import inspect
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, TypeVar, cast, overload

from . import _counterfoil as native
from ._answers import Answer, Approver
from ._calling import called_with, named_arguments
from ._check import program
from ._errors import CounterfoilError, Refused
from ._judge import Asker, Judge, judge_named
from ._plain import to_json
from ._schema import definition, is_coroutine
from ._session import Session, entered

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class ToolOptions(TypedDict, total=False):
    """How a function is a tool. Name, description and schema are the function's own where they are
    not given. `asks` says why a person has to agree to every call. The others declare what it does to
    the world; only an idempotent one is tried again after a failure."""

    name: str
    description: str
    parameters: dict[str, Any]
    asks: str
    reads: bool
    writes: bool
    network: bool
    idempotent: bool
    retrieves: bool


_EFFECTS: tuple[Literal["reads", "writes", "network", "idempotent", "retrieves"], ...] = (
    "reads",
    "writes",
    "network",
    "idempotent",
    "retrieves",
)


class Guard:
    """Takes every tool call through validation, policy, execution and receipt.

    `state` is a folder for ledger, audit log and keys; without it all is kept in memory. `config` has
    the keys of `counterfoil.toml` (`{"tools": {"policy": …}}`, docs/configuration.md). `workspace` is
    what built-in tools are confined to, `builtin` names which of them there are: `shell`, `file`,
    `web`. `approver` is asked when a gate asks: it says True, False or a reason for no; without one,
    nobody agrees. `tools` are functions of the program (see `tool`). `judge` reads answers in
    `Session.verify` where the rules found nothing (see `check`); it is asked from a thread of the guard.

    Raises `CounterfoilError` for a configuration that cannot be, or a record that cannot be kept.
    """

    def __init__(
        self,
        *,
        state: str | os.PathLike[str] | None = None,
        config: Mapping[str, Any] | None = None,
        workspace: str | os.PathLike[str] | None = None,
        builtin: Sequence[str] = (),
        approver: Approver | None = None,
        tools: Iterable[Callable[..., Any]] = (),
        judge: Judge | None = None,
        judge_threshold: float | None = None,
    ) -> None:
        request: dict[str, Any] = {
            "config": dict(config or {}),
            "state": None if state is None else os.fspath(state),
            "workspace": os.fspath(workspace) if workspace is not None else None,
            "builtin": list(builtin),
            "program": program() if "shell" in builtin else None,
            "asks": approver is not None,
            **judge_named(judge, judge_threshold),
        }
        if request["workspace"] is None and builtin:
            request["workspace"] = os.getcwd()
        if state is not None:
            try:
                os.makedirs(state, mode=0o700, exist_ok=True)
            except OSError as error:
                raise CounterfoilError(f"the state folder cannot be used: {error}") from None
        self._native = native.Guard(to_json(request), None if judge is None else Asker(judge))
        self.approver = approver
        self._functions: dict[str, Callable[..., Any]] = {}
        self._session: Session | None = None
        self._lock = threading.Lock()
        for function in tools:
            self.tool(function)

    @overload
    def tool(self, function: F, /, **options: Unpack[ToolOptions]) -> F: ...
    @overload
    def tool(self, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    def tool(self, function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Makes a function a tool of this guard; by itself, or as a decorator.

        The function stays as it is; `guarded` gives one that goes through the guard when it is called.
        The same function again takes the place of what it was. Raises `CounterfoilError` for what
        cannot be a tool.
        """
        if function is None:
            return functools.partial(self.tool, **options)
        self._add(function, options)
        return function

    def guarded(
        self, function: Callable[P, R], /, **options: Unpack[ToolOptions]
    ) -> Callable[P, R]:
        """A function that goes through this guard whenever it is called, in the session that is
        current: returns what the function returns, raises what it raises, and `Refused` where the call
        is not made. What is judged and recorded are its arguments as JSON; the function gets the
        objects themselves, unless somebody changed them. Methods work; generators do not.

        Raises `CounterfoilError` for what cannot be a tool.
        """
        target: Any = function
        if isinstance(target, (staticmethod, classmethod)):
            inner: Any = self.guarded(target.__func__, **options)
            return cast("Callable[P, R]", type(cast("Any", target))(inner))
        if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
            raise CounterfoilError(
                f"`{target.__name__}` is a generator, whose result is not known when it is called",
                "track it: `counterfoil.track_tool_execution`",
            )
        tool = self._add(function, options)
        named = named_arguments(function)
        if is_coroutine(function):

            @functools.wraps(function)
            async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
                judged = to_json(named(args, kwargs))
                with called_with(function, judged, args, kwargs):
                    return _value(await self.current().acall(tool, judged))

            return cast("Callable[P, R]", later)

        @functools.wraps(function)
        def now(*args: P.args, **kwargs: P.kwargs) -> R:
            judged = to_json(named(args, kwargs))
            with called_with(function, judged, args, kwargs):
                return cast("R", _value(self.current().call(tool, judged)))

        return now

    def _add(self, function: Callable[..., Any], options: ToolOptions) -> str:
        """The name of the tool that the function is now."""
        unknown = set(options) - set(ToolOptions.__annotations__)
        if unknown:
            raise TypeError(f"a tool has no option {', '.join(sorted(unknown))}")
        told = definition(
            function,
            name=options.get("name"),
            description=options.get("description"),
            parameters=options.get("parameters"),
        )
        name: str = told["name"]
        known = self._functions.get(name)
        if known is not None and _origin(known) != _origin(function):
            raise CounterfoilError(
                f"there is a tool `{name}` already", "give one of them another by `name=`"
            )
        if name == "<lambda>":
            raise CounterfoilError("a lambda has no name", "give it one by `name=`")
        effects = {effect: options.get(effect) for effect in _EFFECTS if effect in options}
        self._native.add_tool(to_json({**told, "effects": effects, "asks": options.get("asks")}))
        self._functions[name] = function
        return name

    def function(self, tool: str) -> Callable[..., Any] | None:
        """The function of the program that is this tool, None where there is none."""
        return self._functions.get(tool)

    def session(
        self,
        id: str | None = None,
        *,
        model: str | None = None,
        trust: Literal["trusted", "provisional", "untrusted"] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Session:
        """Begins a session, or goes on with an earlier one of that id."""
        made = self._native.session(id, model, trust, dict(environment or {}))
        return Session(self, made)

    def current(self) -> Session:
        """The session whose `with` block this is, else one of the guard's own. A thread that was begun
        within the block is not in it, unless it runs in a copy of the context
        (`contextvars.copy_context().run`, `asyncio.to_thread`)."""
        session = entered()
        if session is not None and session.guard is self:
            return session
        with self._lock:
            if self._session is None:
                self._session = self.session()
            return self._session

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Every tool there is: `{name, description, parameters}`."""
        return cast("list[dict[str, Any]]", json.loads(self._native.tools()))

    @property
    def notices(self) -> list[str]:
        """What an operator should know about the start."""
        return self._native.notices

    def receipt(self, execution_id: str) -> dict[str, Any] | None:
        """The receipt of an execution (docs/verify-a-receipt.md), None where there is none."""
        text = self._native.receipt(execution_id)
        return None if text is None else cast("dict[str, Any]", json.loads(text))

    def recent(self, limit: int = 10, session: str | None = None) -> list[dict[str, Any]]:
        """The latest receipts, oldest first."""
        found = [self.receipt(id) for id in reversed(self._native.recent(limit, session))]
        return [receipt for receipt in found if receipt is not None]


def _origin(function: Any) -> tuple[Any, Any]:
    """Where a function was written: what is the same there takes the place of what it was."""
    return getattr(function, "__module__", None), getattr(function, "__qualname__", id(function))


def _value(answer: Answer) -> Any:
    """What a guarded function gives back."""
    if answer.ok:
        return answer.value
    if answer.error is not None:
        raise answer.error
    raise Refused(answer, answer.text)


_default: Guard | None = None
_making = threading.Lock()


def default_guard() -> Guard:
    """The guard of `guarded`: one a process, in memory."""
    global _default
    with _making:
        if _default is None:
            _default = Guard()
        return _default


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """`Guard.guarded` of the default guard, as a decorator."""
    return default_guard().guarded(function)


def _forget() -> None:
    global _default, _making
    _default, _making = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
