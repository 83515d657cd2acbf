"""The one door for every tool call of an agent, with receipts that the model cannot forge."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import json
import os
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload

from . import _counterfoil as native
from ._check import check, program
from ._errors import CounterfoilError, Refused
from ._plain import clean, to_json
from ._report import Claim, Finding, Report, claim_of, finding_of
from ._schema import convert, definition, is_coroutine, is_method

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

Status = Literal["completed", "failed", "denied", "refused", "cancelled", "timeout", "open"]
Approver = Callable[["Question"], "bool | str | Awaitable[bool | str | None] | None"]


@dataclass(frozen=True)
class Question:
    """What somebody would have to agree to: a call, and why each gate asks."""

    session: str
    call_id: str
    call: str
    arguments: dict[str, Any]
    why: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What came of a call: what the model should see, and the receipt behind it.

    `text` is what to give the model, redacted; `structured` the same as JSON where the tool gives
    JSON. `value` is what the function itself returned, `error` what it raised: they are for the
    program, and never redacted. `status` is `completed` only where it ran to its end.
    """

    execution_id: str
    status: str
    text: str
    structured: Any = None
    category: str | None = None
    codes: tuple[str, ...] = ()
    questions: tuple[dict[str, Any], ...] = ()
    warnings: tuple[dict[str, Any], ...] = ()
    nudge: str | None = None
    exit_code: int | None = None
    truncated: bool = False
    value: Any = field(default=None, compare=False, repr=False)
    error: BaseException | None = field(default=None, compare=False, repr=False)

    @property
    def ok(self) -> bool:
        return self.status == "completed"


@dataclass(frozen=True)
class Verified:
    """What an answer of the agent is worth: `pass`, `annotate` (with warnings) or `block`.

    `feedback` is what to tell the model where it is blocked. It is true unless it is blocked.
    """

    disposition: Literal["pass", "annotate", "block"]
    text: str
    findings: tuple[Finding, ...]
    claims: tuple[Claim, ...]
    feedback: str

    @property
    def ok(self) -> bool:
        return self.disposition != "block"

    def __bool__(self) -> bool:
        return self.ok


