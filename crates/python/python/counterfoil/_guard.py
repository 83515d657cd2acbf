"""The one door for every tool call of an agent, with receipts that the model cannot forge."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import json
import os
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload

from . import _counterfoil as native
from ._check import check, program
from ._errors import CounterfoilError, Refused
from ._plain import to_json
from ._report import Claim, Finding, Report, claim_of, finding_of
from ._schema import convert, definition

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
        declared = {key: value for key, value in effects.items() if value is not None}
        self._native.add_tool(to_json({**told, "effects": declared, "asks": asks}))
        self._functions[told["name"]] = function
        return cast("str", told["name"])

    def guarded(self, function: Callable[P, R], /, **how: Any) -> Callable[P, R]:
        """A function that goes through this guard whenever it is called, in the session that is
        current: returns what the function returns, raises what it raises, and `Refused` where the call
        is not made. `how` is that of `tool`."""
        tool = self._add(
            function,
            name=how.pop("name", None),
            description=how.pop("description", None),
            parameters=how.pop("parameters", None),
            asks=how.pop("asks", None),
            effects=how,
        )
        signature = inspect.signature(function)

        def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
            bound = signature.bind(*args, **kwargs)
            named: dict[str, Any] = {}
            for key, value in bound.arguments.items():
                if signature.parameters[key].kind is inspect.Parameter.VAR_KEYWORD:
                    named.update(value)
                else:
                    named[key] = value
            return named

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
                session = self.current()
                return _value(await session.acall(tool, arguments(args, kwargs)))

            return cast("Callable[P, R]", later)

        @functools.wraps(function)
        def now(*args: P.args, **kwargs: P.kwargs) -> R:
            return cast("R", _value(self.current().call(tool, arguments(args, kwargs))))

        return now

    def session(
        self,
        id: str | None = None,
        *,
        model: str | None = None,
        trust: Literal["trusted", "verified", "quarantined", "untrusted"] | str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Session:
        """Begins a session, or goes on with an earlier one of that id."""
        made = self._native.session(id, model, trust, dict(environment or {}))
        return Session(self, made)

    def current(self) -> Session:
        """The session whose `with` block this is, else one of the guard's own."""
        session = _current.get()
        if session is not None and session.guard is self:
            return session
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
        self._native.hear(role, text)

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
        running = self._begin(tool, arguments, call_id, caller)
        value: Any = _NOT_RUN
        error: BaseException | None = None
        try:
            while True:
                what, first, second = running.next()
                if what == "done":
                    return _answer(first, value, error)
                if what == "ask":
                    self._decide(running, self._asked(first))
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
        running = self._begin(tool, arguments, call_id, caller)
        value: Any = _NOT_RUN
        error: BaseException | None = None
        try:
            while True:
                what, first, second = await asyncio.to_thread(running.next)
                if what == "done":
                    return _answer(first, value, error)
                if what == "ask":
                    answered = self._asked(first)
                    answered = await answered if inspect.isawaitable(answered) else answered
                    self._decide(running, answered)
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
        if function is None or not inspect.iscoroutinefunction(function):
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
        text = arguments if isinstance(arguments, str) else to_json(arguments)
        return self._native.call(tool, text, call_id or f"call_{uuid.uuid4().hex[:12]}", caller)

    def _prepared(self, tool: str, arguments: str) -> tuple[Callable[..., Any], dict[str, Any]]:
        function = self.guard._functions[tool]  # pyright: ignore[reportPrivateUsage]
        return function, convert(function, json.loads(arguments))

    def _run(self, tool: str, arguments: str) -> Any:
        function, given = self._prepared(tool, arguments)
        value = _applied(function, given)
        if inspect.iscoroutine(value):
            return asyncio.run(value)
        return value

    async def _arun(self, tool: str, arguments: str) -> Any:
        function, given = self._prepared(tool, arguments)
        if inspect.iscoroutinefunction(function):
            return await _applied(function, given)
        value = await asyncio.to_thread(_applied, function, given)
        return await value if inspect.isawaitable(value) else value

    def _asked(self, question: str) -> Any:
        approver = self.guard._approver  # pyright: ignore[reportPrivateUsage]
        if approver is None:
            return None
        asked: dict[str, Any] = json.loads(question)
        return approver(Question(**{**asked, "why": tuple(asked["why"])}))

    @staticmethod
    def _decide(running: native.RunningCall, answered: Any) -> None:
        if inspect.iscoroutine(answered):
            answered = asyncio.run(answered)
        if answered is None:
            running.nobody()
        elif isinstance(answered, str):
            running.decide(False, "program", answered)
        else:
            running.decide(bool(answered), "program")

    def track(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Execution:
        """Opens a receipt for something that the program does itself: a context manager whose
        `complete(result)` closes it; an exception closes it as failed, leaving without a word as
        cancelled."""
        return Execution(self._native.track(tool, to_json(dict(arguments or {})), None))

    def verify(self, text: str) -> Verified:
        """Holds what the agent says against the receipts of this session. The judgement is
        recorded."""
        found: dict[str, Any] = json.loads(self._native.verify(text))
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
        return cast("dict[str, Any]", json.loads(self._native.cited(execution_id, tool, window)))

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
        _current.reset(self._tokens.pop())
        self.end()

    async def __aenter__(self) -> Session:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _current.reset(self._tokens.pop())
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


def default_guard() -> Guard:
    """The guard of `guarded`: one a process, in memory."""
    global _default
    if _default is None:
        _default = Guard()
    return _default


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """`Guard.guarded` of the default guard, as a decorator."""
    return default_guard().guarded(function)


def _forget() -> None:
    global _default
    _default = None


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
        return value.encode("utf-8", "replace").decode("utf-8"), True
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
    try:
        said = str(error)
    except Exception:
        said = ""
    name = type(error).__name__
    text = f"{name}: {said}" if said else name
    return kind, text.encode("utf-8", "replace").decode("utf-8")


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
