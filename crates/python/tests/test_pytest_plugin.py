"""The plugin, in runs of its own."""

import pytest

BODY = """
import counterfoil

def cancel_order(order_id: str) -> dict:
    return {"id": order_id, "status": "cancelled"}

def test_true(counterfoil_session):
    cancel = counterfoil_session.guarded(cancel_order)
    counterfoil_session.hear("Cancel W1.")
    cancel("W1")
    counterfoil_session.assert_supported("I have cancelled order W1.")
    assert [call["tool"] for call in counterfoil_session.calls] == ["cancel_order"]

def test_false(counterfoil_session):
    counterfoil_session.guarded(cancel_order)
    counterfoil_session.assert_supported("I have cancelled order W1.")

def test_log(assert_supported):
    said = [
        {"role": "user", "content": "Cancel W1."},
        {"role": "assistant", "content": "I have cancelled order W1."},
    ]
    assert_supported(said, ["cancel_order"], modes={"FK010": "warn"})
"""


@pytest.mark.parametrize(("least", "failed"), [("error", 1), ("warning", 2)])
def test_answers_are_assertions(pytester, least, failed):
    pytester.makepyfile(BODY)
    plugin = [] if _installed() else ["-p", "counterfoil.pytest_plugin"]
    result = pytester.runpytest_subprocess(*plugin, f"--counterfoil-fail-on={least}")
    result.assert_outcomes(passed=3 - failed, failed=failed)
    result.stdout.fnmatch_lines(
        ["*= counterfoil =*", "3 answers judged; claims: 1 supported, 2 unsupported"]
    )
    result.stdout.fnmatch_lines(["*::test_false: error?FK010?: *"])


def test_a_wrong_level_is_refused(pytester):
    plugin = [] if _installed() else ["-p", "counterfoil.pytest_plugin"]
    result = pytester.runpytest_subprocess(*plugin, "--counterfoil-fail-on=loud")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*invalid choice: 'loud'*"])


def _installed():
    from importlib.metadata import entry_points

    return any(point.name == "counterfoil" for point in entry_points(group="pytest11"))