class Guard:
    """Takes every tool call through validation, policy, execution and receipt.

    `state` is a folder for ledger, audit log and keys; without it all is kept in memory. `config` has
    the keys of `counterfoil.toml` (`{"tools": {"policy": …}}`, docs/configuration.md). `workspace` is
    what built-in tools are confined to, `builtin` names which of them there are: `shell`, `file`,
    `web`. `approver` is asked when a gate asks: it says True, False or a reason for no; without one,
    nobody agrees. `tools` are functions of the program (see `tool`).

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
    ) -> None:
        making: dict[str, Any] = {
            "config": dict(config or {}),
            "state": None if state is None else os.fspath(state),
            "workspace": os.fspath(workspace) if workspace is not None else None,
            "builtin": list(builtin),
            "program": program() if "shell" in builtin else None,
            "asks": approver is not None,
        }
        if making["workspace"] is None and builtin:
            making["workspace"] = os.getcwd()
        if state is not None:
            try:
                os.makedirs(state, mode=0o700, exist_ok=True)
            except OSError as error:
                raise CounterfoilError(f"the state folder cannot be used: {error}") from None
        self._native = native.Guard(to_json(making))
        self._approver = approver
        self._functions: dict[str, Callable[..., Any]] = {}
        self._session: Session | None = None
        self._lock = threading.Lock()
        for function in tools:
            self.tool(function)

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: dict[str, Any] | None = None,
        asks: str | None = None,
        reads: bool | None = None,
        writes: bool | None = None,
        network: bool | None = None,
        idempotent: bool | None = None,
        retrieves: bool | None = None,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: dict[str, Any] | None = None,
        asks: str | None = None,
        reads: bool | None = None,
        writes: bool | None = None,
        network: bool | None = None,
        idempotent: bool | None = None,
        retrieves: bool | None = None,
    ) -> Any:
        """Makes a function a tool of this guard; by itself, or as a decorator.

        Name, description and schema are the function's own where they are not given. `asks` says why a
        person has to agree to every call. `reads`, `writes`, `network`, `idempotent`, `retrieves`
        declare what it does to the world; only an idempotent one is tried again after a failure.

        The function stays as it is; `guarded` gives one that goes through the guard when it is called.
        """
        effects = {
            "reads": reads,
            "writes": writes,
            "network": network,
            "idempotent": idempotent,
            "retrieves": retrieves,
        }
        add = functools.partial(
            self._add,
            name=name,
            description=description,
            parameters=parameters,
            asks=asks,
            effects=effects,
        )

        def added(function: Callable[..., Any]) -> Callable[..., Any]:
            add(function)
            return function

        return added if function is None else added(function)

    def _add(
        self,
        function: Callable[..., Any],
        *,
        name: str | None,
        description: str | None,
        parameters: dict[str, Any] | None,
        asks: str | None,
        effects: Mapping[str, bool | None],
    ) -> str:
        """The name of the tool that the function is now."""
        told = definition(function, name=name, description=description, parameters=parameters)
        known = self._functions.get(told["name"])
        if known is not None and _origin(known) != _origin(function):
            raise CounterfoilError(
                f"there is a tool `{told['name']}` already", "give one of them another by `name=`"
            )
        if told["name"] == "<lambda>":
            raise CounterfoilError("a lambda has no name", "give it one by `name=`")
        if known is not None:
            # A cell of a notebook that is run again.
            self._functions[told["name"]] = function
            return cast("str", told["name"])
        declared = {key: value for key, value in effects.items() if value is not None}
        self._native.add_tool(to_json({**told, "effects": declared, "asks": asks}))
        self._functions[told["name"]] = function
        return cast("str", told["name"])

    def guarded(
        self,
        function: Callable[P, R],
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: dict[str, Any] | None = None,
        asks: str | None = None,
        reads: bool | None = None,
        writes: bool | None = None,
        network: bool | None = None,
        idempotent: bool | None = None,
        retrieves: bool | None = None,
    ) -> Callable[P, R]:
        """A function that goes through this guard whenever it is called, in the session that is
        current: returns what the function returns, raises what it raises, and `Refused` where the call
        is not made. What is judged and recorded are its arguments as JSON; the function gets the
        objects themselves, unless somebody changed them. Methods work; generators do not.

        The other arguments are those of `tool`. Raises `CounterfoilError` for what cannot be a tool.
        """
        target: Any = function
        effects = {
            "reads": reads,
            "writes": writes,
            "network": network,
            "idempotent": idempotent,
            "retrieves": retrieves,
        }
        if isinstance(target, (staticmethod, classmethod)):
            inner = self.guarded(
                target.__func__,
                name=name,
                description=description,
                parameters=parameters,
                asks=asks,
                **effects,
            )
            return cast("Callable[P, R]", type(cast("Any", target))(inner))
        if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
            raise CounterfoilError(
                f"`{target.__name__}` is a generator, whose result is not known when it is called",
                "track it: `counterfoil.track_tool_execution`",
            )
        tool = self._add(
            function,
            name=name,
            description=description,
            parameters=parameters,
            asks=asks,
            effects=effects,
        )
        own = 1 if is_method(function) else 0
        signature = inspect.signature(function)

        def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
            bound = signature.bind(*args, **kwargs)
            named: dict[str, Any] = {}
            for key, value in list(bound.arguments.items())[own:]:
                if signature.parameters[key].kind is inspect.Parameter.VAR_KEYWORD:
                    # A name that a parameter by place has, too, is kept apart.
                    apart = {one: v for one, v in value.items() if one in bound.arguments}
                    named.update({one: v for one, v in value.items() if one not in apart})
                    named.update({f"{one} (by name)": v for one, v in apart.items()})
                else:
                    named[key] = value
            return named

        if is_coroutine(function):

            @functools.wraps(function)
            async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
                given = to_json(arguments(args, kwargs))
                with _called_with(tool, given, args, kwargs):
                    return _value(await self.current().acall(tool, given))

            return cast("Callable[P, R]", later)

        @functools.wraps(function)
        def now(*args: P.args, **kwargs: P.kwargs) -> R:
            given = to_json(arguments(args, kwargs))
            with _called_with(tool, given, args, kwargs):
                return cast("R", _value(self.current().call(tool, given)))

        return now

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
        session = _current.get()
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


_current: contextvars.ContextVar[Session | None] = contextvars.ContextVar(
    "counterfoil_session", default=None
)


# What a guarded function was called with: its tool, the JSON, and the objects.
_objects: contextvars.ContextVar[tuple[str, str, tuple[Any, ...], dict[str, Any]] | None] = (
    contextvars.ContextVar("counterfoil_objects", default=None)
)


@contextlib.contextmanager
def _called_with(
    tool: str, given: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[None]:
    token = _objects.set((tool, given, args, kwargs))
    try:
        yield
    finally:
        _objects.reset(token)


def _origin(function: Any) -> tuple[Any, Any]:
    return getattr(function, "__module__", None), getattr(function, "__qualname__", id(function))


def _waited_for(value: Any) -> Any:
    """What an awaitable gives, where no loop runs in this thread."""
    if not inspect.isawaitable(value):
        return value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(value))
    if inspect.iscoroutine(value):
        value.close()
    raise CounterfoilError("there is something to await, and a loop runs in this thread", "`acall`")


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


class Session:
    """One conversation of one agent. As a context manager it is the current one of `guarded`
    functions, and it ends with the block."""

    def __init__(self, guard: Guard, made: native.Session) -> None:
        self.guard = guard
        self._native = made
        self._tokens: list[contextvars.Token[Session | None]] = []

    @property
    def id(self) -> str:
        return self._native.id

    def hear(self, text: str, role: Literal["user", "system", "assistant"] = "user") -> None:
        """Takes note of what a person or a policy said: it may ground values, never actions."""
        self._native.hear(role, clean(text))

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | str = "{}",
        *,
        call_id: str | None = None,
        caller: str | None = None,
    ) -> Answer:
        """Takes one call through the guard. `arguments` is what the model wrote, as text, or an
        object. Functions of the program run in this thread.

        A call that is refused, denied or fails is an answer, too; it never raises what a tool raises
        (`answer.error` has that). Raises `CounterfoilError` where the record cannot be kept.
        """
        self._refuse_within_loop(tool)
        broken: Exception | None = None
        running = self._begin(tool, arguments, call_id, caller)
        value: Any = _NOT_RUN
        error: BaseException | None = None
        try:
            while True:
                what, first, second = running.next()
                if what == "done":
                    if broken is not None:
                        raise broken
                    return _answer(first, value, error)
                if what == "ask":
                    try:
                        self._decide(running, _waited_for(self._asked(first)))
                    except Exception as raised:  # nobody agreed, and the receipt says so
                        broken = raised
                        running.nobody()
                    continue
                value, error = _NOT_RUN, None
                try:
                    value = self._run(first, second)
                except Exception as raised:
                    error = raised
                    running.fail(*_failure(raised))
                else:
                    running.finish(*_result(value))
        finally:
            running.cancel()

    async def acall(
        self,
        tool: str,
        arguments: Mapping[str, Any] | str = "{}",
        *,
        call_id: str | None = None,
        caller: str | None = None,
    ) -> Answer:
        """`call` for a loop: coroutines run in it, other functions in a thread. A task that is
        cancelled leaves a receipt that says so."""
        broken: Exception | None = None
        running = self._begin(tool, arguments, call_id, caller)
        value: Any = _NOT_RUN
        error: BaseException | None = None
        try:
            while True:
                what, first, second = await asyncio.to_thread(running.next)
                if what == "done":
                    if broken is not None:
                        raise broken
                    return _answer(first, value, error)
                if what == "ask":
                    try:
                        answered = self._asked(first)
                        answered = await answered if inspect.isawaitable(answered) else answered
                        self._decide(running, answered)
                    except Exception as raised:  # nobody agreed, and the receipt says so
                        broken = raised
                        running.nobody()
                    continue
                value, error = _NOT_RUN, None
                try:
                    value = await self._arun(first, second)
                except Exception as raised:
                    error = raised
                    running.fail(*_failure(raised))
                else:
                    running.finish(*_result(value))
        finally:
            running.cancel()

    def _refuse_within_loop(self, tool: str) -> None:
        function = self.guard._functions.get(tool)  # pyright: ignore[reportPrivateUsage]
        if function is None or not is_coroutine(function):
            return
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        raise CounterfoilError(
            f"`{tool}` is a coroutine, and a loop runs in this thread", "await `acall` instead"
        )

    def _begin(
        self,
        tool: str,
        arguments: Mapping[str, Any] | str,
        call_id: str | None,
        caller: str | None,
    ) -> native.RunningCall:
        text = clean(arguments) if isinstance(arguments, str) else to_json(arguments)
        return self._native.call(
            clean(tool), text, call_id or f"call_{uuid.uuid4().hex[:12]}", caller
        )

    def _prepared(self, tool: str, arguments: str) -> Callable[[], Any]:
        """The function with what it is called with: the objects of whoever called, where the arguments
        are still theirs."""
        function = self.guard._functions[tool]  # pyright: ignore[reportPrivateUsage]
        called = _objects.get()
        given = json.loads(arguments)
        if called is not None and called[0] == tool and json.loads(called[1]) == given:
            return functools.partial(function, *called[2], **called[3])
        return functools.partial(_applied, function, convert(function, given))

    def _run(self, tool: str, arguments: str) -> Any:
        return _waited_for(self._prepared(tool, arguments)())

    async def _arun(self, tool: str, arguments: str) -> Any:
        prepared = self._prepared(tool, arguments)
        function = self.guard._functions[tool]  # pyright: ignore[reportPrivateUsage]
        value = prepared() if is_coroutine(function) else await asyncio.to_thread(prepared)
        return await value if inspect.isawaitable(value) else value

    def _asked(self, question: str) -> Any:
        approver = self.guard._approver  # pyright: ignore[reportPrivateUsage]
        if approver is None:
            return None
        asked: dict[str, Any] = json.loads(question)
        return approver(Question(**{**asked, "why": tuple(asked["why"])}))

    @staticmethod
    def _decide(running: native.RunningCall, answered: Any) -> None:
        if answered is None:
            running.nobody()
        elif isinstance(answered, bool):
            running.decide(answered, "program")
        elif isinstance(answered, str):
            running.decide(False, "program", clean(answered))
        else:
            raise TypeError(f"an approver says True, False, a reason or None, not {answered!r}")

    def track(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Execution:
        """Opens a receipt for something that the program does itself: a context manager whose
        `complete(result)` closes it; an exception closes it as failed, leaving without a word as
        cancelled."""
        return Execution(self._native.track(clean(tool), to_json(dict(arguments or {})), None))

    def verify(self, text: str) -> Verified:
        """Holds what the agent says against the receipts of this session. The judgement is
        recorded."""
        found: dict[str, Any] = json.loads(self._native.verify(clean(text)))
        return Verified(
            disposition=found["disposition"],
            text=found["text"],
            findings=tuple(finding_of({**one, "transcript": None}) for one in found["findings"]),
            claims=tuple(claim_of(one) for one in found["claims"]),
            feedback=found["feedback"],
        )

    async def averify(self, text: str) -> Verified:
        """`verify`, in a thread: the loop goes on."""
        return await asyncio.to_thread(self.verify, text)

    def cited(self, execution_id: str, tool: str, window: float | None = None) -> dict[str, Any]:
        """Whether an execution stands as cited: `{valid, reason?, message?, receipt?, result?}`.
        `window` is how many seconds ago it may have begun."""
        cited = self._native.cited(clean(execution_id), clean(tool), window)
        return cast("dict[str, Any]", json.loads(cited))

    @property
    def offer(self) -> list[dict[str, Any]]:
        """The tools that the model may see now: `{name, description, parameters}`."""
        return cast("list[dict[str, Any]]", json.loads(self._native.offer()))

    def receipts(self, limit: int = 100) -> list[dict[str, Any]]:
        """The latest receipts of this session, oldest first."""
        return self.guard.recent(limit, self.id)

    def transcript(self) -> dict[str, Any]:
        """The session as a log: what `check` reads."""
        return cast("dict[str, Any]", json.loads(self._native.transcript()))

    def check(self) -> Report:
        """Everything that was said in this session, held against its receipts."""
        return check(self.transcript(), session=self.id)

    def clear(self) -> None:
        """Forgets what was learned of its calls: completed tools, repetitions, cached results."""
        self._native.clear()

    def end(self) -> None:
        """Ends the session; its record is signed to here."""
        self._native.end()

    def __enter__(self) -> Session:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        self.end()

    def _leave(self) -> None:
        try:
            _current.reset(self._tokens.pop())
        except ValueError:  # another thread is in it, too
            _current.set(None)

    async def __aenter__(self) -> Session:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        await asyncio.to_thread(self.end)

    def __repr__(self) -> str:
        return f"Session({self.id!r})"


class Execution:
    """An execution that the program performs itself; see `Session.track`."""

    def __init__(self, opened: native.Tracked) -> None:
        self._opened: native.Tracked | None = opened
        self.execution_id = opened.execution_id

    def complete(self, result: object = None) -> None:
        """It succeeded with this result."""
        self._take().complete(*_result(result))

    def fail(self, error: BaseException | str) -> None:
        """It failed."""
        kind, message = ("PermanentFailure", error) if isinstance(error, str) else _failure(error)
        self._take().fail(kind, message)

    def _take(self) -> native.Tracked:
        opened, self._opened = self._opened, None
        if opened is None:
            raise CounterfoilError(f"`{self.execution_id}` has ended already")
        return opened

    def __enter__(self) -> Execution:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is None:
            return
        if error is not None:
            self.fail(error)
        else:
            self._take().fail("Cancelled", "left without a result")


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


# What a call has that no function of the program answered.
_NOT_RUN: Any = object()


def _applied(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Calls a function by names, those that may only be given by place included."""
    parameters = inspect.signature(function).parameters.values()
    by_place = [
        given.pop(p.name) for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in given
    ]
    rest: list[Any] = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL and parameter.name in given:
            rest = list(given.pop(parameter.name))
            named = [
                given.pop(p.name)
                for p in parameters
                if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in given
            ]
            by_place += named
    return function(*by_place, *rest, **given)


