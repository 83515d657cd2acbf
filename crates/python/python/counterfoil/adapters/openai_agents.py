"""The OpenAI Agents SDK.

    from counterfoil import Guard
    from counterfoil.adapters.openai_agents import CounterfoilHooks, supported

    session = Guard().session()
    agent = Agent(name="shop", tools=[…], output_guardrails=[supported(session)])
    await Runner.run(agent, "Cancel order 7.", hooks=CounterfoilHooks(session))

An answer that the receipts do not support trips the guardrail
(`OutputGuardrailTripwireTriggered`); its `output_info` is the `Verified`.
"""

from __future__ import annotations

from typing import Any

from agents import Agent, GuardrailFunctionOutput, OutputGuardrail, RunContextWrapper, RunHooks

from .._plain import to_json
from .._session import Session
from ._shared import Recorder, text_of


class CounterfoilHooks(RunHooks[Any]):
    """Records what tools really do."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._recorder = Recorder(session)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        for item in _items(getattr(context, "turn_input", None)):
            if item.get("role") == "user":
                text = text_of(item.get("content"))
                if text:
                    self.session.hear(text)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self._recorder.begin(_id(context, tool), tool.name, getattr(context, "tool_arguments", ""))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        self._recorder.end(_id(context, tool), result)


def supported(session: Session) -> OutputGuardrail[Any]:
    """A guardrail that holds the final answer against the receipts of `session`."""

    async def check(
        context: RunContextWrapper[Any], agent: Agent[Any], output: Any
    ) -> GuardrailFunctionOutput:
        text = output if isinstance(output, str) else to_json(output)
        verified = await session.averify(text)
        return GuardrailFunctionOutput(output_info=verified, tripwire_triggered=not verified.ok)

    return OutputGuardrail(guardrail_function=check, name="counterfoil")


def _id(context: Any, tool: Any) -> str:
    return str(getattr(context, "tool_call_id", None) or f"{id(context)} {tool.name}")


def _items(given: Any) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [item for item in given or [] if isinstance(item, dict)]
