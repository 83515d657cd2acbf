"""FK014: tools that an answer names as used, and that do not exist or were never called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._check import check
from ._plain import to_json
from ._report import Report


def detect_fk014(
    output: str,
    tool_registry: Iterable[Any] = (),
    invocations: Iterable[Any] = (),
) -> bool:
    """Whether an answer names a tool as used that is not registered, not available, or was not
    called. `tool_registry` holds names or `{name, available?}`, `invocations` names or `{tool}`."""
    return bool(_judged(output, tool_registry, invocations).findings)


def extract_tool_references(output: str) -> list[str]:
    """The tools that an answer names as used, each once, in the order of the answer. Offers,
    conditions, negations and quotations name none."""
    found: dict[str, None] = {}
    for finding in _judged(output, (), ()).claims:
        for thing in finding.objects:
            if thing.get("kind") == "tool":
                found[str(thing["text"])] = None
    return list(found)


def _judged(output: str, registry: Iterable[Any], invocations: Iterable[Any]) -> Report:
    def named(one: Any, key: str) -> Mapping[str, Any]:
        return one if isinstance(one, Mapping) else {key: str(one)}

    tools: Sequence[Mapping[str, Any]] = [named(one, "name") for one in registry]
    calls: Sequence[Mapping[str, Any]] = [named(one, "tool") for one in invocations]
    fixture = {"output": output, "toolRegistry": tools, "invocations": calls}
    return check(to_json(fixture), session="output", only=["FK014"])
