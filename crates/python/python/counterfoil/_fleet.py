"""What clusters share: one row a finding, and one for what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._check import check, check_file
from ._report import COLUMNS, Report

if TYPE_CHECKING:
    import pyarrow

# What a row tells: a finding, a session without one (where these are asked for), or a problem.
KINDS = ("finding", "session", "problem")

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


def rows_of(
    key: str,
    session: Any,
    *,
    is_path: bool = False,
    tools: str | None = None,
    sessions: bool = False,
    max_bytes: int = MAX_BYTES,
    how: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The rows of one session. Whatever goes wrong with it is a row, too; nothing is raised."""
    try:
        too_large = _size(session, is_path) > max_bytes
        if too_large:
            return [_problem(key, f"larger than {max_bytes} bytes, so it was not read")]
        named = {"session": key, **(how or {})}
        if is_path:
            report = check_file(str(session), tools, **named)
        else:
            report = check(session, tools, **named)
    except Exception as error:  # a partial failure is a row
        return [_problem(key, f"{type(error).__name__}: {error}")]
    return _rows(key, report, sessions)


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
        import os

        return os.stat(session).st_size
    if isinstance(session, (str, bytes)):
        return len(session)
    return 0


def batch(
    table: Any,
    *,
    column: str,
    key: str | None,
    is_path: bool,
    how: Mapping[str, Any],
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
        rows += rows_of(name, session, is_path=is_path, **how)
    return pa.RecordBatch.from_pylist(rows, schema=schema())
