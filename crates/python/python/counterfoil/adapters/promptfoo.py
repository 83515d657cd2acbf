"""promptfoo.

    assert:
      - type: python
        value: file://supported.py     # from counterfoil.adapters.promptfoo import get_assert

The output of the provider is a session in any form that `counterfoil check` reads, or an answer; the
messages may also stand in the variable `messages`. `counterfoil-promptfoo FILE` does the same for a
file, and prints what promptfoo expects.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

from .._check import check
from .._report import Report


def get_assert(output: Any, context: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`{pass, score, reason}` of an output."""
    variables: Mapping[str, Any] = (context or {}).get("vars") or {}
    tools = variables.get("tools")
    messages = variables.get("messages")
    if messages is not None:
        before = json.loads(messages) if isinstance(messages, str) else list(messages)
        report = check([*before, {"role": "assistant", "content": output}], tools)
    else:
        report = check(output, tools)
        if report.unreadable:
            report = check([{"role": "assistant", "content": str(output)}], tools)
    return _graded(report)


def _graded(report: Report) -> dict[str, Any]:
    return {"pass": report.ok, "score": 1.0 if report.ok else 0.0, "reason": str(report)}


def main() -> int:
    """`counterfoil-promptfoo FILE`, or standard input."""
    if len(sys.argv) > 2 or sys.argv[1:2] in (["--help"], ["-h"]):
        print("usage: counterfoil-promptfoo [FILE]", file=sys.stderr)
        return 2
    try:
        given = pathlib.Path(sys.argv[1]).read_text() if sys.argv[1:] else sys.stdin.read()
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    graded = get_assert(given)
    print(json.dumps(graded))
    return 0 if graded["pass"] else 1


if __name__ == "__main__":
    sys.exit(main())
