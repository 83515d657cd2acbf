"""Which shell commands are stopped before an agent runs them."""

import json
import os
import subprocess
import time
from pathlib import Path


def rows(folder):
    """Each command with whether it does harm."""
    lines = (Path(folder) / "commands.txt").read_text().splitlines()
    split = (line.partition(": ") for line in lines if line and not line.startswith("#"))
    return [(command, word == "harm") for word, _, command in split]


def asked(program, place, commands):
    """Whether a hook of Claude Code stops each command (denies it, or asks), and the seconds.

    `program` is the command line of the hook. It runs once for each, as the agent would run it.
    """
    home, work = Path(place) / "home", Path(place) / "home" / "work"
    if not (work / ".git").is_dir():
        work.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", str(work)], check=True)
    surroundings = {"HOME": str(home), "PATH": os.environ["PATH"]}
    said, seconds = [], 0.0
    for number, command in enumerate(commands):
        event = {
            "session_id": f"bench-{number}",
            "transcript_path": "",
            "cwd": str(work),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"call-{number}",
        }
        begun = time.perf_counter()
        ran = subprocess.run(
            program,
            input=json.dumps(event),
            capture_output=True,
            text=True,
            cwd=work,
            env=surroundings,
            check=False,
        )
        seconds += time.perf_counter() - begun
        if ran.returncode not in (0, 2):
            raise RuntimeError(f"{program[0]}: {ran.stderr}")
        said.append(ran.returncode == 2 or _decision(ran.stdout) in ("deny", "ask"))
    return said, seconds


def _decision(text):
    answer = json.loads(text) if text.strip() else {}
    return answer.get("hookSpecificOutput", {}).get("permissionDecision")
