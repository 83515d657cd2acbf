"""The guard: calls, answers, approvals, receipts, and what must not break it."""

import asyncio
import contextvars
import enum
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

import counterfoil
from counterfoil import CounterfoilError, Guard, Refused


def order_guard(**how):
    guard = Guard(**how)

    @guard.tool
    def get_order(order_id: str) -> dict:
        """Looks an order up."""
        return {"id": order_id, "status": "pending"}

    @guard.tool
    def cancel_order(order_id: str) -> dict:
        if order_id == "W9":
            raise KeyError("no such order")
        return {"id": order_id, "status": "cancelled"}

    return guard


def test_calls_and_answers():
    guard = order_guard()
    with guard.session("s-1", model="m-1") as session:
        session.hear("Cancel W1.")
        lie = session.verify("I have cancelled order W1.")
        assert (lie.disposition, lie.ok) == ("block", False)
        assert lie.findings[0].rule == "FK010" and "does not show" in lie.feedback
        answer = session.call("cancel_order", '{"order_id": "W1"}', call_id="c1")
        assert answer.ok and answer.structured == {"id": "W1", "status": "cancelled"}
        assert answer.value == {"id": "W1", "status": "cancelled"}
        said = session.verify("I have cancelled order W1.")
        assert said.disposition == "pass" and said.claims[0].verdict == "supported"
    receipt = guard.receipt(answer.execution_id)
    assert (receipt["tool"], receipt["call_id"], receipt["model"]) == ("cancel_order", "c1", "m-1")
    assert guard.receipt("nothing_1735999999123_deadbeef") is None
    other = guard.session()
    other.hear("Cancel W1.")
    assert not other.verify("I have cancelled order W1.")
    assert [f.rule for f in other.check()] == ["FK010"] and session.check().ok


def test_what_is_wrong_with_a_call_is_an_answer():
    session = order_guard().session()
    unknown = session.call("get_ordre", {"order_id": "W1"})
    assert (unknown.status, unknown.codes) == ("refused", ("UNKNOWN_TOOL",))
    wrong = session.call("get_order", {"order_id": 7})
    assert wrong.codes == ("WRONG_TYPE",) and "rejected" in wrong.text
    failed = session.call("cancel_order", {"order_id": "W9"})
    assert (failed.status, failed.value) == ("failed", None)
    assert isinstance(failed.error, KeyError) and "KeyError" in failed.text
    assert [r["status"] for r in session.receipts()] == ["refused", "refused", "failed"]


def test_guarded_functions_return_and_raise_what_they_would():
    guard = Guard()

    @guard.guarded
    def halve(n: int) -> int:
        """Halves."""
        if n % 2:
            raise ValueError(f"{n} is odd")
        return n // 2

    with guard.session() as session:
        assert halve(4) == 2 and halve(n=6) == 3
        with pytest.raises(ValueError, match="3 is odd"):
            halve(3)
        with pytest.raises(Refused, match="WRONG_TYPE") as refused:
            halve("4")
        assert refused.value.answer.status == "refused"
    assert [r["status"] for r in session.receipts()] == [
        "completed",
        "completed",
        "failed",
        "refused",
    ]
    assert halve.__name__ == "halve" and halve.__doc__ == "Halves."


def test_guarded_coroutines():
    guard = Guard()

    @guard.guarded
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return 2 * n

    @guard.tool
    def plain(n: int) -> int:
        return n

    async def main():
        async with guard.session() as session:
            doubled = await asyncio.gather(*(double(n) for n in range(20)))
            answer = await session.acall("plain", {"n": 3})
            said = await session.averify("It is 3.")
            return doubled, answer.value, said.ok, len(session.receipts())

    assert asyncio.run(main()) == ([2 * n for n in range(20)], 3, True, 21)
    # Without a loop, a coroutine runs in one of its own.
    assert guard.session().call("double", {"n": 2}).value == 4

    async def within():
        with pytest.raises(CounterfoilError, match="await `acall` instead"):
            guard.session().call("double", {"n": 2})

    asyncio.run(within())


