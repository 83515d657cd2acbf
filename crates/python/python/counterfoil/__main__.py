"""`python -m counterfoil`: the command line, with its exit codes."""

from __future__ import annotations

import os
import subprocess
import sys

from ._check import program
from ._errors import CounterfoilError


def main() -> int:
    try:
        command = [program(), *sys.argv[1:]]
    except CounterfoilError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
