"""DeepEval.

    from counterfoil.adapters.deepeval import SupportedMetric

    assert_test(LLMTestCase(input=…, actual_output=…, tools_called=[…]), [SupportedMetric()])

The score is 1 where nothing is found, else the share of checkable claims that the calls support.
"""

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from .._check import check
from .._plain import to_json
from .._report import Report, Severity


class SupportedMetric(BaseMetric):
    """Succeeds where nothing of `fail_on` and above is found and the score reaches `threshold`."""

    def __init__(self, threshold: float = 1.0, fail_on: Severity = "error") -> None:
        self.threshold = threshold
        self.fail_on: Severity = fail_on
        self.async_mode = False
        self.include_reason = True
        self.strict_mode = False
        self.evaluation_model = None
        self.report: Report | None = None

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        report = check(_messages(test_case), _tools(test_case), session=test_case.name or "case")
        wrong = report.at_least(self.fail_on)
        counts = report.summary.claims
        true = counts.get("supported", 0)
        false = counts.get("contradicted", 0) + counts.get("unsupported", 0)
        self.report = report
        self.score = true / (true + max(false, 1)) if wrong else 1.0
        self.reason = str(report)
        self.success = not wrong and not report.unreadable and self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return bool(self.success)

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return "Supported"


def _messages(case: LLMTestCase) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": case.input}]
    for at, call in enumerate(case.tools_called or []):
        function = {"name": call.name, "arguments": to_json(call.input_parameters or {})}
        asked = {"id": f"call_{at}", "type": "function", "function": function}
        messages.append({"role": "assistant", "tool_calls": [asked]})
        if call.output is not None:
            output = call.output if isinstance(call.output, str) else to_json(call.output)
            messages.append({"role": "tool", "tool_call_id": f"call_{at}", "content": output})
    messages.append({"role": "assistant", "content": case.actual_output or ""})
    return messages


def _tools(case: LLMTestCase) -> list[str] | None:
    """The tools that there were, as far as the case knows them."""
    named = [call.name for call in [*(case.tools_called or []), *(case.expected_tools or [])]]
    return named if case.tools_called is not None else None
