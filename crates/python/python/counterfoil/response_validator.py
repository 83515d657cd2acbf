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
from ._check import check
from ._plain import clean, to_json
from .execution_tracker import default_tracker

_STATED = re.compile(
    r"""execution_id["']?\s*:\s*["']?([A-Za-z0-9_./:-]*[A-Za-z0-9_])(?![A-Za-z0-9_])"""
)

_log = logging.getLogger("counterfoil")


def extract_tool_claims(response: str) -> tuple[list[dict[str, Any]], list[str]]:
    """What an answer cites: objects (JSON or Python, at any depth) with a `tool_name` or an
    `execution_id`, and execution ids, each once."""
    response = clean(response)
    cited: dict[str, Any] = json.loads(native.executions_cited(response))
    objects = cast("list[dict[str, Any]]", cited["objects"])
    named = [one for one in objects if "tool_name" in one or "execution_id" in one]
    ids = cast("list[str]", cited["ids"])
    stated = [id for id in _STATED.findall(response) if any(c.isdigit() for c in id)]
    return named, list(dict.fromkeys([*ids, *stated]))


def validate_response(response: str) -> tuple[bool, list[str]]:
    """Whether every execution that an answer cites is real: `(is_valid, issues)`.

    A result that is printed as data must be the recorded one, of an execution that completed within the
    window; it may leave out and shorten. An id in running text only has to exist: honest answers cite
    failures, too.
    """
    claims, ids = extract_tool_claims(response)
    tracker = default_tracker()
    issues: list[str] = []
    receipts: dict[str, dict[str, Any]] = {}
    for claim in claims:
        id = claim.get("execution_id")
        if not isinstance(id, str) or not id:
            tool = extract_tool_name_from_claim(claim)
            issues.append(f"Tool claim for {tool} missing execution_id")
            continue
        receipt = tracker.guard.receipt(clean(id)) if tracker.known(id) else None
        tool = _tool_of(claim, receipt)
        if tool is None:
            issues.append(f"Tool claim with execution_id {id} missing tool_name")
            continue
        verified = tracker.verify(id, tool)
        if not verified["valid"]:
            issues.append(f"Invalid execution: {verified['message']}")
        elif receipt is not None:
            receipts[id] = {**receipt, "result": verified["actual_result"]}
    for id in ids:
        if not tracker.known(id):
            issues.append(f"Referenced execution_id {id} not found")
    issues += _altered(response, receipts)
    return not issues, issues


def _tool_of(claim: dict[str, Any], receipt: dict[str, Any] | None) -> str | None:
    """The tool that a claim with an id is about: the receipt's, unless it names another as its own. A
    result may have members called `tool` or `function`, too."""
    if receipt is not None and not isinstance(claim.get("tool_name"), str):
        return cast("str", receipt["tool"])
    return extract_tool_name_from_claim(claim)


def _altered(response: str, receipts: dict[str, dict[str, Any]]) -> list[str]:
    """What an answer prints of results otherwise than they are on record."""
    if not receipts:
        return []
    messages: list[dict[str, Any]] = []
    for id, receipt in receipts.items():
        function = {"name": receipt["tool"], "arguments": to_json(receipt["arguments"])}
        call = {"id": id, "type": "function", "function": function}
        result = receipt["result"]
        text = result if isinstance(result, str) else to_json(result)
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": id, "content": text})
    messages.append({"role": "assistant", "content": response})
    known = [
        {
            "execution_id": id,
            "tool": one["tool"],
            "call_id": id,
            "status": "completed",
            "result": one["result"],
        }
        for id, one in receipts.items()
    ]
    report = check({"id": "cited", "messages": messages, "receipts": known}, only=["CS005"])
    return [f"Altered result: {finding.message}" for finding in report.errors]


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
