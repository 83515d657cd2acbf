"""What somebody found who had never seen this package: each was wrong once."""

import asyncio
import contextvars
import dataclasses
import decimal
import enum
import functools
import json
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time
import typing
from concurrent.futures import ThreadPoolExecutor

import pytest

import counterfoil
from counterfoil import CounterfoilError, Guard, Refused, execution_tracker
from counterfoil.execution_tracker import configure, track_tool_execution, verify_execution
from counterfoil.response_validator import validate_response


class Color(enum.Enum):
    RED = "r"
    PAIR = (1, 2)


def wipe(n: int) -> str:
    return "wiped"


class Awaited:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return self.value


@pytest.mark.parametrize("answer", [False, "no", Awaited(False), 1, [], "yes"])
def test_nothing_but_true_agrees(answer):
    guard = Guard(approver=lambda question: answer)
    guarded = guard.guarded(wipe, asks="danger")
    with pytest.raises((Refused, TypeError)):
        guarded(1)
    assert [r["status"] for r in guard.recent()] == ["denied"]
    agreeing = Guard(approver=lambda question: Awaited(True))
    assert agreeing.guarded(wipe, asks="danger")(1) == "wiped"


def test_an_approver_that_breaks_agrees_to_nothing():
    def broken(question):
        raise ZeroDivisionError

    guard = Guard(approver=broken)
    with pytest.raises(ZeroDivisionError):
        guard.guarded(wipe, asks="danger")(1)
    assert [r["status"] for r in guard.recent()] == ["denied"]


def test_a_misspelt_option_is_no_option():
    with pytest.raises(TypeError, match="ask"):
        Guard().guarded(wipe, ask="danger")


def test_what_is_said_last_counts():
    # Once the same function was taken again, and the question was not.
    guard = Guard(approver=lambda question: False)
    assert guard.guarded(wipe)(1) == "wiped"
    with pytest.raises(Refused):
        guard.guarded(wipe, asks="danger")(1)


def test_methods_are_methods():
    guard = Guard()

    class Shop:
        @guard.guarded
        def name(self, n: int) -> str:
            return f"{type(self).__name__} {n}"

        @classmethod
        @guard.guarded
        def of(cls, n: int) -> str:
            return f"{cls.__name__} {n}"

        @guard.guarded
        @staticmethod
        def plain(n: int) -> int:
            return n

    assert (Shop().name(1), Shop.of(2), Shop.plain(3)) == ("Shop 1", "Shop 2", 3)
    assert [r["arguments"] for r in guard.recent()] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_the_function_gets_the_objects_of_the_caller():
    guard = Guard()

    @guard.guarded
    def same(value):
        return value

    for value in (
        pathlib.Path("/x"),
        decimal.Decimal("1.10"),
        b"\xff",
        {"a"},
        (1, 2),
        float("nan"),
        2**70,
        {1: 2},
        print,
    ):
        assert same(value) is value

    @guard.guarded
    def nested(value):
        return guard.current().call("same", {"value": value}).value

    assert nested(7) == 7


def test_arguments_of_every_kind():
    guard = Guard()

    @guard.guarded
    def many(*items):
        return items

    @guard.guarded
    def both(a, /, **more):
        return a, more

    assert many(1, 2, 3) == (1, 2, 3)
    assert both(1, a=5) == (1, {"a": 5})

    @track_tool_execution
    def tracked(a, /, *rest, **more):
        return [a, rest, more]

    tracked(1, 2, 3, d=1, a=2)
    (receipt,) = execution_tracker.default_tracker().guard.recent(1)
    assert receipt["arguments"] == {"a": 1, "rest": [2, 3], "d": 1, "a (by name)": 2}


