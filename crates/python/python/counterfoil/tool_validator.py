"""Holds tool calls against the tools that there are, before anybody runs them."""

from __future__ import annotations

import enum
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _counterfoil as native
from ._plain import clean, to_json


class ValidationSeverity(enum.Enum):
    """What an issue leads to."""

    BLOCK = "block"
    WARN = "warn"
    INFO = "info"


@dataclass
class ValidationIssue:
    """One thing that is wrong with a call. `code` is stable; `parameter` is a name, or a JSON Pointer
    without its first slash where it lies deeper."""

    severity: ValidationSeverity
    code: str
    message: str
    tool_name: str
    parameter: str | None = None
    expected: str | None = None
    actual: Any | None = None


@dataclass
class ValidationResult:
    """What a call is worth. `corrected_args` are what to run instead, where corrections that lose
    nothing were asked for. `answer` is what to tell the model."""

    valid: bool
    tool_name: str
    issues: list[ValidationIssue] = field(default_factory=list[ValidationIssue])
    corrected_args: dict[str, Any] | None = None
    answer: str = field(default="", repr=False)

    @property
    def blocking_issues(self) -> list[ValidationIssue]:
        return [one for one in self.issues if one.severity is ValidationSeverity.BLOCK]

    @property
    def warnings(self) -> list[ValidationIssue]:
        return [one for one in self.issues if one.severity is ValidationSeverity.WARN]


class ToolHallucinationDetector:
    """Validates calls against registered tools.

    `tool_registry` is schema by name: `{"parameters": JSON Schema}`, or the whole definition as
    OpenAI, Anthropic or MCP have it. With `coerce`, corrections that lose nothing are applied ("42" for
    42) and given as `corrected_args`. `options` are those of `[tools.admission]`.

    Raises `CounterfoilError` at the first call where a definition cannot be read.
    """

    def __init__(
        self,
        tool_registry: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        coerce: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.registry: dict[str, Mapping[str, Any]] = dict(tool_registry or {})
        self._options = to_json({**(options or {}), **({"coerce": True} if coerce else {})})
        self._compiled: tuple[str, native.Admission] | None = None
        self._lock = threading.Lock()
        self._before: list[dict[str, Any]] = []

    def register_tool(self, name: str, schema: Mapping[str, Any]) -> None:
        """Registers a tool."""
        with self._lock:
            self.registry[name] = schema
            self._changed()

    def register_tools(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        """Registers several tools."""
        with self._lock:
            self.registry.update(tools)
            self._changed()

    def validate_tool_call(
        self, tool_name: str, arguments: Mapping[str, Any] | str, model: str = "unknown"
    ) -> ValidationResult:
        """What is wrong with a call. `arguments` is an object, or the text that the model wrote."""
        text = clean(arguments) if isinstance(arguments, str) else to_json(arguments)
        tool_name = clean(tool_name)
        report: dict[str, Any] = json.loads(
            self._admission().admit(tool_name, text, int(time.time() * 1000), model)
        )
        return ValidationResult(
            valid=report["valid"],
            tool_name=tool_name,
            issues=[_issue(one) for one in report["issues"]],
            corrected_args=report.get("corrected_arguments"),
            answer=report["answer"],
        )

    @property
    def definition_issues(self) -> list[str]:
        """What is wrong with the registered definitions."""
        return self._admission().issues

    def get_rejection_stats(self) -> dict[str, Any]:
        """`{total, by_reason, by_tool, by_model, unknown_tools}`: what was rejected so far."""
        stats: dict[str, Any] = {
            name: {} for name in ("by_reason", "by_tool", "by_model", "unknown_tools")
        }
        stats["total"] = 0
        with self._lock:
            counted = list(self._before)
            if self._compiled is not None:
                counted.append(json.loads(self._compiled[1].rejected()))
        for counts in counted:
            stats["total"] += counts["total"]
            for name, source in (
                ("by_reason", "by_code"),
                ("by_tool", "by_tool"),
                ("by_model", "by_model"),
                ("unknown_tools", "unknown_tools"),
            ):
                for key, count in counts[source].items():
                    stats[name][key] = stats[name].get(key, 0) + count
        return stats

    def format_validation_report(self, result: ValidationResult) -> str:
        """The result for people, a line an issue."""
        if result.valid and not result.warnings:
            return f"{result.tool_name}: valid"
        head = "valid" if result.valid else "BLOCKED"
        lines = [f"{result.tool_name}: {head}"]
        lines += [f"  [{one.code}] {one.message}" for one in result.blocking_issues]
        lines += [f"  warning [{one.code}] {one.message}" for one in result.warnings]
        return "\n".join(lines)

    def _changed(self) -> None:
        if self._compiled is not None:
            self._before.append(json.loads(self._compiled[1].rejected()))
            self._compiled = None

    def _admission(self) -> native.Admission:
        with self._lock:
            # The registry is a plain dictionary: it may have been changed by hand.
            tools = to_json([{"name": name, **schema} for name, schema in self.registry.items()])
            if self._compiled is not None and self._compiled[0] != tools:
                self._changed()
            if self._compiled is None:
                self._compiled = (tools, native.Admission(tools, self._options))
            return self._compiled[1]


def _issue(record: dict[str, Any]) -> ValidationIssue:
    pointer: str = record.get("parameter", "")
    parameter = pointer.removeprefix("/").replace("~1", "/").replace("~0", "~")
    return ValidationIssue(
        severity=ValidationSeverity(record["severity"]),
        code=record["code"],
        message=record["message"],
        tool_name=record["tool"],
        parameter=parameter or None,
        expected=record.get("expected"),
        actual=record.get("actual"),
    )


def create_rejection_response(result: ValidationResult) -> dict[str, Any]:
    """A rejected call as a message of the role `tool`, so that the model can put it right."""
    return {"role": "tool", "content": result.answer}
