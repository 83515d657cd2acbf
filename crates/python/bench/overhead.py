"""What Python adds: a tracked call, a check in memory beside the same in Rust, and a fleet beside one
core.

    python bench/overhead.py [SESSIONS.jsonl]        # one session a line, as OpenAI has messages
    python bench/overhead.py --spark 20000
    python bench/overhead.py --ray 20000
"""

import argparse
import itertools
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from functools import partial

import counterfoil
from counterfoil import _counterfoil as native
from counterfoil import _fleet
from counterfoil._check import wanted as wanted_of


def timed(function, least=1.0):
    """The middle of the runs of at least so many seconds."""
    function()
    runs, began = [], time.perf_counter()
    while time.perf_counter() - began < least or len(runs) < 5:
        start = time.perf_counter()
        function()
        runs.append(time.perf_counter() - start)
    return statistics.median(runs)


def conversation(turns):
    """An honest one with a call a turn."""
    messages = [{"role": "system", "content": "You are a clerk of a shop."}]
    for at in range(turns):
        order = f"#W{10_000 + at}"
        call = {"name": "cancel_order", "arguments": json.dumps({"order_id": order})}
        result = {"order_id": order, "status": "cancelled", "refund": 10 + at}
        messages += [
            {"role": "user", "content": f"Please cancel {order}, I ordered it by mistake."},
            {
                "role": "assistant",
                "tool_calls": [{"id": f"c{at}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{at}", "content": json.dumps(result)},
            {
                "role": "assistant",
                "content": f"Order {order} has been cancelled. The refund is ${10 + at}.",
            },
        ]
    return messages


def checked(sessions):
    for session in sessions:
        counterfoil.check(session)


def checked_in_rust(encoded, wanted):
    for session in encoded:
        native.check(session, wanted, None)


def overhead(place):
    @counterfoil.track_tool_execution
    def nothing():
        return None

    def many():
        for _ in range(1000):
            nothing()

    print(f"track_tool_execution on a no-op      {timed(many, 3) * 1e3:8.1f} µs")
    if place is None:
        sets = {f"{turns} turns": [conversation(turns)] for turns in (2, 20, 200)}
    else:
        with open(place) as lines:
            sessions = [json.loads(line) for line in itertools.islice(lines, 300)]
        sets = {f"{len(sessions)} sessions of the file": sessions}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):
        many()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 20_000
    print(f"memory that each keeps                {grown:8.1f} KiB")
    print("a check in memory: Python, Rust alone, ratio")
    wanted = wanted_of({}, "session")
    for name, sessions in sets.items():
        encoded = [json.dumps(session).encode() for session in sessions]
        python = timed(partial(checked, sessions))
        rust = timed(partial(checked_in_rust, encoded, wanted))
        print(f"  {name:34} {python * 1e3:8.2f} ms {rust * 1e3:8.2f} ms {python / rust:6.2f}")


def made(count):
    for at in range(count):
        session = conversation(8)
        if at % 10 == 0:
            session[-1]["content"] = f"Order #W{20_000 + at} has been cancelled."
        yield {"id": f"s-{at}", "session": json.dumps(session)}


def alone(rows):
    wanted = _fleet.checked({})
    start = time.perf_counter()
    found = [row for one in rows for row in _fleet.rows_of(one["id"], one["session"], wanted)]
    return found, time.perf_counter() - start


def side_by_side(rows, cores):
    """As many processes as there are cores, each with its share: what the machine can do."""
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        pool.map(alone, [rows[:50]] * cores)
        start = time.perf_counter()
        pool.map(alone, [rows[part::cores] for part in range(cores)], chunksize=1)
        return time.perf_counter() - start


def fleet(name, count):
    rows = list(made(count))
    found, seconds = alone(rows)
    found.sort(key=lambda row: (row["key"], row["start"] or 0, row["rule"] or ""))
    cores = min(os.cpu_count() or 1, 2)
    with tempfile.TemporaryDirectory(prefix="cf") as folder:
        got, took = (on_spark if name == "spark" else on_ray)(rows, cores, folder)
    got.sort(key=lambda row: (row["key"], row["start"] or 0, row["rule"] or ""))
    linear = side_by_side(rows, cores)
    print(f"{count} sessions, {len(found)} findings; the same rows: {got == found}")
    print(f"one process {seconds:.1f} s, {cores} side by side {linear:.1f} s")
    print(f"{name} on {cores} {took:.1f} s: {linear / took:.0%} of what the cores can do")
    return 0 if got == found else 1


def on_spark(rows, cores, folder):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    from counterfoil.spark import check_sessions

    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g")
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "2000").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    path = f"{folder}/in"
    spark.createDataFrame(rows).repartition(cores * 8).write.parquet(path)
    # The workers begin.
    check_sessions(spark.read.parquet(path).sample(0.05), key="id").collect()
    start = time.perf_counter()
    got = [row.asDict() for row in check_sessions(spark.read.parquet(path), key="id").collect()]
    took = time.perf_counter() - start
    spark.stop()
    return got, took


def on_ray(rows, cores, folder):
    import pyarrow
    import ray

    from counterfoil.ray import check_sessions

    ray.init(
        num_cpus=cores,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        _temp_dir=f"{folder}/r",
        log_to_driver=False,
    )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # Of two cores, one would be kept free for what comes before.
    context.op_resource_reservation_enabled = False
    parts = cores * 10
    blocks = [pyarrow.Table.from_pylist(rows[part::parts]) for part in range(parts)]
    # The workers begin.
    check_sessions(ray.data.from_arrow(blocks[: cores * 2]), key="id").take_all()
    start = time.perf_counter()
    got = check_sessions(ray.data.from_arrow(blocks), key="id").take_all()
    took = time.perf_counter() - start
    ray.shutdown()
    shutil.rmtree(f"{folder}/r", ignore_errors=True)
    return got, took


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("sessions", nargs="?")
    flags.add_argument("--spark", type=int)
    flags.add_argument("--ray", type=int)
    given = flags.parse_args()
    for name in ("spark", "ray"):
        if count := getattr(given, name):
            return fleet(name, count)
    return overhead(given.sessions)


if __name__ == "__main__":
    sys.exit(main())
