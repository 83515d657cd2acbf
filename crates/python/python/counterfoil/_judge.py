"""Judges that read answers: a function of the program, or one that the command line knows."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from ._errors import CounterfoilError
from ._plain import to_json

# `(instructions, question) -> reply`: the reply is JSON as text, or what JSON is made of.
JudgeFunction = Callable[[str, str], str | dict[str, Any] | Awaitable[Any]]
Judge = str | JudgeFunction

# When a judge may be asked next, by its name.
_next: dict[str, float] = {}
_lock = threading.Lock()

# How long the command line has for one question, in seconds; it gives up by itself before.
_PATIENCE = 600


def judge_named(judge: Judge | None, threshold: float | None) -> dict[str, Any]:
    """The judge's name and threshold, as the extension module takes them.

    Raises `CounterfoilError` for a threshold that is none.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise CounterfoilError(f"a threshold is a number from 0 to 1, not {threshold!r}")
    name = None if judge is None else Asker(judge).name
    return {"judge_name": name, "judge_threshold": threshold}


class Asker:
    """Asks a judge, at most `rate` times a second in this process, however many checks ask it."""

    def __init__(self, judge: Judge, rate: float | None = None) -> None:
        if isinstance(judge, str):
            self.name, self._ask = judge, cast("JudgeFunction", _Program(judge))
        elif callable(judge):
            self.name, self._ask = getattr(judge, "__name__", type(judge).__name__), judge
        else:
            raise TypeError("a judge is a name, or a function of instructions and question")
        if rate is not None and not rate > 0:
            raise CounterfoilError(f"a rate is a number of questions a second, not {rate!r}")
        self._pause = 0.0 if rate is None else 1 / rate
        self.loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, instructions: str, question: str) -> str:
        with _lock:
            begin = max(_next.get(self.name, 0.0), time.monotonic())
            _next[self.name] = begin + self._pause
        time.sleep(max(0.0, begin - time.monotonic()))
        reply = self._ask(instructions, question)
        if inspect.isawaitable(reply):
            reply = self._wait(reply)
        return reply if isinstance(reply, str) else to_json(reply)

    def _wait(self, reply: Awaitable[Any]) -> Any:
        async def whole() -> Any:
            return await reply

        if self.loop is not None:
            return asyncio.run_coroutine_threadsafe(whole(), self.loop).result()
        # A loop may run in this thread.
        with ThreadPoolExecutor(1) as other:
            return other.submit(asyncio.run, whole()).result()


class _Program:
    """`counterfoil judge ask NAME`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, instructions: str, question: str) -> str:
        from ._check import program

        # The program has the instructions.
        done = subprocess.run(
            [program(), "judge", "ask", self.name],
            input=question.encode(),
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise CounterfoilError(said or f"`counterfoil judge ask` ended with {done.returncode}")
        return done.stdout.decode("utf-8", "replace")
