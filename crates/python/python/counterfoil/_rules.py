"""Rules by code, name and pattern."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import _counterfoil as native
from ._errors import CounterfoilError

MODES = ("off", "shadow", "warn", "block")


class Rule(NamedTuple):
    """A rule: `code` is stable for ever, `mode` is how strict it is where nothing else is said."""

    code: str
    name: str
    mode: str
    summary: str


def rules() -> list[Rule]:
    """Every rule, in the order of the reference."""
    return [Rule(*row) for row in native.rules()]


def _find(word: str) -> list[str]:
    wanted = word.strip().lower()
    table = rules()
    found = [
        rule.code
        for rule in table
        if fnmatch.fnmatchcase(rule.code.lower(), wanted)
        or fnmatch.fnmatchcase(rule.name.lower(), wanted)
    ]
    if not found:
        names = [name for rule in table for name in (rule.code, rule.name)]
        near = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
        advice = f"did you mean `{near[0]}`?" if near else "`counterfoil rules` lists all of them"
        raise CounterfoilError(f"there is no rule `{word}`", advice)
    return found


def modes(
    given: Mapping[str, str] | None, only: Iterable[str] | None, ignore: Iterable[str] | None
) -> dict[str, str]:
    """The mode of every rule whose mode is not its own. What is ignored wins over what is named."""
    if not given and only is None and not ignore:
        return {}
    only = [only] if isinstance(only, str) else only
    ignore = [ignore] if isinstance(ignore, str) else ignore
    chosen: dict[str, str] = {}
    for word, mode in (given or {}).items():
        if mode not in MODES:
            raise CounterfoilError(f"`{mode}` is no mode", f"there are {', '.join(MODES)}")
        chosen.update(dict.fromkeys(_find(word), mode))
    if only is not None:
        wanted = {code for word in only for code in _find(word)}
        for rule in rules():
            mode = chosen.get(rule.code, rule.mode)
            if rule.code not in wanted:
                chosen[rule.code] = "off"
            elif mode == "off":
                chosen[rule.code] = "warn"
    for word in ignore or ():
        chosen.update(dict.fromkeys(_find(word), "off"))
    return chosen
