"""Inspect.

    from counterfoil.adapters.inspect import supported

    Task(dataset=…, solver=[use_tools(…), generate()], scorer=supported())

A sample is correct where nothing that the model said is contradicted by its calls, or lacks one.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ChatMessage
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Score,
    Scorer,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from .._check import acheck
from .._report import Severity


@scorer(metrics=[accuracy(), stderr()], name="counterfoil")
def supported(fail_on: Severity = "error") -> Scorer:
    """A scorer; `fail_on` is the severity from which a sample is incorrect. The findings stand in the
    score's metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        messages = [_message(message) for message in state.messages]
        report = await acheck(messages, session=str(state.sample_id))
        if report.unreadable:
            return Score(value=NOANSWER, explanation=str(report))
        wrong = report.at_least(fail_on)
        return Score(
            value=INCORRECT if wrong else CORRECT,
            explanation=str(report),
            metadata={"findings": report.rows(), "coverage": report.summary.coverage},
        )

    return score


def _message(message: ChatMessage) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": message.text}
    calls = getattr(message, "tool_calls", None)
    if calls:
        told["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": call.arguments},
            }
            for call in calls
        ]
    if message.role == "tool":
        told["tool_call_id"] = message.tool_call_id
        if message.error is not None:
            told["content"] = message.error.message
            told["is_error"] = True
    return told
