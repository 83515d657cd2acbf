"""A judge reads answers: a function, a coroutine, the command line's."""

import asyncio
import json
import threading
import time

import pytest

import counterfoil
from counterfoil import _fleet

SESSION = [
    {"role": "user", "content": "What is the total of W7?"},
    {
        "role": "assistant",
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "get_order", "arguments": '{"id": "W7"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": '{"id": "W7", "total": 384}'},
    {"role": "assistant", "content": "I looked it up. The total is 529."},
]
FINDING = {
    "sentence": "S2",
    "verdict": "contradicted",
    "says": "total is 529",
    "record": "R1",
    "quote": '"total": 384',
    "confidence": 0.9,
}


def right(instructions, question):
    assert "JSON" in instructions and "S2: The total is 529." in question
    return {"findings": [FINDING]}


async def right_later(instructions, question):
    await asyncio.sleep(0)
    return json.dumps(right(instructions, question))


def the_finding(report):
    (finding,) = report.findings
    assert (finding.rule, finding.grade, finding.severity) == ("JUDGE", "read", "error")
    assert report.summary.judged["asked"] == 1 and not report.ok
    return finding


def test_a_function_reads_answers(tmp_path):
    assert counterfoil.check(SESSION).ok
    finding = the_finding(counterfoil.check(SESSION, judge=right))
    assert finding.judge["name"] == "right" and finding.judge["percent"] == 90
    assert finding.claim is not None and "529" in finding.claim
    place = tmp_path / "a.json"
    place.write_text(json.dumps(SESSION))
    the_finding(counterfoil.check_file(place, judge=right))
    # A higher threshold makes a note of it.
    (note,) = counterfoil.check(SESSION, judge=right, judge_threshold=0.95).findings
    assert note.severity == "note"


def test_a_coroutine_reads_answers_in_the_loop_that_asks():
    the_finding(counterfoil.check(SESSION, judge=right_later))
    loops = []

    async def in_loop(instructions, question):
        loops.append(asyncio.get_running_loop())
        return right(instructions, question)

    async def main():
        the_finding(await counterfoil.acheck(SESSION, judge=in_loop))
        assert loops == [asyncio.get_running_loop()]
        # A check that does not wait has no loop to ask in.
        the_finding(counterfoil.check(SESSION, judge=right_later))

    asyncio.run(main())


def test_what_a_judge_cannot_say_accuses_nobody():
    def away(instructions, question):
        raise OSError("it is away")

    for judge, why in [(away, "it is away"), (lambda *_: "all good", "no JSON object")]:
        report = counterfoil.check(SESSION, judge=judge)
        assert report.ok and not report.findings
        (reason,) = report.summary.judged["unjudged"]
        assert why in reason
    with pytest.raises(TypeError, match="a judge is a name"):
        counterfoil.check(SESSION, judge=3)
    with pytest.raises(counterfoil.CounterfoilError, match="from 0 to 1"):
        counterfoil.check(SESSION, judge=right, judge_threshold=7)
    with pytest.raises(counterfoil.CounterfoilError, match="rate"):
        counterfoil.check(SESSION, judge=right, judge_rate=0)


def test_a_guard_asks_where_the_rules_found_nothing():
    def get_order(order_id: str) -> dict:
        return {"id": order_id, "total": 384}

    asked = []

    def judge(instructions, question):
        asked.append(threading.get_ident())
        lies = "The total is 529." in question
        return {"findings": [{**FINDING, "sentence": "S1", "quote": '"total":384'}] if lies else []}

    guard = counterfoil.Guard(tools=[get_order], judge=judge)
    with guard.session() as session:
        session.hear("What is the total of W7?")
        session.call("get_order", {"order_id": "W7"})
        lie = session.verify("The total is 529.")
        assert lie.disposition == "block" and "529" in lie.feedback and lie.unjudged is None
        assert session.verify("The total is 384.").ok
    assert len(asked) == 2
    away = counterfoil.Guard(tools=[get_order], judge=lambda *_: "nonsense")
    with away.session() as session:
        said = session.verify("Hello, how can I help?")
        assert said.ok and "no JSON object" in said.unjudged


def test_a_name_is_a_judge_of_the_command_line(tmp_path, monkeypatch):
    config = tmp_path / "counterfoil" / "counterfoil.toml"
    config.parent.mkdir()
    reply = json.dumps({"findings": [FINDING]})
    script = f"grep -q 'S2: The total' && printf '%s' '{reply}'"
    config.write_text(f"[judge]\ncommand = {json.dumps(['sh', '-c', script])}\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    try:
        counterfoil.program()
    except counterfoil.CounterfoilError:
        pytest.skip("the program is not installed")
    finding = the_finding(counterfoil.check(SESSION, judge="auto"))
    assert finding.judge["name"] == "auto"
    unknown = counterfoil.check(SESSION, judge="nobody-of-that-name")
    (reason,) = unknown.summary.judged["unjudged"]
    assert "nobody-of-that-name" in reason


def test_a_fleet_asks_no_faster_than_wanted():
    wanted = _fleet.checked({"judge": right, "judge_rate": 20})
    began = time.monotonic()
    for _ in range(5):
        (row,) = _fleet.rows_of("k", json.dumps(SESSION), wanted)
        assert (row["rule"], row["grade"]) == ("JUDGE", "read")
    assert time.monotonic() - began >= 0.2
