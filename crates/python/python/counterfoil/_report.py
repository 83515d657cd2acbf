"""What was found, as Python objects. The shapes are those of `counterfoil check --format json`."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas
    import pyarrow

Severity = Literal["error", "warning", "note"]
Verdict = Literal["supported", "contradicted", "unsupported", "not_checkable"]

# Where the claims of a document begin, and where they end.
_CLAIMS = '\n],"claims":[\n'
_SUMMARY = '\n],"summary":'

_RANK: dict[str, int] = {"note": 0, "warning": 1, "error": 2}

# The columns of a table of findings, and what a fleet's rows have.
COLUMNS = (
    "session",
    "path",
    "format",
    "model",
    "rule",
    "name",
    "severity",
    "grade",
    "verdict",
    "confidence",
    "message",
    "turn",
    "line",
    "start",
    "end",
    "claim",
    "tool",
    "help",
    "fingerprint",
)


@dataclass(frozen=True)
class Span:
    """A place in a message: UTF-8 bytes of its text blocks, joined by a line break."""

    start: int
    end: int


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with what an agent said, or with a call that it made.

    `grade` says what it rests on: `proven` by the record, `read` by a judge whose quotations were found
    (`judge` has its name and how sure it is), or `suspected`, of an unusual call; `severity` follows from it. `verdict` is `contradicted` or `unsupported`.
    `turn` is the index of the message; `span` and `claim` are about what was said, `call` about a
    call. `evidence` is what the record shows: `{execution_id or call_id or turn, tool?, pointer,
    excerpt}`.
    """

    rule: str
    name: str
    severity: Severity
    verdict: Verdict
    confidence: str
    message: str
    turn: int
    line: int | None = None
    span: Span | None = None
    claim: str | None = None
    call: dict[str, Any] | None = None
    evidence: tuple[dict[str, Any], ...] = ()
    help: str | None = None
    fingerprint: str = ""
    session: str = ""
    path: str = ""
    format: str = ""
    model: str | None = None
    mode: str = ""
    grade: str = ""
    judge: dict[str, Any] | None = None

    def row(self) -> dict[str, Any]:
        """One row of a table of findings: the members of `COLUMNS`."""
        return {
            "session": self.session,
            "path": self.path,
            "format": self.format,
            "model": self.model,
            "rule": self.rule,
            "name": self.name,
            "severity": self.severity,
            "grade": self.grade,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "message": self.message,
            "turn": self.turn,
            "line": self.line,
            "start": self.span.start if self.span else None,
            "end": self.span.end if self.span else None,
            "claim": self.claim,
            "tool": self.call.get("tool") if self.call else None,
            "help": self.help,
            "fingerprint": self.fingerprint,
        }

    def __str__(self) -> str:
        return f"{self.severity}[{self.rule}]: {self.message}"


