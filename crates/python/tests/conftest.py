"""What several tests need."""

import pytest

import counterfoil
from counterfoil import execution_tracker, tool_fixation_detector

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def fresh():
    """Each test has a tracker and a guard of its own."""
    counterfoil.configure()
    execution_tracker._default = None
    counterfoil._guard._default = None
    tool_fixation_detector.reset_fixation_detector()
