"""Records what an agent sends to its hooks, and its log at that time, for replay without the agent:
`crates/cli/tests/it/hook/recorded.rs`."""

import json
import shutil

# Runs before the hook, and keeps each event and the number of lines in each log.
BEFORE = """#!/bin/sh
kept="{at}/events/$(date +%s%N)-$$"
cat > "$kept"
find '{at}/home' -name '*.jsonl' -exec wc -l {{}} + > "$kept.lines"
exec '{binary}' "$@" < "$kept"
"""


def stand_before(binary, at, settings):
    """Inserts a script before the hook in the settings."""
    (at / "events").mkdir()
    script = at / "before.sh"
    script.write_text(BEFORE.format(at=at, binary=binary))
    script.chmod(0o755)
    if settings.exists():
        text = settings.read_text()
        settings.write_text(text.replace('"counterfoil hook ', f'"{script} hook '))


def keep(at, logs, to):
    """Copies the logs and the events, in order, with the session's folder replaced by `AT`."""

    def without_paths(line):
        # Codex gives its main agent a name that looks like an absolute path.
        return line.replace(str(at), "AT").replace("/root", "/main")

    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    names = {}
    for number, file in enumerate(sorted(logs.rglob("*.jsonl")), 1):
        names[str(file)] = f"log-{number}.jsonl"
        lines = [shortened(without_paths(line)) for line in file.read_text().splitlines()]
        (to / names[str(file)]).write_text("\n".join(lines) + "\n")
    with (to / "events.jsonl").open("w") as events:
        for path in sorted(p for p in (at / "events").iterdir() if not p.suffix):
            found = {}
            lines = path.with_suffix(".lines")
            for line in lines.read_text().splitlines() if lines.exists() else []:
                count, _, file = line.strip().partition(" ")
                if name := names.get(file.strip()):
                    found[name] = {"path": file.strip().replace(str(at), "AT"), "lines": int(count)}
            event = {"event": json.loads(path.read_text()), "logs": found}
            events.write(without_paths(compact(event)) + "\n")


INSTRUCTIONS = ["attachment", "session_meta", "turn_context", "world_state", "file-history-snapshot"]


def shortened(line):
    """Shortens long texts that no hook reads, and removes the agent's own instructions."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    role = (value.get("payload") or {}).get("role")
    longest = 100 if value.get("type") in INSTRUCTIONS or role == "developer" else 4000
    return compact(shorten(value, longest))


def shorten(value, longest):
    if isinstance(value, str) and len(value.encode()) > longest:
        return value[:80] + "…"
    if isinstance(value, list):
        return [shorten(item, longest) for item in value]
    if isinstance(value, dict):
        return {name: shorten(member, longest) for name, member in value.items()}
    return value


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
