"""Sessions on Ray.

    import ray
    from counterfoil.ray import check_sessions

    findings = check_sessions(ray.data.read_parquet("sessions/"), column="session", key="id")
    findings.write_parquet("findings/")

The rows are those of `counterfoil.spark`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _fleet
from ._fleet import FleetOptions

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset
    from typing_extensions import Unpack


def check_sessions(
    dataset: Dataset,
    column: str = "session",
    key: str | None = None,
    *,
    batch_size: int | None = None,
    **options: Unpack[FleetOptions],
) -> Dataset:
    """Checks sessions that stand in a column; see `counterfoil.spark.check_sessions`. Each block is a
    task; small files come as one block, and `batch_size` makes blocks of so many sessions first.
    """
    return _mapped(dataset, column, key, False, batch_size, _fleet.checked(options))


def check_paths(
    dataset: Dataset,
    column: str = "path",
    key: str | None = None,
    *,
    batch_size: int | None = None,
    **options: Unpack[FleetOptions],
) -> Dataset:
    """Checks logs by their paths, which every worker must reach; they may be packed."""
    return _mapped(dataset, column, key, True, batch_size, _fleet.checked(options))


def _mapped(
    dataset: Dataset,
    column: str,
    key: str | None,
    is_path: bool,
    batch_size: int | None,
    wanted: _fleet.Wanted,
) -> Dataset:
    def mapped(table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow as pa

        batch = _fleet.batch(table, wanted, column=column, key=key, is_path=is_path)
        return pa.Table.from_batches([batch])

    if batch_size is not None:
        dataset = dataset.repartition(target_num_rows_per_block=batch_size)
    return dataset.map_batches(mapped, batch_format="pyarrow", batch_size=None)
