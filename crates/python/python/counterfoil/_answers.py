"""What comes of calls and answers, as Python objects."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ._report import Claim, Finding, Severity, at_least, claim_of, finding_of

Approver = Callable[["Question"], "bool | str | Awaitable[bool | str | None] | None"]

# The value of a call that no function of the program answered.
NOT_RUN: Any = object()


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
    `unjudged` is why the judge of the guard did not read it; None where it did, or there is none.
    """

    disposition: Literal["pass", "annotate", "block"]
    text: str
    findings: tuple[Finding, ...]
    claims: tuple[Claim, ...]
    feedback: str
    unjudged: str | None = None

    @property
    def ok(self) -> bool:
        return self.disposition != "block"

    def at_least(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of this severity and above."""
        return at_least(self.findings, severity)

    def __bool__(self) -> bool:
        return self.ok


def question_of(text: str) -> Question:
    """A question, of its JSON."""
    asked: dict[str, Any] = json.loads(text)
    return Question(**{**asked, "why": tuple(asked["why"])})


def answer_of(text: str, value: Any, error: BaseException | None) -> Answer:
    """What came of a call, of its JSON, with what the function gave or raised."""
    told: dict[str, Any] = json.loads(text)
    names = Answer.__dataclass_fields__
    known = {key: one for key, one in told.items() if key in names}
    for name in ("codes", "questions", "warnings"):
        known[name] = tuple(known.get(name, ()))
    if known["status"] != "completed":
        value = None
    elif value is NOT_RUN:
        # A built-in tool, or a result that was kept from an earlier call.
        value = known["text"] if known.get("structured") is None else known["structured"]
    return Answer(**known, value=value, error=error)


def verified_of(text: str) -> Verified:
    """A judgement, of its JSON."""
    found: dict[str, Any] = json.loads(text)
    return Verified(
        disposition=found["disposition"],
        text=found["text"],
        findings=tuple(finding_of(one) for one in found["findings"]),
        claims=tuple(claim_of(one) for one in found["claims"]),
        feedback=found["feedback"],
        unjudged=found.get("unjudged"),
    )
