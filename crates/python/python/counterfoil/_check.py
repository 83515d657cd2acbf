"""Sessions held against their own record."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, cast

from . import _counterfoil as native
from ._errors import CounterfoilError, Unsupported
from ._judge import Asker, Judge, judge_named
from ._plain import clean, to_json
from ._report import Report, Severity
from ._rules import modes as modes_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Tools = Sequence[object] | str | None


class CheckOptions(TypedDict, total=False):
    """What is judged, and how strictly.

    `only` and `ignore` name rules (codes, names, patterns such as `CS01*`), `modes` gives them modes
    (`off`, `shadow`, `warn`, `block`), `severity` leaves out what is below. `execution_window` is how
    many seconds an execution may be cited; 0 is the whole session. `form` names the form of the log,
    where it should not be found out.

    `judge` reads every answer that ends a turn (docs/judge.md): a function of the program, which may be
    a coroutine, is given the instructions and the question and returns the model's reply; a name is what
    `counterfoil check --judge` takes. What it says counts from `judge_threshold` on (0.7), and it is
    asked at most `judge_rate` times a second in this process. What it raises leaves that answer
    unjudged: `report.summary.judged` counts them.
    """

    form: str | None
    only: Iterable[str] | None
    ignore: Iterable[str] | None
    modes: Mapping[str, str] | None
    severity: Severity | None
    execution_window: int
    judge: Judge | None
    judge_threshold: float | None
    judge_rate: float | None


def check(
    messages: object,
    tools: Tools = None,
    *,
    session: str = "session",
    **options: Unpack[CheckOptions],
) -> Report:
    """Holds what an agent said against what its calls show.

    `messages` is a list of messages, or a whole session, in any form that `counterfoil check` reads
    (docs/formats.md): OpenAI's, Anthropic's, LangChain's and others; dictionaries, objects of
    frameworks, JSON as `str` or `bytes`. `tools` is the list of tools that the agent had, where the
    session does not hold it: without it, nothing is concluded from a name that is not known. `session`
    names it in findings. The other arguments are those of `CheckOptions`.

    Never raises for what is in `messages`: what cannot be read is a problem of the summary, and then
    `report.unreadable` is true. Raises `CounterfoilError` for rules, modes and forms that there are
    not.
    """
    return _checked(messages, tools, session, options, asker(options))


async def acheck(
    messages: object,
    tools: Tools = None,
    *,
    session: str = "session",
    **options: Unpack[CheckOptions],
) -> Report:
    """`check`, in a thread: the loop goes on, and asks a judge that is a coroutine."""
    judge = asker(options)
    if judge is not None:
        judge.loop = asyncio.get_running_loop()
    return await asyncio.to_thread(_checked, messages, tools, session, options, judge)


def check_file(
    path: str | os.PathLike[str],
    tools: Tools = None,
    *,
    session: str | None = None,
    **options: Unpack[CheckOptions],
) -> Report:
    """`check` for one log, which may be packed (`.gz`, `.zst`, `.zip`). Without `session` it is named
    after the file."""
    shown = os.fspath(path)
    judge = asker(options)
    return _report(native.check_file(shown, wanted(options, session), _tools(tools), judge))


def check_files(
    *paths: str | os.PathLike[str],
    tools: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
) -> Report:
    """What the command line says of files and folders: in parallel, memory bounded by the largest
    session. `arguments` are further ones of `counterfoil check`.

    Raises `CounterfoilError` where the command line refuses its arguments.
    """
    command = [program(), "check", "--format", "json", "--show-supported", "--color", "never"]
    if tools is not None:
        command += ["--tools", os.fspath(tools)]
    command += [*arguments, "--", *(os.fspath(path) for path in paths)]
    done = subprocess.run(command, capture_output=True, check=False)
    text = done.stdout.decode("utf-8", "replace")
    if not text.startswith("{"):
        said = done.stderr.decode("utf-8", "replace").strip()
        raise CounterfoilError(said or f"`counterfoil check` ended with {done.returncode}")
    return Report.from_json(text, unreadable=done.returncode == 2)


def assert_supported(
    messages: object,
    tools: Tools = None,
    *,
    session: str = "session",
    fail_on: Severity = "error",
    **options: Unpack[CheckOptions],
) -> Report:
    """`check`, which raises `Unsupported` (an `AssertionError`) for findings of `fail_on` and above,
    and where nothing could be read."""
    report = check(messages, tools, session=session, **options)
    if report.at_least(fail_on) or report.unreadable:
        raise Unsupported(report, str(report))
    return report


def program() -> str:
    """Where the command line is: it comes with this package.

    Raises `CounterfoilError` where it is not there.
    """
    name = "counterfoil.exe" if os.name == "nt" else "counterfoil"
    beside = pathlib.Path(sysconfig.get_path("scripts")) / name
    found = os.environ.get("COUNTERFOIL_PROGRAM") or (
        str(beside) if beside.is_file() else shutil.which("counterfoil")
    )
    if found is None:
        raise CounterfoilError(
            "the program `counterfoil` is not there", "install the wheel, which brings it"
        )
    return found


def wanted(options: CheckOptions, session: str | None) -> str:
    """The options, checked, as the extension module reads them.

    Raises `CounterfoilError` for what there is not, and `TypeError` for what is no option.
    """
    unknown = set(options) - set(CheckOptions.__annotations__)
    if unknown:
        raise TypeError(f"a check has no option {', '.join(sorted(unknown))}")
    severity, window = options.get("severity"), options.get("execution_window", 0)
    if severity not in (None, "error", "warning", "note"):
        raise CounterfoilError(f"`{severity}` is no severity", "there are error, warning, note")
    if not isinstance(window, int) or window < 0:
        raise CounterfoilError(f"an execution window is a number of seconds, not {window!r}")
    return json.dumps(
        {
            "name": None if session is None else clean(str(session)),
            "form": options.get("form"),
            "modes": modes_of(options.get("modes"), options.get("only"), options.get("ignore")),
            "execution_window": window,
            "severity": severity,
            **judge_named(options.get("judge"), options.get("judge_threshold")),
        }
    )


def asker(options: CheckOptions) -> Asker | None:
    """The judge that reads answers, if there is one."""
    judge = options.get("judge")
    return None if judge is None else Asker(judge, options.get("judge_rate"))


def _checked(
    messages: object, tools: Tools, session: str, options: CheckOptions, judge: Asker | None
) -> Report:
    wants = wanted(options, session)
    return _report(native.check(_bytes_of(messages), wants, _tools(tools), judge))


def _bytes_of(messages: object) -> bytes:
    if isinstance(messages, (bytes, bytearray, memoryview)):
        return bytes(messages)
    if isinstance(messages, str):
        return _strict(messages).encode("utf-8", "replace")
    return to_json(messages).encode("utf-8")


def _strict(text: str) -> str:
    """JSON as others write it, with NaN for a number that is none."""
    if "NaN" not in text and "Infinity" not in text:
        return text
    try:
        return to_json(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _tools(tools: Tools) -> str | None:
    if tools is None:
        return None
    if isinstance(tools, str):
        try:
            listed = json.loads(tools)
        except ValueError as error:
            raise CounterfoilError(f"the list of tools is not JSON: {error}") from None
        if not isinstance(listed, list):
            return tools
        tools = cast("list[object]", listed)
    return to_json([_tool(tool) for tool in tools])


def _tool(tool: object) -> object:
    """The definition of a tool: a name alone, a function of Python, or what a framework has."""
    if isinstance(tool, str):
        return {"name": tool}
    if callable(tool) and not isinstance(tool, Mapping):
        from ._schema import definition

        return definition(tool)
    return cast("object", tool)


def _report(given: tuple[str, str | None, bool]) -> Report:
    text, _, unreadable = given
    return Report.from_json(text, unreadable)