@dataclass(frozen=True)
class Claim:
    """Something that the agent said and that a rule decided."""

    rule: str
    verdict: Verdict
    text: str
    turn: int
    span: Span
    type: str = ""
    objects: tuple[dict[str, Any], ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Summary:
    """Counts over all sessions. `coverage` is the share of claims that were judged."""

    transcripts: int = 0
    messages: int = 0
    calls: int = 0
    unchecked_calls: int = 0
    coverage: float | None = None
    claims: dict[str, int] = field(default_factory=dict[str, int])
    severities: dict[str, int] = field(default_factory=dict[str, int])
    gaps: dict[str, int] = field(default_factory=dict[str, int])
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    problems: tuple[dict[str, Any], ...] = ()
    # What became of the answers that a judge was to read; None without one.
    judged: dict[str, Any] | None = None


@dataclass(frozen=True)
class Report:
    """What a check found. It is true where nothing is wrong at `error` level."""

    findings: tuple[Finding, ...]
    summary: Summary
    unreadable: bool = False
    # As the command line prints it.
    json: str = field(default="", repr=False, compare=False)
    _claims: str = field(default="[]", repr=False, compare=False)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Everything that was said and decided, supported claims included, in order."""
        return tuple(claim_of(one) for one in json.loads(self._claims))

    @property
    def ok(self) -> bool:
        """Something was read, and nothing is wrong at `error` level."""
        return not self.unreadable and not self.at_least("error")

    def __bool__(self) -> bool:
        return self.ok

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return self.at_least("error")

    def at_least(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of this severity and above."""
        return at_least(self.findings, severity)

    def rows(self) -> list[dict[str, Any]]:
        """One row a finding, with the members of `COLUMNS`."""
        return [finding.row() for finding in self.findings]

    def to_pandas(self) -> pandas.DataFrame:
        """One row a finding. Needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def to_arrow(self) -> pyarrow.Table:
        """One row a finding. Needs pyarrow."""
        import pyarrow as pa

        from ._table import schema

        return pa.Table.from_pylist(self.rows(), schema=schema())

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings]
        counts = self.summary.severities
        told = ", ".join(f"{counts.get(word, 0)} {word}s" for word in ("error", "warning", "note"))
        read = f"{self.summary.transcripts} sessions, {self.summary.calls} calls"
        lines.append(f"{told} in {read}")
        lines += [f"not read: {problem.get('message', '')}" for problem in self.summary.problems]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: a table of findings with their claims."""
        colours = {"error": "#b3261e", "warning": "#8a5a00", "note": "#4a5a6a"}
        rows = [
            "<tr><td style='color:{};font-weight:600'>{}</td><td>{}</td><td>{}</td><td>{}</td>"
            "<td style='text-align:left'>{}</td><td style='text-align:left'>{}</td></tr>".format(
                colours[f.severity],
                f.severity,
                html.escape(f.rule),
                html.escape(f.session),
                f.turn,
                html.escape(f.claim or (f.call or {}).get("tool") or ""),
                html.escape(f.message),
            )
            for f in self.findings
        ]
        head = "".join(
            f"<th>{word}</th>"
            for word in ("severity", "rule", "session", "turn", "said", "finding")
        )
        summary = html.escape(str(self).splitlines()[len(self.findings)])
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return f"<div><p>{summary}</p>{table if rows else ''}</div>"

    @classmethod
    def from_json(cls, text: str, unreadable: bool = False) -> Report:
        """Of what `counterfoil check --format json` prints."""
        # Most of a report are claims that are true; they are read when somebody wants them. A line
        # break is only between members.
        begin, end = text.find(_CLAIMS), text.rfind(_SUMMARY)
        has_claims = 0 <= begin < end
        document: dict[str, Any] = json.loads(text[:begin] + text[end:] if has_claims else text)
        summary: dict[str, Any] = document["summary"]
        names = Summary.__dataclass_fields__
        known: dict[str, Any] = {key: value for key, value in summary.items() if key in names}
        known["problems"] = tuple(known.get("problems", ()))
        return cls(
            findings=tuple(finding_of(one) for one in document["findings"]),
            summary=Summary(**known),
            unreadable=unreadable,
            json=text,
            _claims=f"[{text[begin + len(_CLAIMS) : end]}]" if has_claims else "[]",
        )


def _span(value: dict[str, int] | None) -> Span | None:
    return None if value is None else Span(value["start"], value["end"])


def at_least(findings: tuple[Finding, ...], severity: Severity) -> tuple[Finding, ...]:
    """The findings of a severity and above."""
    return tuple(one for one in findings if _RANK[one.severity] >= _RANK[severity])


def finding_of(record: dict[str, Any]) -> Finding:
    """A finding, of its JSON."""
    transcript: dict[str, Any] = record.get("transcript") or {}
    claim: dict[str, Any] = record.get("claim") or {}
    return Finding(
        rule=record["rule"]["code"],
        name=record["rule"]["name"],
        severity=record["severity"],
        verdict=record["verdict"],
        confidence=record["confidence"],
        message=record["message"],
        turn=record["turn"],
        line=record.get("line"),
        span=_span(record.get("span")),
        claim=claim.get("text"),
        call=record.get("call"),
        evidence=tuple(record.get("evidence", ())),
        help=record.get("help"),
        fingerprint=record.get("fingerprint", ""),
        session=transcript.get("id", ""),
        path=transcript.get("path", ""),
        format=transcript.get("format", ""),
        model=transcript.get("model"),
        mode=record.get("mode", ""),
        grade=record.get("grade", ""),
        judge=record.get("judge"),
    )


def claim_of(record: dict[str, Any]) -> Claim:
    """A claim, of its JSON."""
    claim: dict[str, Any] = record["claim"]
    span = record["span"]
    return Claim(
        rule=record["rule"],
        verdict=record["verdict"],
        text=claim.get("text", ""),
        turn=record.get("turn", claim.get("turn", 0)),
        span=Span(span["start"], span["end"]),
        type=claim.get("type", ""),
        objects=tuple(claim.get("objects", ())),
        evidence=tuple(record.get("evidence", ())),
    )