class Rude:
    """It does not like to be looked at."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __iter__(self):
        raise RuntimeError("iterated")

    def __repr__(self):
        raise RuntimeError("shown")

    def isoformat(self):
        raise RuntimeError("asked")


class Endless:
    def __iter__(self):
        while True:
            yield 1


@pytest.mark.parametrize("at", range(6))
def test_what_cannot_be_written_down_changes_nothing(at):
    values = [Rude(), {Rude()}, 10**5000, Endless(), range(10**9), [Endless()]]
    value = values[at]

    @track_tool_execution
    def same(given):
        return given

    began = time.perf_counter()
    assert same(value)["result"] is value
    assert Guard().guarded(lambda_like)(value) is value
    assert isinstance(counterfoil.check([value]), counterfoil.Report)
    assert time.perf_counter() - began < 5
    assert execution_tracker.default_tracker().guard.recent(1)[0]["status"] == "completed"


def lambda_like(given):
    return given


def test_mocks_are_quick():
    from unittest.mock import MagicMock

    began = time.perf_counter()
    track_tool_execution(lambda_like)(MagicMock())
    assert time.perf_counter() - began < 1


def test_the_exception_is_the_tool_s_own():
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    @track_tool_execution
    def broken():
        raise Silent

    with pytest.raises(Silent):
        broken()
    assert execution_tracker.default_tracker().guard.recent(1)[0]["status"] == "failed"


def test_threads_and_sessions():
    guard = Guard()
    guarded = guard.guarded(wipe)
    with guard.session() as session, ThreadPoolExecutor(2) as pool:
        copied = contextvars.copy_context()
        pool.submit(copied.run, guarded, 1).result()
        assert len(session.receipts()) == 1
    for _ in range(20):
        guard = Guard()
        guarded = guard.guarded(wipe)
        barrier = threading.Barrier(4)

        def work(guarded=guarded, barrier=barrier):
            barrier.wait()
            guarded(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len(guard.current().receipts()) == 4


def test_printed_results_are_the_recorded_ones():
    @track_tool_execution
    def balance():
        return {"amount": 10}

    @track_tool_execution
    def item():
        return {"tool": "hammer", "function": "drive nails", "price": 3}

    good, other = balance(), item()
    for said, valid in [
        (good, True),
        ({**good, "tool_name": "balance"}, True),
        ({"execution_id": good["execution_id"], "tool_name": "balance"}, True),
        ({**good, "amount": 99999}, False),
        ({**good, "amount": 99999, "tool_name": "balance"}, False),
        (other, True),
        ({**other, "price": 4}, False),
        ({**good, "tool_name": "item"}, False),
    ]:
        assert validate_response(f"Tool result: {json.dumps(said)}")[0] is valid, said


@pytest.mark.parametrize(
    "text",
    [
        "Every result has an execution_id: a string.",
        'The map is {"function": "f(x)=x^2"}.',
        'Tools: {"type": "function", "function": {"name": "x"}}',
    ],
)
def test_ordinary_texts_cite_nothing(text):
    assert validate_response(text) == (True, [])


def test_old_executions_are_told_the_same():
    @track_tool_execution
    def give(n):
        return {"n": n}

    id = give(1)["execution_id"]
    for n in range(120):
        give(n)
    verified = verify_execution(id, "give")
    assert verified["actual_result"] == {"n": 1}
    assert (verified["execution"]["completed"], verified["execution"]["result"]) == (True, {"n": 1})


def test_another_process_finds_what_is_kept(tmp_path):
    program = (
        "import sys\n"
        "from counterfoil.execution_tracker import configure, track_tool_execution\n"
        "configure(state=sys.argv[1])\n"
        "def give(): return {'n': 1}\n"
        "print(track_tool_execution(give)()['execution_id'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    configure(state=tmp_path)
    assert verify_execution(done.stdout.strip(), "give")["actual_result"] == {"n": 1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_keeps_what_was_configured(tmp_path):
    configure(state=tmp_path)
    track_tool_execution(lambda_like)(1)
    child = os.fork()
    if child == 0:
        try:
            id = track_tool_execution(lambda_like)(2)["execution_id"]
            (tmp_path / "id").write_text(id)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    id = (tmp_path / "id").read_text()
    assert Guard(state=tmp_path).receipt(id)["arguments"] == {"given": 2}


def test_names_of_tools():
    guard = Guard()
    guard.guarded(wipe)
    # A cell of a notebook that is run again.
    assert guard.guarded(wipe)(1) == "wiped"
    with pytest.raises(CounterfoilError, match="there is a tool `wipe` already") as raised:
        guard.guarded(lambda_like, name="wipe")
    assert "name=" in raised.value.help
    with pytest.raises(CounterfoilError, match="has no name"):
        guard.tool(lambda: 1)
    with pytest.raises(CounterfoilError, match="not known"):
        guard.tool(int)


def test_objects_that_are_called():
    class Later:
        async def __call__(self, x: int) -> int:
            return x + 1

    async def main():
        guard = Guard()
        guarded = guard.guarded(Later(), name="later")
        tracked = track_tool_execution(Later())
        partial = track_tool_execution(functools.partial(lambda_like, 3))
        with pytest.raises(Refused, match="WRONG_TYPE"):
            await guarded("x")
        return await guarded(1), (await tracked(2))["result"], partial()["tool_name"]

    assert asyncio.run(main()) == (2, 3, "lambda_like")


def test_generators():
    async def echo():
        heard = yield "begin"
        try:
            yield heard
        except ValueError:
            yield "caught"

    async def main():
        tools = counterfoil.wrap_existing_tools({"echo": echo, "renamed": echo})
        one = tools["echo"]()
        said = [await one.__anext__(), await one.asend("a"), await one.athrow(ValueError())]
        return said, [item async for item in tools["renamed"]()]

    assert asyncio.run(main()) == (["begin", "a", "caught"], ["begin", None])
    with pytest.raises(CounterfoilError, match="generator"):
        Guard().guarded(echo)


def test_trust():
    guard = Guard()
    for word in ("trusted", "provisional", "untrusted"):
        guard.session(trust=word)


@dataclasses.dataclass
class Point:
    x: int
    y: int = dataclasses.field(init=False, default=0)
    kind: typing.ClassVar[str] = "p"


def test_schemas_and_what_they_make():
    guard = Guard()
    seen = {}

    def one():
        @dataclasses.dataclass
        class Same:
            name: str

        return Same

    def two():
        @dataclasses.dataclass
        class Same:
            price: int

        return Same

    first, second = one(), two()

    @guard.tool
    def take(
        points: dict[str, Point],
        pair: Color,
        which: typing.Literal[Color.RED],
        either: Color | int,
        a: first,
        b: second,
    ) -> None:
        seen.update(points=points, pair=pair, which=which, either=either, a=a, b=b)

    answer = guard.session().call(
        "take",
        {
            "points": {"p": {"x": 1}},
            "pair": [1, 2],
            "which": "r",
            "either": 5,
            "a": {"name": "x"},
            "b": {"price": 3},
        },
    )
    assert answer.ok, answer.text
    assert seen == {
        "points": {"p": Point(1)},
        "pair": Color.PAIR,
        "which": Color.RED,
        "either": 5,
        "a": first("x"),
        "b": second(3),
    }
    schema = json.dumps(counterfoil.definition(take))
    assert '"kind"' not in schema and '"y"' not in schema


def test_half_a_surrogate_pair_is_no_error():
    guard = Guard()
    session = guard.session()
    session.hear("\ud800")
    session.verify("\ud800 ok")
    assert session.call("x", '{"a":"\ud800"}').status == "refused"
    assert not verify_execution("\ud800", "x")["valid"]
    validate_response("\ud800")
    assert not counterfoil.ToolHallucinationDetector({}).validate_tool_call("\ud800", {}).valid


def test_errors_cross_processes():
    for error in (
        Refused(None, "m"),
        counterfoil.Unsupported(None, "n"),
        CounterfoilError("a", "b"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))


def test_dictionaries_that_let_nobody_in():
    class Frozen(dict):
        def __setitem__(self, key, value):
            raise TypeError("frozen")

    result = track_tool_execution(lambda_like)(Frozen(a=1))
    assert result["result"] == {"a": 1} and result["tool_name"] == "lambda_like"


def test_messages_say_what_is_wrong():
    said = [{"role": "assistant", "content": "I have cancelled order 7.", "n": float("nan")}]
    assert not counterfoil.check(json.dumps(said)).unreadable
    assert counterfoil.check(said, only="FK010").summary.transcripts == 1
    for wrong in ({"severity": "fatal"}, {"execution_window": -1}):
        with pytest.raises(CounterfoilError):
            counterfoil.check(said, **wrong)
    with pytest.raises(ValueError, match="numbers of calls"):
        counterfoil.ToolFixationDetector(threshold=-1)
