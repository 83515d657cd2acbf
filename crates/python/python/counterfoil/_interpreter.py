"""Refuses sub-interpreters: threads and exceptions of the extension module belong to one."""

from __future__ import annotations

import importlib


def _is_main() -> bool:
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        # An id, or an id with a word on who owns it.
        here, main = module.get_current(), module.get_main()
        return bool(here == main)
    return True


if not _is_main():
    raise ImportError("counterfoil works in the main interpreter only: use a process instead")
