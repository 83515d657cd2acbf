"""What clusters share: one row a finding, and one for what could not be read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ._check import CheckOptions, check, check_file
from ._report import COLUMNS, Report

if TYPE_CHECKING:
    import pyarrow

# Beyond this a session is not read: a cluster must not die of one.
MAX_BYTES = 256 * 1024 * 1024


def columns() -> tuple[str, ...]:
    """The columns of a row: `key`, `kind`, then those of a finding."""
    return ("key", "kind", *COLUMNS)


def schema() -> pyarrow.Schema:
    """The schema of the rows, for Arrow."""
    import pyarrow as pa

    from ._table import schema as findings

    return pa.schema([("key", pa.string()), ("kind", pa.string()), *findings()])


class FleetOptions(CheckOptions, total=False):
    """What is wanted of a fleet's sessions, beside what is judged. `tools` is JSON of the tools that the
    agents had, where the sessions do not hold it. With `sessions`, those without a finding have a row,
    too. A session larger than `max_bytes` (256 MiB) is a problem."""

    tools: str | None
    sessions: bool
    max_bytes: int


class Wanted(NamedTuple):
    """The options, checked before any worker begins."""

    check: CheckOptions
    tools: str | None
    sessions: bool
    max_bytes: int


def checked(options: FleetOptions) -> Wanted:
    """Raises `CounterfoilError` and `TypeError` for what `check` raises them, once and here: not in a
    row for every session."""
    rest = dict(options)
    tools = rest.pop("tools", None)
    sessions, max_bytes = rest.pop("sessions", False), rest.pop("max_bytes", MAX_BYTES)
    chosen = cast("CheckOptions", rest)
    check([], cast("str | None", tools), **chosen)
    return Wanted(chosen, cast("str | None", tools), bool(sessions), cast("int", max_bytes))


def rows_of(
    key: str, session: Any, wanted: Wanted, *, is_path: bool = False
) -> list[dict[str, Any]]:
    """The rows of one session. Whatever goes wrong with it is a row, too; nothing is raised."""
    try:
        if _size(session, is_path) > wanted.max_bytes:
            return [_problem(key, f"larger than {wanted.max_bytes} bytes, so it was not read")]
        if is_path:
            report = check_file(str(session), wanted.tools, session=key, **wanted.check)
        else:
            report = check(session, wanted.tools, session=key, **wanted.check)
    except Exception as error:  # a partial failure is a row
        return [_problem(key, f"{type(error).__name__}: {error}")]
    return _rows(key, report, wanted.sessions)


def _rows(key: str, report: Report, sessions: bool) -> list[dict[str, Any]]:
    rows = [{"key": key, "kind": "finding", **finding.row()} for finding in report.findings]
    rows += [_problem(key, str(one.get("message"))) for one in report.summary.problems]
    if sessions and not rows:
        empty = dict.fromkeys(COLUMNS)
        rows.append({"key": key, "kind": "session", **empty, "session": key})
    return rows


def _problem(key: str, message: str) -> dict[str, Any]:
    empty = dict.fromkeys(COLUMNS)
    return {"key": key, "kind": "problem", **empty, "session": key, "message": message}


def _size(session: Any, is_path: bool) -> int:
    if is_path:
        return os.stat(session).st_size
    if isinstance(session, (str, bytes)):
        return len(session)
    return 0


def batch(
    table: Any, wanted: Wanted, *, column: str, key: str | None, is_path: bool
) -> pyarrow.RecordBatch:
    """The rows of a batch of sessions, as a batch."""
    import pyarrow as pa

    values: Iterable[Any] = table.column(column).to_pylist()
    keys = table.column(key).to_pylist() if key is not None else None
    rows: list[dict[str, Any]] = []
    for at, session in enumerate(values):
        name = str(keys[at]) if keys is not None else str(session) if is_path else f"row-{at}"
        if session is None:
            rows.append(_problem(name, "there is nothing in this row"))
            continue
        rows += rows_of(name, session, wanted, is_path=is_path)
    return pa.RecordBatch.from_pylist(rows, schema=schema())
