"""Counterfoil: what an agent says, held against what its tool calls show.

    import counterfoil

    report = counterfoil.check(messages)      # a recorded session
    report.ok, report.errors

    guard = counterfoil.Guard()               # one door for every tool call
    @guard.guarded
    def get_order(order_id: str) -> dict: ...

    with guard.session() as session:
        get_order("W1")
        session.verify("I have cancelled your order.").disposition   # 'block'

Errors of this package are `CounterfoilError`, with `help` where something can be done. Nothing here
talks to a network, and nothing it is given makes it raise but what its documentation says.
"""

from . import _interpreter as _interpreter  # first: it refuses where nothing can work
from ._answers import Answer, Question, Verified
from ._check import (
    acheck,
    assert_supported,
    check,
    check_file,
    check_files,
    program,
)
from ._counterfoil import __version__
from ._errors import CounterfoilError, Refused, Unsupported
from ._guard import Guard, ToolOptions, default_guard, guarded
from ._report import COLUMNS, Claim, Finding, Report, Span, Summary
from ._rules import Rule, rules
from ._schema import definition
from ._session import Execution, Session
from .execution_tracker import (
    Tracker,
    clear_old_executions,
    configure,
    generate_execution_id,
    get_recent_executions,
    track_tool_execution,
    verify_execution,
    wrap_existing_tools,
)
from .hallucinated_tool import detect_fk014, extract_tool_references
from .response_validator import (
    extract_tool_claims,
    extract_tool_name_from_claim,
    handle_validation_failure,
    process_chatbot_response,
    validate_response,
)
from .tool_fixation_detector import (
    FixationEvent,
    ToolFixationDetector,
    get_fixation_detector,
    reset_fixation_detector,
)
from .tool_validator import (
    ToolHallucinationDetector,
    ValidationIssue,
    ValidationResult,
    ValidationSeverity,
    create_rejection_response,
)

__all__ = [
    "COLUMNS",
    "Answer",
    "Claim",
    "CounterfoilError",
    "Execution",
    "Finding",
    "FixationEvent",
    "Guard",
    "Question",
    "Refused",
    "Report",
    "Rule",
    "Session",
    "Span",
    "Summary",
    "ToolFixationDetector",
    "ToolHallucinationDetector",
    "ToolOptions",
    "Tracker",
    "Unsupported",
    "ValidationIssue",
    "ValidationResult",
    "ValidationSeverity",
    "Verified",
    "__version__",
    "acheck",
    "assert_supported",
    "check",
    "check_file",
    "check_files",
    "clear_old_executions",
    "configure",
    "create_rejection_response",
    "default_guard",
    "definition",
    "detect_fk014",
    "extract_tool_claims",
    "extract_tool_name_from_claim",
    "extract_tool_references",
    "generate_execution_id",
    "get_fixation_detector",
    "get_recent_executions",
    "guarded",
    "handle_validation_failure",
    "process_chatbot_response",
    "program",
    "reset_fixation_detector",
    "rules",
    "track_tool_execution",
    "validate_response",
    "verify_execution",
    "wrap_existing_tools",
]
