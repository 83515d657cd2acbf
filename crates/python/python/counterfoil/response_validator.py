"""Holds the executions that an answer cites against those that there were.

What an answer says in its own words ("I have cancelled your order") is what `counterfoil.check` and
`Session.verify` are for; here it is about ids, and about results that are printed as data.
"""

from __future__ import annotations

import json
import logging
import re
from typing import Any, cast

from . import _counterfoil as native
from .execution_tracker import default_tracker

_log = logging.getLogger("counterfoil")


def extract_tool_claims(response: str) -> tuple[list[dict[str, Any]], list[str]]:
    """What an answer cites: objects (JSON or Python, at any depth) that name a tool or an execution,
    and execution ids, each once."""
    cited: dict[str, Any] = json.loads(native.executions_cited(response))
    named = cast("list[dict[str, Any]]", cited["objects"])
    ids = cast("list[str]", cited["ids"])
    stated = re.findall(
        r"""execution_id["']?\s*:\s*["']?([A-Za-z0-9_./:-]*[A-Za-z0-9_])""", response
    )
    return named, list(dict.fromkeys([*ids, *stated]))


def validate_response(response: str) -> tuple[bool, list[str]]:
    """Whether every execution that an answer cites is real: `(is_valid, issues)`."""
    claims, ids = extract_tool_claims(response)
    tracker = default_tracker()
    issues: list[str] = []
    for claim in claims:
        tool = extract_tool_name_from_claim(claim)
        id = claim.get("execution_id")
        if not isinstance(id, str) or not id:
            issues.append(f"Tool claim for {tool} missing execution_id")
        elif not tool:
            # A result that carries the id of its execution has no name of a tool in it.
            receipt = tracker.guard.receipt(id)
            if receipt is None:
                issues.append(f"Tool claim with execution_id {id} missing tool_name")
            else:
                _verify(id, receipt["tool"], issues)
        else:
            _verify(id, tool, issues)
    for id in ids:
        if not tracker.known(id):
            issues.append(f"Referenced execution_id {id} not found")
    return not issues, issues


def _verify(execution_id: str, tool: str, issues: list[str]) -> None:
    verified = default_tracker().verify(execution_id, tool)
    if not verified["valid"]:
        issues.append(f"Invalid execution: {verified['message']}")


def extract_tool_name_from_claim(claim: dict[str, Any]) -> str | None:
    """The tool that a claim names, by `tool_name`, `command_executed`, `function` or `tool`."""
    for field in ("tool_name", "command_executed", "function", "tool"):
        value = claim.get(field)
        if isinstance(value, str):
            call = re.match(r"(\w+)\(", value)
            return call.group(1) if call else value
    return None


def handle_validation_failure(issues: list[str]) -> str:
    """What to show in place of an answer whose executions are not real."""
    return (
        "The answer cited tool results that are not on record, so it is not shown.\n\n"
        f"Technical details: {'; '.join(issues)}"
    )


def process_chatbot_response(chatbot_response: str) -> str:
    """The answer, or what to show in its place. Failures go to the logger `counterfoil`."""
    is_valid, issues = validate_response(chatbot_response)
    if is_valid:
        return chatbot_response
    _log.warning("hallucination detected: %s", issues)
    return handle_validation_failure(issues)
