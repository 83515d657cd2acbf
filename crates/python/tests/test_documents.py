"""What the documents print, with the names of this package. Where a document's code fails its own
tests, the case here says what it meant."""

import asyncio
import json
import re
import threading
import time

import pytest

import counterfoil
from counterfoil.execution_tracker import (
    clear_old_executions,
    configure,
    generate_execution_id,
    get_recent_executions,
    track_tool_execution,
    verify_execution,
    wrap_existing_tools,
)
from counterfoil.hallucinated_tool import detect_fk014, extract_tool_references
from counterfoil.response_validator import (
    extract_tool_claims,
    extract_tool_name_from_claim,
    handle_validation_failure,
    process_chatbot_response,
    validate_response,
)
from counterfoil.tool_fixation_detector import ToolFixationDetector, get_fixation_detector
from counterfoil.tool_validator import (
    ToolHallucinationDetector,
    ValidationSeverity,
    create_rejection_response,
)

PRINTED = re.compile(r"dummy_tool_\d{13}_[0-9a-f]{8}")


@track_tool_execution
def dummy_tool():
    """It works."""
    return {"result": "success"}


# Execution tracking.


def test_an_id_is_printed_as_the_document_prints_it():
    assert PRINTED.fullmatch(generate_execution_id("dummy_tool"))


def test_a_dictionary_comes_back_with_its_execution():
    result = dummy_tool()
    assert PRINTED.fullmatch(result["execution_id"])
    assert result["result"] == "success"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?", result["executed_at"])
    assert dummy_tool.__name__ == "dummy_tool" and dummy_tool.__doc__ == "It works."


@pytest.mark.parametrize("value", ["text", 7, None, [1, 2], (1,)])
def test_anything_else_comes_back_in_a_dictionary(value):
    @track_tool_execution
    def tool():
        return value

    result = tool()
    assert set(result) == {"execution_id", "tool_name", "result", "executed_at"}
    assert (result["tool_name"], result["result"]) == ("tool", value)


def test_what_a_tool_returned_stays_as_it_was():
    shared = {"a": 1}

    @track_tool_execution
    def tool():
        return shared

    assert "execution_id" in tool() and shared == {"a": 1}


def test_the_four_reasons():
    result = dummy_tool()
    id = result["execution_id"]
    found = verify_execution(id, "dummy_tool")
    assert found["valid"] and found["actual_result"] == {"result": "success"}
    assert found["execution"]["tool_name"] == "dummy_tool"

    @track_tool_execution
    def broken():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        broken()
    failed = get_recent_executions()[-1]["execution_id"]
    for given, tool, reason, message in [
        ("other_1735999999123_deadbeef", "other", "execution_id_not_found", "No execution found"),
        ("nonsense", "other", "execution_id_not_found", "No execution found with ID: nonsense"),
        (id, "other", "tool_name_mismatch", "was for tool dummy_tool, not other"),
        (failed, "broken", "execution_incomplete", "did not complete successfully"),
    ]:
        verified = verify_execution(given, tool)
        assert (verified["valid"], verified["reason"]) == (False, reason), given
        assert message in verified["message"]
    configure(window=0.05)
    id = dummy_tool()["execution_id"]
    time.sleep(0.15)
    assert verify_execution(id, "dummy_tool")["reason"] == "execution_expired"


def test_an_execution_of_another_program_is_none():
    id = dummy_tool()["execution_id"]
    configure()
    assert verify_execution(id, "dummy_tool")["reason"] == "execution_id_not_found"


def test_recent_executions_are_those_of_the_document():
    @track_tool_execution
    def add(a, b=2):
        return a + b

    for at in range(12):
        add(at, b=3)
    recent = get_recent_executions()
    assert len(recent) == 10 and len(get_recent_executions(3)) == 3
    last = recent[-1]
    assert (last["tool_name"], last["args"], last["kwargs"]) == ("add", (11,), {"b": 3})
    assert (last["completed"], last["result"], last["error"]) == (True, 14, None)
    assert 0 < last["duration"] < 10 and get_recent_executions(0) == []


def test_old_executions_are_let_go_and_their_receipts_stay():
    tracker = configure(window=0.05)
    id = dummy_tool()["execution_id"]
    time.sleep(0.1)
    clear_old_executions()
    assert get_recent_executions() == []
    assert tracker.guard.receipt(id)["status"] == "completed"


