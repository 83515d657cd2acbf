"""LiteLLM.

    import litellm
    from counterfoil.adapters.litellm import CounterfoilLogger

    litellm.callbacks = [CounterfoilLogger(on_report=print)]

Every answer that is no call of a tool is held against the request that led to it. In LiteLLM's proxy
(`callbacks: counterfoil.adapters.litellm.blocking`) a false answer is replaced.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from .._check import acheck, check
from .._plain import to_json
from .._report import Report


class CounterfoilLogger(CustomLogger):
    """Holds answers against the messages of their request. `reports` has the latest 1,000.

    `on_report` hears each report that has a finding. `replace` is for LiteLLM's proxy: an answer with
    an error is replaced by what was found.
    """

    def __init__(
        self, on_report: Callable[[Report], None] | None = None, replace: bool = False
    ) -> None:
        super().__init__()
        self.reports: deque[Report] = deque(maxlen=1000)
        self.replace = replace
        self._on_report = on_report

    def log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        asked = _asked(kwargs, response_obj)
        if asked is not None:
            self._note(check(*asked))

    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        asked = _asked(kwargs, response_obj)
        if asked is not None:
            self._note(await acheck(*asked))

    async def async_post_call_success_hook(
        self, data: Any, user_api_key_dict: Any, response: Any
    ) -> Any:
        asked = _asked(data, response) if self.replace else None
        if asked is None:
            return response
        report = await acheck(*asked)
        last = len(asked[0]) - 1
        wrong = [finding for finding in report.errors if finding.turn == last]
        if wrong:
            told = "; ".join(finding.message for finding in wrong)
            response.choices[0].message.content = f"(not shown: {told})"
        return response

    def _note(self, report: Report) -> None:
        self.reports.append(report)
        if report.findings and self._on_report is not None:
            self._on_report(report)


# For the configuration of LiteLLM's proxy.
blocking = CounterfoilLogger(replace=True)


def _asked(kwargs: Any, response: Any) -> tuple[list[Any], str | None] | None:
    """The messages with the answer, and the tools; None where there is nothing to hold."""
    choices = getattr(response, "choices", None)
    message = getattr(choices[0], "message", None) if choices else None
    if message is None or getattr(message, "tool_calls", None) or not message.content:
        return None
    tools = (kwargs.get("optional_params") or {}).get("tools") or kwargs.get("tools")
    answer = {"role": "assistant", "content": message.content}
    messages = [*(kwargs.get("messages") or []), answer]
    return messages, None if tools is None else to_json(tools)
