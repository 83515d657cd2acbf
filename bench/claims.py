"""Who says of which session that its answer tells what is not so."""

import json
import subprocess
import time
from pathlib import Path


def counterfoil(program, place, sessions):
    """`error`, `warning` or nothing of each session, and the seconds it took."""
    log = Path(place) / "sessions.jsonl"
    with log.open("w") as out:
        for number, session in enumerate(sessions):
            out.write(json.dumps(session.as_chat() | {"id": str(number)}) + "\n")
    command = [program, "check", str(log), "--format", "jsonl"]
    command += ["--no-config", "--fail-on", "never"]
    begun = time.perf_counter()
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begun
    said = [None] * len(sessions)
    for line in ran.stdout.splitlines():
        finding = json.loads(line)
        if finding["type"] != "finding":
            continue
        number = int(finding["transcript"]["id"])
        of_answer = finding["turn"] == len(sessions[number].as_chat()["messages"]) - 1
        if of_answer and said[number] != "error":
            said[number] = "error" if finding["severity"] == "error" else "warning"
    return said, seconds


def claimcheck(sessions):
    """The same of agent-claimcheck's detector that needs no model (`cascade-offline`)."""
    from agent_claimcheck.checker import Checker
    from agent_claimcheck.schema import Trace

    checker = Checker(detector="cascade-offline")
    traces = [Trace.model_validate(_trace(number, session)) for number, session in enumerate(sessions)]
    begun = time.perf_counter()
    said = []
    for trace in traces:
        (result,) = checker.check([trace])
        verdict = result.verdict
        said.append({"false_success": "error", "unverifiable": "warning"}.get(verdict))
    return said, time.perf_counter() - begun


def _trace(number, session):
    steps, names = [], []
    for at, step in enumerate(session.steps[:-1]):
        row = dict.fromkeys(("name", "args", "ok", "output", "error", "content"))
        row |= {"i": at, "ts": f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z"}
        if step.kind == "call":
            names.append(step.tool)
            row |= {"kind": "tool_call", "role": "agent", "name": step.tool, "args": step.arguments}
        elif step.kind in ("ok", "fail"):
            name = names.pop(0) if names else "unknown"
            row |= {"kind": "tool_result", "role": "tool", "name": name, "ok": step.kind == "ok"}
            row["output"] = _json(step.text)
            if step.kind == "fail":
                row["error"] = step.text
        else:
            role = {"assistant": "agent", "system": "environment"}.get(step.kind, "user")
            row |= {"kind": "message", "role": role, "content": step.text}
        steps.append(row)
    asked = next((step.text for step in session.steps if step.kind == "user"), "")
    return {
        "schema": "agent-trace/v1",
        "trace_id": f"session-{number}",
        "source": "bench",
        "task": {"id": f"task-{number}", "domain": _domain(session), "instruction": asked},
        "steps": steps,
        "final_claim": {"text": session.steps[-1].text, "claims": []},
        "ground_truth": {"outcome": "unknown", "checked_by": "none"},
    }


def _domain(session):
    """The domain that the trace itself names, as somebody who uses the program would set it."""
    name = session.name.partition("-")[0]
    return name if name in ("booking", "crm", "coding") else "other"


def _json(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def failed_last(sessions):
    """A baseline: an answer after a call that failed, and was not made again, is suspected."""
    said = []
    begun = time.perf_counter()
    for session in sessions:
        results = [step.kind for step in session.steps if step.kind in ("ok", "fail")]
        said.append("error" if results and results[-1] == "fail" else None)
    return said, time.perf_counter() - begun