def test_coroutines_generators_methods_and_threads():
    class Shop:
        def __init__(self, name):
            self.name = name

        @track_tool_execution
        def look_up(self, order):
            return f"{self.name}:{order}"

        @staticmethod
        @track_tool_execution
        def fixed():
            return 1

    @track_tool_execution
    async def later(n):
        await asyncio.sleep(0)
        return n

    @track_tool_execution
    def items(n):
        yield from range(n)
        return "end"

    @track_tool_execution
    async def later_items(n):
        for at in range(n):
            yield at

    assert Shop("a").look_up("W1")["result"] == "a:W1"
    assert Shop.fixed()["result"] == 1
    assert asyncio.run(later(4))["result"] == 4
    assert list(items(3)) == [0, 1, 2]

    async def all_of():
        return [item async for item in later_items(2)]

    assert asyncio.run(all_of()) == [0, 1]
    threads = [threading.Thread(target=dummy_tool) for _ in range(20)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    tracker = counterfoil.execution_tracker.default_tracker()
    receipts = {r["tool"]: r for r in tracker.guard.recent(100)}
    assert set(receipts) == {"look_up", "fixed", "later", "items", "later_items", "dummy_tool"}
    assert receipts["look_up"]["arguments"] == {"order": "W1"}
    assert all(r["status"] == "completed" for r in receipts.values())
    assert len(tracker.guard.recent(100)) == 25


def test_a_generator_is_sent_to_and_thrown_at():
    @track_tool_execution
    def echo():
        heard = yield "begin"
        try:
            yield heard
        except ValueError as error:
            yield f"caught {error}"

    one = echo()
    assert (next(one), one.send("a"), one.throw(ValueError("b"))) == ("begin", "a", "caught b")
    assert list(one) == []
    assert get_recent_executions()[-1]["result"] == ["begin", "a", "caught b"]


def test_a_generator_that_is_left_is_cancelled():
    @track_tool_execution
    def items():
        yield 1
        yield 2

    one = items()
    assert next(one) == 1
    one.close()
    assert get_recent_executions()[-1]["completed"] is False
    tracker = counterfoil.execution_tracker.default_tracker()
    assert tracker.guard.recent(1)[0]["status"] == "cancelled"


def test_tools_are_wrapped_under_their_names():
    def first(x):
        return x

    tools = wrap_existing_tools({"first": first, "renamed": first})
    assert tools["first"](1)["tool_name"] == "first"
    assert tools["renamed"](2)["tool_name"] == "renamed"


# Validation of responses.


def test_hallucination_detection():
    fake_response = """
    Tool result: {
        'tool_name': 'run_speed_test',
        'download': 125,
        'upload': 73
    }
    The internet speed is good.
    """
    is_valid, issues = validate_response(fake_response)
    assert not is_valid
    assert "missing execution_id" in str(issues)


def test_valid_execution():
    # The document's own code refuses this: a result with its id in it names no tool.
    result = dummy_tool()
    valid_response = f"""
    Tool result: {json.dumps(result)}
    The tool completed successfully.
    """
    is_valid, issues = validate_response(valid_response)
    assert is_valid, issues
    assert len(issues) == 0


def test_the_format_of_the_system_prompt_passes():
    id = dummy_tool()["execution_id"]
    said = f"The tool returned (execution_id: {id}):\n- Latency: 15ms"
    assert extract_tool_claims(said) == ([], [id])
    assert validate_response(said) == (True, [])
    invented = "The tool returned (execution_id: check_internet_connection_1234567890_abcd)"
    assert validate_response(invented) == (
        False,
        ["Referenced execution_id check_internet_connection_1234567890_abcd not found"],
    )


def test_text_without_claims_is_valid():
    assert validate_response("Hello.") == (True, [])
    assert process_chatbot_response("Hello.") == "Hello."


def test_a_claim_of_another_tool_is_not_valid():
    id = dummy_tool()["execution_id"]
    claim = json.dumps({"tool_name": "run_speed_test", "execution_id": id})
    is_valid, issues = validate_response(claim)
    assert not is_valid and "was for tool dummy_tool, not run_speed_test" in issues[0]
    shown = process_chatbot_response(claim)
    assert shown == handle_validation_failure(issues) and "Technical details" in shown


@pytest.mark.parametrize(
    ("claim", "tool"),
    [
        ({"tool_name": "a"}, "a"),
        ({"command_executed": "ping(host)"}, "ping"),
        ({"function": "f"}, "f"),
        ({"tool": "t"}, "t"),
        ({"tool": 7}, None),
        ({}, None),
    ],
)
def test_the_tool_of_a_claim(claim, tool):
    assert extract_tool_name_from_claim(claim) == tool


# Validation of calls.


@pytest.fixture
def detector():
    detector = ToolHallucinationDetector()
    detector.register_tool(
        "read_file",
        {
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "encoding": {"type": "string"}},
                "required": ["path"],
            }
        },
    )
    return detector


@pytest.mark.parametrize(
    ("tool", "arguments", "valid", "code"),
    [
        ("read_file", {"path": "/tmp/file.txt"}, True, None),
        ("hallucinated_tool", {}, False, "UNKNOWN_TOOL"),
        ("read_file", {}, False, "MISSING_REQUIRED"),
        ("read_file", {"path": 123}, False, "WRONG_TYPE"),
        ("read_file", {"path": "/tmp/file.txt", "unknown": "value"}, True, "UNKNOWN_PARAM"),
        ("read_file", {"path": "<placeholder>"}, True, "PLACEHOLDER_VALUE"),
        ("read_file", {"path": "x" * 10_001}, True, "SUSPICIOUS_LENGTH"),
        ("read_file", '{"path": ', False, "MALFORMED_ARGUMENTS"),
    ],
)
def test_calls(detector, tool, arguments, valid, code):
    result = detector.validate_tool_call(tool, arguments)
    assert result.valid is valid
    codes = [issue.code for issue in result.issues]
    assert codes == ([code] if code else [])
    assert bool(result.blocking_issues) is not valid
    assert bool(result.warnings) is (valid and code is not None)


