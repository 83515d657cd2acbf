"""A plugin of pytest: answers of agents as assertions.

    def test_cancel(counterfoil_session):
        cancel = counterfoil_session.guarded(cancel_order)
        answer = agent(tools=[cancel])
        counterfoil_session.assert_supported(answer)

    def test_log():
        assert_supported(messages)          # from counterfoil

`--counterfoil-fail-on` sets the severity from which a finding fails a test. Less severe findings, and
how much could be checked, are in a section of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import pytest

from . import _check
from ._answers import Verified
from ._errors import Unsupported
from ._guard import Guard
from ._report import Report, Severity
from ._session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._check import CheckOptions
    from ._guard import ToolOptions

P = ParamSpec("P")
R = TypeVar("R")


class Watch:
    """What was judged in this run: counts for the section of the report."""

    def __init__(self, fail_on: Severity) -> None:
        self.fail_on: Severity = fail_on
        self.judged = 0
        self.findings: list[tuple[str, str]] = []
        self.claims: dict[str, int] = {}

    def note(self, test: str, findings: Any, claims: Any) -> None:
        self.judged += 1
        self.findings += [(test, str(finding)) for finding in findings]
        for claim in claims:
            self.claims[claim.verdict] = self.claims.get(claim.verdict, 0) + 1


class RecordedSession:
    """A session for one test: tools that go through it, and what is said of them."""

    def __init__(self, session: Session, watch: Watch, test: str) -> None:
        self.session = session
        self._watch = watch
        self._test = test

    def guarded(self, function: Callable[P, R], **options: Unpack[ToolOptions]) -> Callable[P, R]:
        """A function whose calls go through the guard."""
        return self.session.guard.guarded(function, **options)

    def hear(self, text: str) -> None:
        """What the user said."""
        self.session.hear(text)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The receipts so far, oldest first."""
        return self.session.receipts()

    def verify(self, answer: str) -> Verified:
        """What an answer is worth; raises nothing."""
        verified = self.session.verify(answer)
        self._watch.note(self._test, verified.findings, verified.claims)
        return verified

    def assert_supported(self, answer: str, fail_on: Severity | None = None) -> Verified:
        """`verify`, which fails the test for findings of `fail_on` and above."""
        verified = self.verify(answer)
        wrong = verified.at_least(fail_on or self._watch.fail_on)
        if wrong:
            raise Unsupported(verified, "\n".join(str(finding) for finding in wrong))
        return verified


_watch: pytest.StashKey[Watch] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("counterfoil", "answers of agents")
    group.addoption(
        "--counterfoil-fail-on",
        choices=["error", "warning", "note"],
        default="error",
        help="the severity from which a finding fails a test (default: error)",
    )


def pytest_configure(config: pytest.Config) -> None:
    fail_on = cast("Severity", config.getoption("--counterfoil-fail-on"))
    config.stash[_watch] = Watch(fail_on)


@pytest.fixture
def counterfoil_guard() -> Guard:
    """A guard in memory, for one test."""
    return Guard()


@pytest.fixture
def counterfoil_session(
    request: pytest.FixtureRequest, counterfoil_guard: Guard
) -> Iterator[RecordedSession]:
    """A session for one test, which is the current one of guarded functions."""
    with counterfoil_guard.session() as session:
        yield RecordedSession(session, request.config.stash[_watch], request.node.nodeid)


@pytest.fixture
def assert_supported(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`counterfoil.assert_supported` with `--counterfoil-fail-on`, counted in the report."""
    watch = request.config.stash[_watch]

    def check(
        messages: object,
        tools: Any = None,
        *,
        session: str = "session",
        fail_on: Severity | None = None,
        **options: Unpack[CheckOptions],
    ) -> Report:
        report = _check.check(messages, tools, session=session, **options)
        watch.note(request.node.nodeid, report.findings, report.claims)
        if report.at_least(fail_on or watch.fail_on) or report.unreadable:
            raise Unsupported(report, str(report))
        return report

    return check


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    watch = config.stash[_watch]
    if not watch.judged:
        return
    terminalreporter.section("counterfoil")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(watch.claims.items()))
    terminalreporter.line(f"{watch.judged} answers judged; claims: {counts or 'none'}")
    for test, finding in watch.findings:
        terminalreporter.line(f"{test}: {finding}")