def test_a_cancelled_task_leaves_a_receipt():
    guard = Guard()

    @guard.tool
    async def slow() -> None:
        await asyncio.sleep(60)

    async def main():
        session = guard.session()
        task = asyncio.create_task(session.acall("slow"))
        while not session.receipts():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(200):
            if session.receipts()[0]["status"] != "open":
                break
            await asyncio.sleep(0.01)
        return session.receipts()[0]["status"]

    assert asyncio.run(main()) == "cancelled"


def test_an_interrupt_goes_on_to_the_caller_and_leaves_a_receipt():
    guard = Guard()

    @guard.tool
    def stop() -> None:
        raise KeyboardInterrupt

    session = guard.session()
    with pytest.raises(KeyboardInterrupt):
        session.call("stop")
    for _ in range(200):
        if session.receipts()[0]["status"] != "open":
            break
        time.sleep(0.01)
    assert session.receipts()[0]["status"] == "cancelled"


def test_somebody_is_asked():
    asked = []

    def approver(question):
        asked.append(question)
        return {"W1": True, "W2": "it is shipped", "W3": None}[question.arguments["order_id"]]

    guard = Guard(approver=approver)

    @guard.tool(asks="it cannot be undone", writes=True)
    def cancel_order(order_id: str) -> str:
        return f"cancelled {order_id}"

    session = guard.session()
    agreed = session.call("cancel_order", {"order_id": "W1"}, call_id="c1")
    assert (agreed.status, agreed.text) == ("completed", "cancelled W1")
    assert asked[0].why == ("it cannot be undone",) and asked[0].call_id == "c1"
    declined = session.call("cancel_order", {"order_id": "W2"})
    assert declined.status == "denied" and "it is shipped" in declined.text
    nobody = session.call("cancel_order", {"order_id": "W3"})
    assert nobody.status == "denied" and nobody.questions

    async def later(question):
        return True

    guard = Guard(approver=later)
    guard.tool(asks="x")(plain_tool)
    assert asyncio.run(guard.session().acall("plain_tool")).ok
    assert guard.session().call("plain_tool").ok
    # Without an approver nobody agrees.
    guard = Guard()
    guard.tool(asks="x")(plain_tool)
    assert guard.session().call("plain_tool").status == "denied"


def plain_tool() -> str:
    return "done"


def test_policy_is_that_of_the_configuration():
    rules = [{"effect": "deny", "tool": "cancel_*"}]
    guard = order_guard(config={"tools": {"policy": {"enabled": True, "rules": rules}}})
    session = guard.session()
    denied = session.call("cancel_order", {"order_id": "W1"})
    assert denied.status == "denied"
    limited = order_guard(config={"tools": {"max_tool_calls_per_session": 1}}).session()
    assert limited.call("get_order", {"order_id": "W1"}).ok
    assert "quota_blocked" in limited.call("get_order", {"order_id": "W2"}).codes
    with pytest.raises(CounterfoilError, match="unknown field `toolz`"):
        Guard(config={"toolz": {}})