def test_an_issue_says_where_and_what(detector):
    (issue,) = detector.validate_tool_call("read_file", {"path": 123}).issues
    assert issue.severity is ValidationSeverity.BLOCK
    assert (issue.parameter, issue.expected, issue.actual) == ("path", "string", "123")
    report = detector.format_validation_report(detector.validate_tool_call("nope", {}))
    assert report.startswith("nope: BLOCKED\n  [UNKNOWN_TOOL] ")
    good = detector.validate_tool_call("read_file", {"path": "a"})
    assert detector.format_validation_report(good) == "read_file: valid"


def test_rejections_are_counted_through_registrations(detector):
    detector.validate_tool_call("unknown_tool", {}, model="m-1")
    detector.register_tools({"other": {"parameters": {"type": "object"}}})
    detector.validate_tool_call("read_file", {})
    detector.validate_tool_call("read_file", {"path": "a"})
    stats = detector.get_rejection_stats()
    assert stats["total"] == 2
    assert stats["by_reason"] == {"UNKNOWN_TOOL": 1, "MISSING_REQUIRED": 1}
    assert stats["by_tool"] == {"unknown_tool": 1, "read_file": 1}
    assert stats["by_model"] == {"m-1": 1, "unknown": 1}


def test_the_answer_to_a_rejected_call(detector):
    response = create_rejection_response(detector.validate_tool_call("unknown_tool", {}))
    assert response["role"] == "tool"
    assert "rejected" in response["content"].lower()
    assert "UNKNOWN_TOOL" in response["content"]


def test_corrections_that_lose_nothing():
    schema = {"parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    plain = ToolHallucinationDetector({"t": schema}).validate_tool_call("t", {"n": "42"})
    assert not plain.valid and plain.corrected_args is None
    mended = ToolHallucinationDetector({"t": schema}, coerce=True)
    assert mended.validate_tool_call("t", {"n": "42"}).corrected_args == {"n": 42}
    assert not mended.validate_tool_call("t", {"n": "many"}).valid


# Fixation.


def test_no_fixation_below_the_threshold():
    detector = ToolFixationDetector(threshold=5)
    assert [detector.record("execute_code") for _ in range(4)] == [None] * 4


def test_fixation_at_and_above_the_threshold():
    detector = ToolFixationDetector(threshold=3)
    nudges = [detector.record("execute_code") for _ in range(4)]
    assert nudges[:2] == [None, None]
    assert "execute_code" in nudges[2] and "3 times" in nudges[2]
    assert "4 times" in nudges[3]
    assert detector.nudges_sent == 2
    assert [e.streak_length for e in detector.events] == [3, 4]
    assert detector.events[0].tool_name == "execute_code"
    assert "execute_code" in detector.format_report()


def test_a_streak_ends_with_another_tool():
    detector = ToolFixationDetector(threshold=3)
    for tool in ("execute_code", "execute_code", "terminal"):
        detector.record(tool)
    assert (detector._streak_count, detector._current_streak) == (1, "terminal")
    detector.reset()
    info = detector.get_streak_info()
    assert (info["current_tool"], info["streak_count"], info["threshold"]) == ("", 0, 3)


def test_thresholds_of_the_environment(monkeypatch):
    monkeypatch.setenv("TOOL_FIXATION_THRESHOLD", "2")
    monkeypatch.setenv("TOOL_FIXATION_WINDOW", "nonsense")
    detector = ToolFixationDetector()
    assert (detector.threshold, detector.window) == (2, 10)
    assert get_fixation_detector() is get_fixation_detector()


# FK014.


@pytest.mark.parametrize(
    ("output", "registry", "invocations", "violation"),
    [
        ("I used the WebSearch tool to verify this information.", [], [], True),
        (
            "According to the DatabaseQuery tool, the balance is $5000.",
            [{"name": "DatabaseQuery", "available": True}],
            [],
            True,
        ),
        (
            "I used the WebSearch tool to verify this information.",
            [{"name": "WebSearch", "available": True}],
            [{"tool": "WebSearch", "timestamp": "2025-01-04T22:30:00Z"}],
            False,
        ),
        ("I can use the WebSearch tool if you enable it.", [], [], False),
        ("I used the WebSearch tool.", ["WebSearch"], ["WebSearch"], False),
        ("I checked with the FactChecker API.", [], [], True),
        ("The manual says to use the DatabaseQuery tool.", [], [], False),
    ],
)
def test_fk014(output, registry, invocations, violation):
    assert detect_fk014(output, registry, invocations) is violation


def test_references():
    said = "I used the WebSearch tool. According to the DatabaseQuery tool, the balance is $5000."
    assert extract_tool_references(said) == ["WebSearch", "DatabaseQuery"]
    assert extract_tool_references("I can use the WebSearch tool if you enable it.") == []
