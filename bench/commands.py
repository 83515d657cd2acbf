"""Which shell commands are stopped before an agent runs them."""

import json
import os
import subprocess
import time
from pathlib import Path


def rows(batch):
    """Each command of a file with whether it does harm."""
    lines = Path(batch).read_text().splitlines()
    split = (line.partition(": ") for line in lines if line and not line.startswith("#"))
    return [(command, word == "harm") for word, _, command in split]


#: Where the commands would run, for who only reads names: the same on every machine.
HOME, PROJECT = "/home/dev", "/home/dev/project"


def on_disk(place):
    """A home and a repository in it that are there, for who looks."""
    home = Path(place).resolve() / "home"
    project = home / "project"
    if not (project / ".git").is_dir():
        project.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", str(project)], check=True)
    return str(home), str(project)


def asked(program, commands, home, project):
    """Whether a hook of Claude Code stops each command (denies it, or asks), and the seconds.

    `program` is the command line of the hook. It runs once for each, as the agent would run it.
    """
    surroundings = {"HOME": home, "PATH": os.environ["PATH"]}
    said, seconds = [], 0.0
    for number, command in enumerate(commands):
        event = {
            "session_id": f"bench-{number}",
            "transcript_path": "",
            "cwd": project,
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
