"""The columns of findings for Arrow. Needs pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow


def schema() -> pyarrow.Schema:
    """The schema of a table of findings: `COLUMNS`, whole numbers as int64, all else as text."""
    import pyarrow as pa

    from ._report import COLUMNS

    numbers = {"turn", "line", "start", "end"}
    return pa.schema([(name, pa.int64() if name in numbers else pa.string()) for name in COLUMNS])