def _result(value: object) -> tuple[str, bool]:
    if isinstance(value, str):
        return clean(value), True
    if value is None:
        return "", True
    return to_json(value), False


def _failure(error: BaseException) -> tuple[str, str]:
    """The category of an exception, and what to tell the model."""
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        kind = "Timeout"
    elif isinstance(error, ConnectionError):
        kind = "NetworkError"
    elif isinstance(error, (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)):
        kind = "Cancelled"
    else:
        kind = "PermanentFailure"
    text = said(error)
    name = type(error).__name__
    return kind, f"{name}: {text}" if text else name


def said(error: BaseException) -> str:
    """The words of an exception, whatever they do when they are asked for."""
    try:
        return clean(str(error))
    except Exception:
        return ""


def _answer(text: str, value: Any, error: BaseException | None) -> Answer:
    told: dict[str, Any] = json.loads(text)
    names = Answer.__dataclass_fields__
    known = {key: one for key, one in told.items() if key in names}
    for name in ("codes", "questions", "warnings"):
        known[name] = tuple(known.get(name, ()))
    if known["status"] != "completed":
        value = None
    elif value is _NOT_RUN:
        # A built-in tool, or a result that was kept from an earlier call.
        value = known["text"] if known.get("structured") is None else known["structured"]
    return Answer(**known, value=value, error=error)


def _value(answer: Answer) -> Any:
    """What a guarded function gives back."""
    if answer.ok:
        return answer.value
    if answer.error is not None:
        raise answer.error
    raise Refused(answer, answer.text)
