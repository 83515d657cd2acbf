"""One conversation of one agent."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast

from . import _counterfoil as native
from ._answers import NOT_RUN, Answer, Verified, answer_of, question_of, verified_of
from ._calling import failure_of, is_in_loop, prepared, result_of, waited_for
from ._check import check
from ._errors import CounterfoilError
from ._plain import clean, to_json
from ._report import Report
from ._schema import is_coroutine

if TYPE_CHECKING:
    from ._guard import Guard

_entered: contextvars.ContextVar[Session | None] = contextvars.ContextVar(
    "counterfoil_session", default=None
)


def entered() -> Session | None:
    """The session in whose `with` block this is."""
    return _entered.get()


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
        (`answer.error` has that). What an approver raises is raised once the call is denied. Raises
        `CounterfoilError` where the record cannot be kept.
        """
        function = self.guard.function(tool)
        if function is not None and is_coroutine(function) and is_in_loop():
            raise CounterfoilError(
                f"`{tool}` is a coroutine, and a loop runs in this thread", "await `acall` instead"
            )
        with self._begin(tool, arguments, call_id, caller) as running:
            while (turn := running.next()) != "done":
                if turn == "ask":
                    with running.deciding():
                        running.decide(waited_for(self._asked(running)))
                else:
                    with running.running():
                        running.finish(waited_for(self._prepared(running)()))
            return running.answer()

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
        with self._begin(tool, arguments, call_id, caller) as running:
            while (turn := await asyncio.to_thread(running.next)) != "done":
                if turn == "ask":
                    with running.deciding():
                        running.decide(await _settled(self._asked(running)))
                else:
                    with running.running():
                        prepared = self._prepared(running)
                        if is_coroutine(prepared):
                            running.finish(await prepared())
                        else:
                            running.finish(await _settled(await asyncio.to_thread(prepared)))
            return running.answer()

    def _begin(
        self,
        tool: str,
        arguments: Mapping[str, Any] | str,
        call_id: str | None,
        caller: str | None,
    ) -> _Running:
        text = clean(arguments) if isinstance(arguments, str) else to_json(arguments)
        call_id = call_id or f"call_{uuid.uuid4().hex[:12]}"
        return _Running(self._native.call(clean(tool), text, call_id, caller))

    def _prepared(self, running: _Running) -> Callable[[], Any]:
        function = self.guard.function(running.tool)
        if function is None:
            raise CounterfoilError(f"`{running.tool}` is no function of this program any more")
        return prepared(function, running.arguments)

    def _asked(self, running: _Running) -> Any:
        approver = self.guard.approver
        return None if approver is None else approver(question_of(running.question))

    def track(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Execution:
        """Opens a receipt for something that the program does itself: a context manager whose
        `complete(result)` closes it; an exception closes it as failed, leaving without a word as
        cancelled."""
        return Execution(self._native.track(clean(tool), to_json(dict(arguments or {})), None))

    def verify(self, text: str) -> Verified:
        """Holds what the agent says against the receipts of this session. The judgement is
        recorded."""
        return verified_of(self._native.verify(clean(text)))

    async def averify(self, text: str) -> Verified:
        """`verify`, in a thread: the loop goes on."""
        return await asyncio.to_thread(self.verify, text)

    def cited(self, execution_id: str, tool: str, window: float | None = None) -> dict[str, Any]:
        """Whether an execution is as cited: `{valid, reason?, message?, receipt?, result?}`.
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
        self._tokens.append(_entered.set(self))
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
            _entered.reset(self._tokens.pop())
        except ValueError:  # another thread is in it, too
            _entered.set(None)

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
        self._take().complete(*result_of(result))

    def fail(self, error: BaseException | str) -> None:
        """It failed."""
        kind, message = ("PermanentFailure", error) if isinstance(error, str) else failure_of(error)
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


class _Running:
    """A call on its way through the guard, and what the program did for it so far."""

    def __init__(self, call: native.RunningCall) -> None:
        self._call = call
        self._value: Any = NOT_RUN
        self._error: Exception | None = None
        self._undecided: Exception | None = None
        self._answer = ""
        self.tool = ""
        self.arguments = ""
        self.question = ""

    def next(self) -> Literal["run", "ask", "done"]:
        """Waits for what is to be done: `tool` is to run with `arguments`, `question` is asked, or
        there is an answer."""
        what, first, second = self._call.next()
        if what == "run":
            self.tool, self.arguments = first, second
        elif what == "ask":
            self.question = first
        else:
            self._answer = first
        return what

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Around the function: what it raises is the call's failure."""
        self._value, self._error = NOT_RUN, None
        try:
            yield
        except Exception as error:
            self._error = error
            self._call.fail(*failure_of(error))

    def finish(self, value: Any) -> None:
        """The function gave this."""
        self._value = value
        self._call.finish(*result_of(value))

    @contextlib.contextmanager
    def deciding(self) -> Iterator[None]:
        """Around the approver: what it raises agrees to nothing."""
        try:
            yield
        except Exception as error:
            self._undecided = error
            self._call.leave_unanswered()

    def decide(self, answered: Any) -> None:
        """The approver said this. Only True agrees."""
        if answered is None:
            self._call.leave_unanswered()
        elif isinstance(answered, bool):
            self._call.decide(answered, "program")
        elif isinstance(answered, str):
            self._call.decide(False, "program", clean(answered))
        else:
            raise TypeError(f"an approver says True, False, a reason or None, not {answered!r}")

    def answer(self) -> Answer:
        """What came of the call."""
        if self._undecided is not None:
            raise self._undecided
        return answer_of(self._answer, self._value, self._error)

    def __enter__(self) -> _Running:
        return self

    def __exit__(self, *raised: object) -> None:
        # Of a call that is done there is nothing to give up.
        self._call.cancel()


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
