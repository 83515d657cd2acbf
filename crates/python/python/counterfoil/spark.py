"""Sessions on Apache Spark.

    from counterfoil.spark import check_sessions

    findings = check_sessions(spark.read.parquet("sessions/"), column="session", key="id")
    findings.write.parquet("findings/")

One row a finding (docs/fleet.md has the columns); what could not be read is a row of the kind
`problem`, and never ends the job. Each session must stand in one row; `gather` brings messages that are
spread over rows together first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from . import _fleet
from ._fleet import FleetOptions

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack


def check_sessions(
    frame: DataFrame,
    column: str = "session",
    key: str | None = None,
    **options: Unpack[FleetOptions],
) -> DataFrame:
    """Checks sessions that stand in a column, as text or bytes in any form that `check` reads.

    `key` is the column that names them. The other arguments are those of `FleetOptions`. Works on
    batches and streams.
    """
    return _mapped(frame, column, key, False, _fleet.checked(options))


def check_paths(
    frame: DataFrame,
    column: str = "path",
    key: str | None = None,
    **options: Unpack[FleetOptions],
) -> DataFrame:
    """Checks logs by their paths, which every worker must reach; they may be packed."""
    return _mapped(frame, column, key, True, _fleet.checked(options))


def gather(
    frame: DataFrame, key: str, message: str, order: str, session: str = "session"
) -> DataFrame:
    """Sessions out of messages: one row for each `key`, whose column `session` is the list of the
    messages (JSON texts of the column `message`) in the order of the column `order`."""
    from pyspark.sql import functions as f

    pairs = f.sort_array(f.collect_list(f.struct(f.col(order), f.col(message))))
    joined = f.concat(f.lit("["), f.concat_ws(",", f.col("_pairs")[message]), f.lit("]"))
    grouped = frame.groupBy(key).agg(pairs.alias("_pairs"))
    return grouped.select(f.col(key), joined.alias(session))


def spark_schema() -> str:
    """The columns of the rows, as Spark writes them."""
    numbers = {"turn", "line", "start", "end"}
    return ", ".join(
        f"`{name}` {'bigint' if name in numbers else 'string'}" for name in _fleet.columns()
    )


def _mapped(
    frame: DataFrame, column: str, key: str | None, is_path: bool, wanted: _fleet.Wanted
) -> DataFrame:
    columns = [column] if key is None else [key, column]

    def mapped(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            yield _fleet.batch(batch, wanted, column=column, key=key, is_path=is_path)

    return frame.select(*dict.fromkeys(columns)).mapInArrow(mapped, spark_schema())
