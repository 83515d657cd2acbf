"""Notices that an agent calls one tool over and over."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

from . import _counterfoil as native


@dataclass
class FixationEvent:
    """A streak that was noticed."""

    tool_name: str
    streak_length: int
    threshold: int
    nudge_sent: bool = False


class ToolFixationDetector:
    """Counts consecutive calls to one tool.

    `threshold` is how many earn a word to the agent, `window` how many calls are looked at; 0 is
    `TOOL_FIXATION_THRESHOLD` (5) and `TOOL_FIXATION_WINDOW` (10) of the environment.
    """

    def __init__(self, threshold: int = 0, window: int = 0) -> None:
        if threshold < 0 or window < 0:
            raise ValueError("a threshold and a window are numbers of calls")
        self.threshold = threshold or _number("TOOL_FIXATION_THRESHOLD", 5)
        self.window = max(window or _number("TOOL_FIXATION_WINDOW", 10), self.threshold)
        self._watch = native.Fixation(self.threshold, self.window, 3, 5)
        self._results = itertools.count()

    @property
    def nudges_sent(self) -> int:
        return self._watch.nudges_sent()

    @property
    def events(self) -> list[FixationEvent]:
        return [FixationEvent(tool, count, at, True) for tool, count, at, _ in self._watch.events()]

    def record(self, tool_name: str) -> str | None:
        """Notes a call; what to say to the agent where it has been too many."""
        # Nothing is known of arguments and results, so no two calls count as the same.
        return self._watch.record(tool_name, "{}", str(next(self._results)), True)

    def reset(self) -> None:
        """Counts from the beginning. Events and nudges stay."""
        self._watch.reset()

    def get_streak_info(self) -> dict[str, Any]:
        """`{current_tool, streak_count, threshold, at_threshold, nudges_sent}`."""
        tool, count, threshold, reached, nudges = self._watch.streak()
        return {
            "current_tool": tool,
            "streak_count": count,
            "threshold": threshold,
            "at_threshold": reached,
            "nudges_sent": nudges,
        }

    def format_report(self) -> str:
        """The events, a line each."""
        return self._watch.report()

    @property
    def _streak_count(self) -> int:
        return self._watch.streak()[1]

    @property
    def _current_streak(self) -> str:
        return self._watch.streak()[0]


def _number(name: str, default: int) -> int:
    try:
        return max(int(os.environ.get(name, "")), 1)
    except ValueError:
        return default


_detector: ToolFixationDetector | None = None


def get_fixation_detector() -> ToolFixationDetector:
    """The detector of this process."""
    global _detector
    if _detector is None:
        _detector = ToolFixationDetector()
    return _detector


def reset_fixation_detector() -> None:
    """Lets the next one be new."""
    global _detector
    _detector = None
