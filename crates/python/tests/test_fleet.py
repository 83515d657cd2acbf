"""Many sessions: rows, and the real engines on this machine."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import counterfoil
from counterfoil import _fleet

ASKED = {"role": "user", "content": "Cancel the order."}
LIE = json.dumps([ASKED, {"role": "assistant", "content": "I have cancelled order 7."}])
GOOD = json.dumps([ASKED, {"role": "assistant", "content": "I did not cancel order 7."}])


def sessions(count):
    """`(key, session)`: every fifth one lies, and some are broken."""
    for at in range(count):
        text = LIE.replace("7", str(1000 + at)) if at % 5 == 0 else GOOD
        yield f"s-{at}", "{broken" if at % 97 == 96 else text


def rows_of(key, session, is_path=False, **options):
    return _fleet.rows_of(key, session, _fleet.checked(options), is_path=is_path)


def expected(count):
    rows = []
    for key, session in sessions(count):
        rows += rows_of(key, session, tools="[]", sessions=True)
    return sorted(rows, key=lambda row: row["key"])


def test_rows():
    lie, good, broken = (
        rows_of("k", session, tools="[]", sessions=True) for session in (LIE, GOOD, "{")
    )
    assert [row["kind"] for row in (*lie, *good, *broken)] == ["finding", "session", "problem"]
    assert set(lie[0]) == set(_fleet.columns()) == set(good[0]) == set(broken[0])
    assert (lie[0]["key"], lie[0]["rule"], lie[0]["session"]) == ("k", "FK010", "k")
    assert rows_of("k", GOOD) == []
    (large,) = rows_of("k", LIE, max_bytes=10)
    assert large["kind"] == "problem" and "larger than 10 bytes" in large["message"]
    # Before any worker begins.
    with pytest.raises(counterfoil.CounterfoilError, match="no rule"):
        rows_of("k", LIE, only=["nonsense"])
    with pytest.raises(TypeError, match="max_byte"):
        rows_of("k", LIE, max_byte=1)
    (gone,) = rows_of("k", "/nowhere.json", is_path=True)
    assert gone["kind"] == "problem"


def test_paths(tmp_path):
    place = tmp_path / "a.json"
    place.write_text(LIE)
    (row,) = rows_of("a", str(place), is_path=True, tools="[]")
    assert (row["rule"], row["path"]) == ("FK010", str(place))
    (there,) = counterfoil.check_file(place, "[]").findings
    assert row["fingerprint"] == there.fingerprint


@pytest.fixture(scope="module")
def spark():
    pyspark = pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    assert pyspark


def collected(frame):
    return sorted((row.asDict() for row in frame.collect()), key=lambda row: row["key"])


def test_spark(spark, tmp_path):
    from counterfoil.spark import check_paths, check_sessions, gather

    frame = spark.createDataFrame(list(sessions(200)), "id string, session string")
    frame.write.parquet(str(tmp_path / "in"))
    found = check_sessions(
        spark.read.parquet(str(tmp_path / "in")), key="id", tools="[]", sessions=True
    )
    found.write.parquet(str(tmp_path / "out"))
    assert collected(spark.read.parquet(str(tmp_path / "out"))) == expected(200)
    # Binary columns, and no key.
    encoded = frame.selectExpr("cast(session as binary) as session").limit(5)
    assert len(check_sessions(encoded, tools="[]").collect()) == 1
    place = tmp_path / "a.json"
    place.write_text(LIE)
    paths = spark.createDataFrame([(str(place),), ("/nowhere.json",)], "path string")
    kinds = sorted(row.kind for row in check_paths(paths, tools="[]").collect())
    assert kinds == ["finding", "problem"]
    # Messages that are spread over rows.
    said = [
        ("a", 2, json.dumps({"role": "assistant", "content": "I have cancelled order 7."})),
        ("b", 1, json.dumps({"role": "user", "content": "Cancel it."})),
        ("a", 1, json.dumps({"role": "user", "content": "Cancel order 7."})),
    ]
    messages = spark.createDataFrame(said, "id string, at int, message string")
    whole = gather(messages, key="id", message="message", order="at")
    (row,) = check_sessions(whole, key="id", tools="[]").collect()
    assert (row.key, row.turn, row.rule) == ("a", 1, "FK010")


def test_spark_streaming(spark, tmp_path):
    from counterfoil.spark import check_sessions

    (tmp_path / "in").mkdir()
    lines = [json.dumps({"id": key, "session": session}) for key, session in sessions(50)]
    (tmp_path / "in" / "a.json").write_text("\n".join(lines))
    stream = spark.readStream.schema("id string, session string").json(str(tmp_path / "in"))
    query = (
        check_sessions(stream, key="id", tools="[]", sessions=True)
        .writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(120)
    assert collected(spark.read.parquet(str(tmp_path / "out"))) == expected(50)


def test_ray(tmp_path):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    import pyarrow
    import pyarrow.parquet

    from counterfoil.ray import check_paths, check_sessions

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        # Sockets have short names.
        _temp_dir=str(pathlib.Path("/tmp") / f"cfray-{os.getpid()}"),
        log_to_driver=False,
        configure_logging=False,
    )
    try:
        table = pyarrow.Table.from_pylist([{"id": k, "session": s} for k, s in sessions(200)])
        pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
        data = ray.data.read_parquet(str(tmp_path / "in.parquet"))
        found = check_sessions(data, key="id", tools="[]", sessions=True)
        found.write_parquet(str(tmp_path / "out"))
        rows = pyarrow.parquet.read_table(tmp_path / "out").to_pylist()
        assert sorted(rows, key=lambda row: row["key"]) == expected(200)
        split = check_sessions(data, key="id", tools="[]", sessions=True, batch_size=50)
        assert sorted(split.take_all(), key=lambda row: row["key"]) == expected(200)
        place = tmp_path / "a.json"
        place.write_text(LIE)
        paths = ray.data.from_items([{"path": str(place)}, {"path": "/nowhere.json"}])
        kinds = [row["kind"] for row in check_paths(paths, tools="[]").take_all()]
        assert sorted(kinds) == ["finding", "problem"]
    finally:
        ray.shutdown()
        shutil.rmtree(f"/tmp/cfray-{os.getpid()}", ignore_errors=True)


def test_object_storage(tmp_path, monkeypatch):
    """The example, with a bucket on this machine."""
    pytest.importorskip("ray")
    moto = pytest.importorskip("moto.server")
    import pyarrow
    import pyarrow.fs
    import pyarrow.parquet

    example = pathlib.Path(__file__).parents[3] / "examples" / "fleet" / "object_storage.py"
    if not example.is_file():
        pytest.skip("the example is not beside this checkout")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        environment = {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_REGION": "us-east-1",
            "RAY_TMPDIR": f"/tmp/cfray-{os.getpid()}",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        bucket = pyarrow.fs.S3FileSystem(
            endpoint_override=environment["AWS_ENDPOINT_URL"],
            scheme="http",
            allow_bucket_creation=True,
        )
        bucket.create_dir("logs")
        # The example names no tools: each session does.
        table = pyarrow.Table.from_pylist(
            [{"id": k, "session": f'{{"messages": {s}, "tools": []}}'} for k, s in sessions(20)]
        )
        pyarrow.parquet.write_table(table, "logs/sessions/a.parquet", filesystem=bucket)
        done = subprocess.run(
            [sys.executable, str(example), "logs/sessions", "logs/findings"],
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, done.stderr
        rows = pyarrow.parquet.read_table("logs/findings", filesystem=bucket).to_pylist()
        assert sorted(row["key"] for row in rows) == ["s-0", "s-10", "s-15", "s-5"]
    finally:
        server.stop()
        shutil.rmtree(f"/tmp/cfray-{os.getpid()}", ignore_errors=True)
