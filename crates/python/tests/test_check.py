"""Sessions in memory and in files."""

import asyncio
import dataclasses
import json
import math
import pathlib
import subprocess
import sys

import pytest

import counterfoil
from counterfoil._plain import to_json

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
LIE = [
    {"role": "user", "content": "Cancel order 7."},
    {"role": "assistant", "content": "I have cancelled order 7."},
]
HONEST = [
    {"role": "user", "content": "Cancel order 7."},
    {
        "role": "assistant",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "cancel_order", "arguments": '{"id": 7}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": '{"id": 7, "status": "cancelled"}'},
    {"role": "assistant", "content": "I have cancelled order 7."},
]


def test_a_lie_and_the_truth():
    lie = counterfoil.check(LIE, tools=["cancel_order"])
    assert not lie.ok and not lie
    (finding,) = lie.errors
    assert (finding.rule, finding.severity, finding.verdict) == ("FK010", "error", "unsupported")
    assert finding.claim == "I have cancelled order 7." and finding.turn == 1
    assert (finding.span.start, finding.span.end) == (0, 25)
    assert counterfoil.check(HONEST, tools=["cancel_order"]).ok
    assert counterfoil.check(HONEST).claims[0].verdict == "supported"


def test_in_a_loop():
    report = asyncio.run(counterfoil.acheck(LIE, tools=[]))
    assert len(report) == 1 and [f.rule for f in report] == ["FK010"]


@pytest.mark.parametrize("form", [json.dumps(LIE), json.dumps(LIE).encode(), tuple(LIE)])
def test_text_bytes_and_sequences(form):
    assert not counterfoil.check(form, tools=[]).ok


def test_objects_of_frameworks():
    @dataclasses.dataclass
    class Message:
        role: str
        content: str

    class Model:
        def __init__(self, **members):
            self.members = members

        def model_dump(self, mode="python"):
            return self.members

    for made in (Message, Model):
        messages = [made(**message) for message in LIE]
        assert not counterfoil.check(messages, tools=[]).ok, made


def test_rules_are_chosen():
    check = counterfoil.check
    assert check(LIE, tools=[], ignore=["FK010"]).ok
    assert not check(LIE, tools=[], only=["phantom-completion"]).ok
    assert check(LIE, tools=[], only=["CS0*"]).ok
    warned = check(LIE, tools=[], modes={"FK010": "warn"})
    assert warned.ok and [f.severity for f in warned] == ["warning"]
    assert len(check(LIE, tools=[], modes={"FK010": "warn"}, severity="error")) == 0
    with pytest.raises(counterfoil.CounterfoilError, match="no rule `FK01O`") as raised:
        check(LIE, only=["FK01O"])
    assert "did you mean" in raised.value.help
    with pytest.raises(counterfoil.CounterfoilError, match="no mode"):
        check(LIE, modes={"FK010": "loud"})
    with pytest.raises(counterfoil.CounterfoilError, match="not a log format"):
        check(LIE, form="nonsense")
    assert {rule.code for rule in counterfoil.rules()} >= {"FK010", "FK014"}


def test_what_cannot_be_read_is_said():
    for nothing in ("", "no log", b"\x00\xff", [], {}, 7, None, [1, 2]):
        report = counterfoil.check(nothing)
        assert report.unreadable and not report.ok, nothing
        assert report.summary.problems, nothing


def test_assertions():
    counterfoil.assert_supported(HONEST, tools=["cancel_order"])
    with pytest.raises(AssertionError, match="FK010") as raised:
        counterfoil.assert_supported(LIE, tools=[])
    assert raised.value.report.errors
    counterfoil.assert_supported(LIE, tools=[], modes={"FK010": "warn"})
    with pytest.raises(counterfoil.Unsupported):
        counterfoil.assert_supported(LIE, tools=[], modes={"FK010": "warn"}, fail_on="warning")
    with pytest.raises(counterfoil.Unsupported):
        counterfoil.assert_supported("")


def test_tables():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    report = counterfoil.check(LIE, tools=[])
    frame, table = report.to_pandas(), report.to_arrow()
    assert isinstance(frame, pandas.DataFrame) and list(frame.rule) == ["FK010"]
    assert table.column_names == list(counterfoil.COLUMNS) == list(frame.columns)
    assert table.to_pylist()[0]["end"] == 25
    empty = counterfoil.check(HONEST)
    assert empty.to_arrow().schema == table.schema and len(empty.to_pandas()) == 0
    page = report._repr_html_()
    assert "FK010" in page and "I have cancelled order 7." in page
    hostile = [LIE[0], {"role": "assistant", "content": "I have cancelled <script>x</script> it."}]
    assert "<script>" not in counterfoil.check(hostile, tools=[])._repr_html_()


def test_the_command_line_says_the_same():
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not beside this checkout")
    files = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".json", ".jsonl"))
    assert len(files) > 5
    for path in files:
        here = counterfoil.check_file(path)
        there = counterfoil.check_files(path)
        assert here.json == there.json, path
        in_memory = counterfoil.check(path.read_bytes(), session=path.name.split(".")[0])
        assert [f.fingerprint for f in in_memory] == [f.fingerprint for f in there], path
    everything = counterfoil.check_files(EXAMPLES)
    assert everything.errors and everything.summary.transcripts >= len(files)