def test_built_in_tools(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    guard = Guard(builtin=["file"], workspace=tmp_path)
    answer = guard.session().call("read_file", {"path": "a.txt"})
    assert answer.ok and "hello" in answer.text
    assert "read_file" in {tool["name"] for tool in guard.tools}
    with pytest.raises(CounterfoilError, match="not one of shell, file, web"):
        Guard(builtin=["shelf"])


def test_a_shell_is_confined(tmp_path):
    guard = Guard(builtin=["shell"], workspace=tmp_path)
    answer = guard.session().call("shell", {"command": "echo hello"})
    assert answer.ok and "hello" in answer.text and answer.exit_code == 0


def test_receipts_are_kept_in_a_folder(tmp_path):
    session = order_guard(state=tmp_path / "state").session("kept")
    id = session.call("get_order", {"order_id": "W1"}).execution_id
    session.end()
    done = subprocess.run(
        [counterfoil.program(), "audit", "verify", "--state", tmp_path / "state"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    del session
    again = Guard(state=tmp_path / "state")
    assert again.receipt(id)["session_id"] == "kept"


def test_the_program_executes_itself():
    session = Guard().session()
    with session.track("deploy", {"to": "staging"}) as execution:
        execution.complete({"version": 7})
    with pytest.raises(RuntimeError), session.track("deploy"):
        raise RuntimeError("no")
    with session.track("deploy"):
        pass
    assert [r["status"] for r in session.receipts()] == ["completed", "failed", "cancelled"]
    with pytest.raises(CounterfoilError, match="has ended already"):
        execution.complete(1)


def test_schemas_come_from_hints():
    class Size(enum.Enum):
        SMALL = "s"
        LARGE = "l"

    @dataclass
    class Address:
        city: str
        zip: str = ""

    def book(
        room: str,
        nights: Annotated[int, "how many"],
        size: Size,
        address: Address,
        tags: list[str] | None = None,
        kind: Literal["a", "b"] = "a",
        **more,
    ):
        """Books a room.

        And more.
        """

    told = counterfoil.definition(book)
    schema = told["parameters"]
    assert (told["name"], told["description"]) == ("book", "Books a room.")
    assert schema["required"] == ["room", "nights", "size", "address"]
    assert schema["properties"]["nights"] == {"type": "integer", "description": "how many"}
    assert "additionalProperties" not in schema
    guard = Guard()
    seen = {}

    @guard.tool
    def pack(size: Size, address: Address, tags: list[str] | None = None) -> str:
        seen.update(size=size, address=address, tags=tags)
        return "packed"

    session = guard.session()
    address = {"city": "Ulm"}
    assert session.call("pack", {"size": "s", "address": address, "tags": ["x"]}).ok
    assert seen == {"size": Size.SMALL, "address": Address("Ulm"), "tags": ["x"]}
    assert not session.call("pack", {"size": "xl", "address": address}).ok
    assert not session.call("pack", {"size": "s", "address": {}}).ok


def test_models_of_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Order(pydantic.BaseModel):
        id: str
        amount: float = 0

    guard = Guard()

    @guard.tool
    def place(order: Order) -> Order:
        assert isinstance(order, Order)
        return order

    session = guard.session()
    answer = session.call("place", {"order": {"id": "W1", "amount": 2.5}})
    assert answer.structured == {"id": "W1", "amount": 2.5}
    assert session.call("place", {"order": {"amount": 1}}).status == "refused"


def test_parameters_by_place_and_more():
    guard = Guard()

    @guard.guarded
    def add(a: int, /, b: int, *, c: int = 0) -> int:
        return a + b + c

    assert add(1, 2, c=3) == 6

    @guard.guarded
    def name(**parts: str) -> str:
        return " ".join(parts.values())

    assert name(first="A", last="B") == "A B"


def test_context_and_threads():
    guard = Guard()
    who = contextvars.ContextVar("who")

    @guard.tool
    def asked() -> str:
        return f"{who.get()} {threading.get_ident()}"

    who.set("me")
    session = guard.session()
    assert session.call("asked").text == f"me {threading.get_ident()}"

    results = []

    def work(at):
        who.set(str(at))
        results.append(session.call("asked").text.split()[0] == str(at))

    threads = [threading.Thread(target=work, args=(at,)) for at in range(30)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [True] * 30 and len(session.receipts()) == 31


def test_two_calls_of_one_id():
    guard = Guard()
    session = guard.session()

    @guard.tool
    def outer() -> str:
        with pytest.raises(CounterfoilError, match="is already running in this session"):
            session.call("inner", call_id="c1")
        return session.call("inner", call_id="c2").text

    @guard.tool
    def inner() -> str:
        return "inner"

    assert session.call("outer", call_id="c1").text == "inner"
    assert session.call("inner", call_id="c1").ok


def test_odd_results():
    guard = Guard()
    results = [float("nan"), b"\xff", {1: {2}}, None, "\ud800", object(), 10**40]
    cycle = []
    cycle.append(cycle)
    results.append(cycle)

    @guard.tool
    def give(at: int):
        return results[at]

    session = guard.session()
    for at, value in enumerate(results):
        answer = session.call("give", {"at": at})
        assert answer.ok and answer.value is value

    class Rude(Exception):
        def __str__(self):
            raise RuntimeError("no")

    @guard.tool
    def rude():
        raise Rude

    assert isinstance(session.call("rude").error, Rude)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_refused_and_can_make_its_own():
    guard = order_guard()
    session = guard.session()
    session.call("get_order", {"order_id": "W1"})
    counterfoil.track_tool_execution(plain_tool)()
    pipe = multiprocessing.get_context("fork").Pipe()

    def child(out):
        try:
            session.call("get_order", {"order_id": "W2"})
            out.send("it went on")
            return
        except CounterfoilError as error:
            refused = str(error)
        own = order_guard().session().call("get_order", {"order_id": "W3"})
        tracked = counterfoil.track_tool_execution(plain_tool)()
        out.send((refused, own.ok, tracked["tool_name"]))

    process = multiprocessing.get_context("fork").Process(target=child, args=(pipe[1],))
    process.start()
    assert pipe[0].poll(30)
    refused, ok, tool = pipe[0].recv()
    process.join(30)
    assert process.exitcode == 0
    assert "before the fork" in refused and ok and tool == "plain_tool"
    assert session.call("get_order", {"order_id": "W4"}).ok


def script(text):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=60
    )


def test_an_interpreter_that_shuts_down_hangs_nowhere(tmp_path):
    done = script(f"""
        import counterfoil, threading
        guard = counterfoil.Guard(state={str(tmp_path / "s")!r})
        @guard.tool
        def wait() -> None:
            threading.Event().wait(60)
        session = guard.session("s")
        threading.Thread(target=lambda: session.call("wait"), daemon=True).start()
        while not session.receipts():
            pass
        print("end")
    """)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
    assert Guard(state=tmp_path / "s").recent()[0]["status"] in ("open", "cancelled")


def test_subinterpreters_are_refused():
    done = script("""
        import _xxsubinterpreters as sub
        import counterfoil
        id = sub.create()
        try:
            sub.run_string(id, "import counterfoil")
            print("imported")
        except Exception as error:
            print("refused", "interpreter" in str(error))
    """)
    if "No module named '_xxsubinterpreters'" in done.stderr:
        pytest.skip("this Python has no subinterpreters to try")
    assert done.stdout == "refused True\n", done.stdout + done.stderr


def test_the_program_of_the_tracking_document():
    done = script("""
        import json
        from counterfoil.execution_tracker import track_tool_execution
        from counterfoil.response_validator import validate_response, handle_validation_failure

        @track_tool_execution
        def check_internet_connection():
            \"\"\"Check internet connectivity with execution tracking.\"\"\"
            return {"status": "connected", "latency": 15}

        def process_chatbot_response(chatbot_response: str) -> str:
            is_valid, issues = validate_response(chatbot_response)
            if not is_valid:
                print(f"[VALIDATION] Hallucination detected: {issues}")
                return handle_validation_failure(issues)
            return chatbot_response

        result = check_internet_connection()
        print(process_chatbot_response(f"Tool result: {json.dumps(result)}") [:12])
        fake = {"tool_name": "run_speed_test", "download": 125}
        print(process_chatbot_response(f"Tool result: {fake}").splitlines()[-1])
    """)
    assert done.stdout.splitlines() == [
        "Tool result:",
        "[VALIDATION] Hallucination detected: ['Tool claim for run_speed_test missing execution_id']",
        "Technical details: Tool claim for run_speed_test missing execution_id",
    ], done.stderr


@pytest.mark.parametrize(
    ("number", "other"),
    [
        (1234567890123456789, 1234567890123456700),
        (2**256 - 1, 2**256 - 2),
        (-(2**63) - 1, -(2**63)),
    ],
)
def test_numbers_keep_every_digit(number, other):
    asked, ran = [], []

    def approver(question):
        asked.append(question.arguments)
        return True

    guard = Guard(approver=approver)

    @guard.tool(asks="it is money")
    def pay(account: int) -> str:
        ran.append(account)
        return "paid"

    with guard.session() as session:
        for account in (number, other):
            answer = session.call("pay", f'{{"account": {account}}}')
            assert answer.ok, answer.text
            assert guard.receipt(answer.execution_id)["arguments"] == {"account": account}
        with session.track("pay", {"account": number}) as execution:
            execution.complete("paid")
        assert guard.receipt(execution.execution_id)["arguments"] == {"account": number}
    assert ran == [number, other]
    assert asked == [{"account": number}, {"account": other}]
