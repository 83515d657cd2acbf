"""What goes wrong, and what to do."""

from __future__ import annotations

from typing import Any


class CounterfoilError(Exception):
    """Something that the machine failed to do. `help` says what to do, where that is known."""

    message: str
    help: str | None

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, dict(self.__dict__))

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message}\n  help: {self.help}"


class Refused(CounterfoilError):
    """A call that was not made: refused at admission, denied by a gate, or nobody agreed.

    `answer` is what the model should be told; it has the id of the receipt and the codes.
    """

    def __init__(self, answer: object, message: str) -> None:
        super().__init__(message)
        self.answer = answer


class Unsupported(CounterfoilError, AssertionError):
    """The record does not support what an agent said. `report` has the findings."""

    def __init__(self, report: object, message: str) -> None:
        super().__init__(message)
        self.report = report


def _again(kind: type[CounterfoilError], args: tuple[Any, ...], members: Any) -> CounterfoilError:
    """An error that came out of another process."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(members)
    return error