def test_files_that_are_not_there():
    assert counterfoil.check_file("/nowhere/log.json").unreadable
    report = counterfoil.check_files("/nowhere/log.json")
    assert report.unreadable and "file not found" in report.summary.problems[0]["message"]
    with pytest.raises(counterfoil.CounterfoilError, match="--nonsense"):
        counterfoil.check_files("/nowhere", arguments=["--nonsense"])
    with pytest.raises(TypeError, match="nonsense"):
        counterfoil.check_file("/nowhere", nonsense=1)


def test_python_dash_m():
    done = subprocess.run(
        [sys.executable, "-m", "counterfoil", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip().endswith(counterfoil.__version__)
    done = subprocess.run([sys.executable, "-m", "counterfoil", "--nonsense"], capture_output=True)
    assert done.returncode == 2


def test_anything_becomes_json():
    cycle = {"a": [1]}
    cycle["a"].append(cycle)
    deep = value = {}
    for _ in range(5000):
        value["x"] = {}
        value = value["x"]

    class Mine(dict):
        pass

    class Rude:
        def __repr__(self):
            raise RuntimeError("no")

        def __getattr__(self, name):
            raise AttributeError(name)

    for value, expected in [
        (cycle, {"a": [1, "<cycle>"]}),
        ({"x": math.nan, "y": [math.inf, 1.5]}, {"x": None, "y": [None, 1.5]}),
        ({"b": b"text", "c": b"\xff\xfe"}, {"b": "text", "c": {"base64": "//4="}}),
        ({1: 2, None: 3, (1, 2): 4}, {"1": 2, "None": 3, "[1, 2]": 4}),
        (Mine(a=Mine(b=1)), {"a": {"b": 1}}),
        ({3, 1, 2}, [1, 2, 3]),
        ("a\ud800b", "a?b"),
        (range(3), [0, 1, 2]),
    ]:
        got = json.loads(to_json(value))
        assert got == expected or set(map(str, got)) == set(map(str, expected)), value
    assert "<too deep>" in to_json(deep)
    assert "no repr" in to_json([Rude()])
    generator = (x for x in [1])
    assert "generator" in to_json(generator) and next(generator) == 1
    assert json.loads(to_json({"n": 10**40}))["n"] in (10**40, str(10**40))


def test_arrays_become_lists():
    numpy = pytest.importorskip("numpy")
    value = {"a": numpy.int64(3), "b": numpy.array([1.5, 2.5])}
    assert json.loads(to_json(value)) == {"a": 3, "b": [1.5, 2.5]}


def test_messages_that_are_no_plain_data_never_crash():
    cycle = [*LIE]
    cycle.append(cycle)
    for messages in (
        cycle,
        [{"role": "assistant", "content": math.nan}],
        [{"role": "assistant", "content": "x", "n": 10**50}],
        [{"role": "assistant", "content": b"\xff"}],
        [{"role": "assistant", "content": "\ud800 I have cancelled order 7."}],
    ):
        assert isinstance(counterfoil.check(messages, tools=[]), counterfoil.Report)
