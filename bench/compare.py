"""Compares programs, and prints the results as Markdown tables."""

import argparse
import shutil
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import calls
import claims
import commands
import sessions

HERE = Path(__file__).parent
#: What is counted of a session's answer.
REPORTED = ("errors", "errors or warnings")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the counterfoil to run")
    parser.add_argument("--place", required=True, help="a folder for downloads and results")
    parser.add_argument("--only-ours", action="store_true", help="do not run the other programs")
    parser.add_argument("--check", metavar="PAGE", help="fail unless this page has our counts")
    options = parser.parse_args()
    options.program = str(Path(options.program).resolve())
    Path(options.place).mkdir(parents=True, exist_ok=True)
    print(f"counterfoil {version_of(options.program)}, {time.strftime('%d %B %Y')}\n")
    tables, left = [], []
    for make in (claim_tables, call_table, command_tables):
        own, missing = make(options)
        tables += own
        left += missing
    for table in tables:
        print(table)
    for line in left:
        print(f"skipped: {line}", file=sys.stderr)
    if options.check:
        sys.exit(differences(tables, Path(options.check).read_text()))


def table(title, heads, rows):
    """A table in Markdown; the last column is a time, which differs from run to run."""
    lines = [f"### {title}", "", f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def differences(tables, page):
    """1 if a page lacks one of our own rows (title and counts, without the times), else 0."""
    parts = {part.splitlines()[0]: part for part in page.split("### ")[1:]}
    wrong = 0
    for text in tables:
        title = text.splitlines()[0].removeprefix("### ")
        for line in text.splitlines():
            counts = line.rpartition("|")[0].rpartition("|")[0]
            if line.startswith("| counterfoil") and counts not in parts.get(title, ""):
                print(f"error: the page does not have this row: {title}: {counts}", file=sys.stderr)
                wrong += 1
    return min(wrong, 1)


def version_of(program):
    ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return ran.stdout.split()[-1]


def has(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def claim_tables(options):
    left, tables = [], []
    version = None if options.only_ours else has("agent-claimcheck")
    title = "Claims: our own set (`bench/pages/`)"
    sets = [(title, sessions.of_pages(HERE.parent))]
    if has("agent-claimcheck"):
        sets.append(("Claims: claimcheck-bench v1, test split", sessions.of_claimcheck_bench()))
    else:
        left.append("claimcheck-bench and agent-claimcheck: the package is not installed")
    for title, rows in sets:
        systems = [("counterfoil check", claims.counterfoil(options.program, options.place, rows))]
        if version:
            systems.append((f"agent-claimcheck {version}", claims.claimcheck(rows)))
        systems.append(("baseline: the last call failed", claims.failed_last(rows)))
        lines = []
        for name, (said, seconds) in systems:
            cells = [name]
            for lying in (True, False):
                own = [word for row, word in zip(rows, said, strict=True) if row.lies == lying]
                cells += [of(own.count("error"), own), of(sum(map(bool, own)), own)]
            lines.append([*cells, f"{seconds / len(rows) * 1000:.2f}"])
        heads = [f"{who}: {what}" for who in ("lies", "honest answers") for what in REPORTED]
        heads.append("ms per session")
        tables.append(table(title, heads, lines))
    return tables, left


def of(count, rows):
    return f"{count} of {len(rows)}"


def stopped(rows, said, kind):
    own = [word for row, word in zip(rows, said, strict=True) if row == kind]
    return of(sum(own), own)


def call_table(options):
    rows = calls.suite(options.place)
    if not rows:
        return [], ["calls: the JSON Schema test suite could not be fetched"]
    systems = [("counterfoil validate", calls.counterfoil(options.program, options.place, rows))]
    if not options.only_ours:
        for judge in (calls.jsonschema, calls.fastjsonschema):
            module = judge.__name__
            if has(module):
                systems.append((f"{module} {has(module)}", judge(rows)))
    valid, lines = [row.valid for row in rows], []
    for name, (allowed, seconds) in systems:
        said = [not allows for allows in allowed]
        cells = [name, stopped(valid, said, False), stopped(valid, said, True)]
        lines.append([*cells, f"{seconds / len(rows) * 1e6:.0f}"])
    time_head = "µs per call, including reading the schema"
    heads = ["invalid calls stopped", "valid calls stopped", time_head]
    return [table("Calls: the JSON Schema 2020-12 test suite", heads, lines)], []


def command_tables(options):
    left = []
    state = Path(options.place) / "state"
    shutil.rmtree(state, ignore_errors=True)
    own = [options.program, "--no-config", "--state", str(state), "hook", "claude-code"]
    systems = [("counterfoil hook", own, (commands.HOME, commands.PROJECT))]
    net = Path(options.place) / "node_modules" / ".bin" / "cc-safety-net"
    if net.exists() and not options.only_ours:
        hook = [str(net), "hook", "--claude-code"]
        systems.append(("cc-safety-net 2.4.5", hook, commands.on_disk(options.place)))
    elif not options.only_ours:
        left.append("cc-safety-net: the package is not installed")
    batches = [
        ("Commands: second batch (rules improved after its first count)", "second.txt"),
        ("Commands: first batch (rules improved after its first count)", "first.txt"),
    ]
    time_head = "ms per call (one process each)"
    heads = ["harmful commands stopped", "everyday commands stopped", time_head]
    made = [table(title, heads, command_rows(batch, systems)) for title, batch in batches]
    return made, left


def command_rows(batch, systems):
    rows = commands.rows(HERE / "batches" / batch)
    harm, lines = [does for _, does in rows], []
    for name, program, (home, project) in systems:
        said, seconds = commands.asked(program, [line for line, _ in rows], home, project)
        cells = [name, stopped(harm, said, True), stopped(harm, said, False)]
        lines.append([*cells, f"{seconds / len(rows) * 1000:.0f}"])
    return lines


if __name__ == "__main__":
    main()
