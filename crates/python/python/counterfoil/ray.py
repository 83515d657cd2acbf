"""Sessions on Ray.

    import ray
    from counterfoil.ray import check_sessions

    findings = check_sessions(ray.data.read_parquet("sessions/"), column="session", key="id")
    findings.write_parquet("findings/")

The rows are those of `counterfoil.spark`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _fleet

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset


def check_sessions(
    dataset: Dataset,
    column: str = "session",
    key: str | None = None,
    *,
    tools: str | None = None,
    sessions: bool = False,
    max_bytes: int = _fleet.MAX_BYTES,
    batch_size: int | None = None,
    **how: Any,
) -> Dataset:
    """Checks sessions that stand in a column; see `counterfoil.spark.check_sessions`. Each block
    is a task; small files come as one block, and `batch_size` makes blocks of so many sessions first.
    """
    given = {"tools": tools, "sessions": sessions, "max_bytes": max_bytes, "how": how}
    return _mapped(dataset, column, key, False, given, batch_size)


def check_paths(
    dataset: Dataset,
    column: str = "path",
    key: str | None = None,
    *,
    tools: str | None = None,
    sessions: bool = False,
    max_bytes: int = _fleet.MAX_BYTES,
    batch_size: int | None = None,
    **how: Any,
) -> Dataset:
    """Checks logs by their paths, which every worker must reach; they may be packed."""
    given = {"tools": tools, "sessions": sessions, "max_bytes": max_bytes, "how": how}
    return _mapped(dataset, column, key, True, given, batch_size)


def _mapped(
    dataset: Dataset,
    column: str,
    key: str | None,
    is_path: bool,
    given: dict[str, Any],
    batch_size: int | None,
) -> Dataset:
    def mapped(table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow as pa

        from counterfoil import _fleet as fleet

        batch = fleet.batch(table, column=column, key=key, is_path=is_path, how=given)
        return pa.Table.from_batches([batch])

    if batch_size is not None:
        dataset = dataset.repartition(target_num_rows_per_block=batch_size)
    return dataset.map_batches(mapped, batch_format="pyarrow", batch_size=None)
