"""The frameworks themselves, unmodified, with a scripted model that answers over HTTP.

To `tool` the model calls `get_order` and tells what came of it; to `lie` it says that it cancelled an
order, and puts that right when it is told so; to `stubborn` it stays with it.
"""

import asyncio
import importlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

import counterfoil
from counterfoil import Guard

ROOT = pathlib.Path(__file__).parents[3]
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")


@pytest.fixture(scope="session")
def model():
    """The port of the scripted model."""
    place = ROOT / "tests" / "proxy" / "model.py"
    if not place.is_file():
        pytest.skip("the scripted model is not beside this checkout")
    spec = importlib.util.spec_from_file_location("scripted_model", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.start()


@pytest.fixture
def session():
    return Guard().session()


def get_order(id: int) -> str:
    """Looks an order up."""
    return json.dumps({"id": id, "status": "shipped", "note": "shipped-by-tool"})


def called(session):
    return [(r["tool"], r["arguments"], r["status"]) for r in session.receipts()]


LOOKED_UP = [("get_order", {"id": 7}, "completed")]


def test_langchain(model, session):
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    from counterfoil.adapters._shared import Blocked
    from counterfoil.adapters.langchain import CounterfoilCallback

    llm = ChatOpenAI(model="m-1", base_url=f"http://127.0.0.1:{model}/v1", api_key="none")
    agent = agents.create_agent(llm, [tool(get_order)])

    def ask(question, callback):
        messages = {"messages": [{"role": "user", "content": question}]}
        return agent.invoke(messages, {"callbacks": [callback]})["messages"][-1].content

    callback = CounterfoilCallback(session)
    assert "shipped" in ask("tool", callback)
    assert called(session) == LOOKED_UP
    assert [v.disposition for v in callback.verified] == ["pass"]
    ask("lie", callback)
    assert callback.verified[-1].disposition == "block"
    with pytest.raises(Blocked, match="FK010"):
        ask("lie", CounterfoilCallback(Guard().session(), on_false="raise"))


def test_langgraph(session):
    pytest.importorskip("langgraph")
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph

    from counterfoil.adapters.langchain import tool_node

    def broken(id: int) -> str:
        """Breaks."""
        raise ValueError("no such order")

    graph = StateGraph(MessagesState)
    node = tool_node(session, [tool(get_order), tool(broken)], handle_tool_errors=True)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    graph = graph.compile()

    def asked():
        calls = [
            {"name": "get_order", "args": {"id": 7}, "id": "c1", "type": "tool_call"},
            {"name": "get_order", "args": {"id": "seven"}, "id": "c2", "type": "tool_call"},
            {"name": "broken", "args": {"id": 7}, "id": "c3", "type": "tool_call"},
        ]
        return {"messages": [AIMessage(content="", tool_calls=calls)]}

    for messages in (graph.invoke(asked()), asyncio.run(graph.ainvoke(asked()))):
        told = {m.tool_call_id: m for m in messages["messages"][1:]}
        assert "shipped" in told["c1"].content and told["c1"].status == "success"
        assert "WRONG_TYPE" in told["c2"].content and told["c2"].status == "error"
        assert "no such order" in told["c3"].content and told["c3"].status == "error"
    assert sorted(r["status"] for r in session.receipts()) == sorted(
        2 * ["completed", "failed", "refused"]
    )


def test_openai_agents(model, session):
    agents = pytest.importorskip("agents")
    from openai import AsyncOpenAI

    from counterfoil.adapters.openai_agents import CounterfoilHooks, supported

    agents.set_tracing_disabled(True)

    async def ask(question, session):
        client = AsyncOpenAI(base_url=f"http://127.0.0.1:{model}/v1", api_key="none")
        agent = agents.Agent(
            name="shop",
            model=agents.OpenAIResponsesModel("m-1", client),
            tools=[agents.function_tool(get_order)],
            output_guardrails=[supported(session)],
        )
        done = await agents.Runner.run(agent, question, hooks=CounterfoilHooks(session))
        return done.final_output

    assert "shipped" in asyncio.run(ask("tool", session))
    assert called(session) == LOOKED_UP
    with pytest.raises(agents.OutputGuardrailTripwireTriggered) as tripped:
        asyncio.run(ask("lie", Guard().session()))
    verified = tripped.value.guardrail_result.output.output_info
    assert verified.findings[0].rule == "FK010"


def test_pydantic_ai(model, session):
    ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.toolsets import FunctionToolset

    from counterfoil.adapters.pydantic_ai import GuardedToolset, supported

    provider = OpenAIProvider(base_url=f"http://127.0.0.1:{model}/v1", api_key="none")

    def ask(question, session):
        agent = ai.Agent(
            OpenAIChatModel("m-1", provider=provider),
            toolsets=[GuardedToolset(FunctionToolset([get_order]), session)],
            retries=1,
        )
        agent.output_validator(supported(session))
        return agent.run_sync(question).output

    assert "shipped" in ask("tool", session)
    assert called(session) == LOOKED_UP
    # Told so, the model puts it right.
    assert ask("lie", Guard().session()) == "Order 7 was not cancelled."
    with pytest.raises(ai.UnexpectedModelBehavior):
        ask("stubborn", Guard().session())


def test_smolagents(model, session):
    smolagents = pytest.importorskip("smolagents")
    from counterfoil.adapters.smolagents import guarded_tools, supported

    @smolagents.tool
    def get_order(id: int) -> str:
        """Looks an order up.

        Args:
            id: The number of the order.
        """
        return json.dumps({"id": id, "status": "shipped"})

    (guarded,) = guarded_tools(session, [get_order])
    assert "shipped" in guarded(7) and "shipped" in guarded(id=7)
    with pytest.raises(counterfoil.Refused, match="WRONG_TYPE"):
        guarded(id="seven")
    assert [r["status"] for r in session.receipts()] == ["completed", "completed", "refused"]

    class Scripted(smolagents.Model):
        """Calls the tool, then answers."""

        def __init__(self, *answers):
            super().__init__(model_id="m-1")
            self.answers = list(answers)

        def generate(self, messages, **how):
            name, arguments = self.answers.pop(0)
            function = smolagents.models.ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = smolagents.models.ChatMessageToolCall(
                id="c1", type="function", function=function
            )
            return smolagents.models.ChatMessage(role="assistant", content="", tool_calls=[call])

    def ask(*answers):
        session = Guard().session()
        agent = smolagents.ToolCallingAgent(
            guarded_tools(session, [get_order]),
            Scripted(*answers),
            final_answer_checks=[supported(session)],
            max_steps=3,
            verbosity_level=smolagents.LogLevel.OFF,
        )
        return agent.run("Cancel order 7."), called(session)

    look_up = ("get_order", {"id": 7})
    said, calls = ask(look_up, ("final_answer", {"answer": "Order 7 is shipped."}))
    assert (said, calls) == ("Order 7 is shipped.", LOOKED_UP)
    lie = ("final_answer", {"answer": "I have cancelled order 7."})
    better = ("final_answer", {"answer": "I did not cancel order 7."})
    assert ask(look_up, lie, better)[0] == "I did not cancel order 7."


def test_anthropic(model, session):
    anthropic = pytest.importorskip("anthropic")
    from counterfoil.adapters.anthropic import guarded_tools, verify_message

    client = anthropic.Anthropic(base_url=f"http://127.0.0.1:{model}", api_key="none")

    def ask(question):
        runner = client.beta.messages.tool_runner(
            model="m-1",
            max_tokens=100,
            tools=guarded_tools(session, [anthropic.beta_tool(get_order)]),
            messages=[{"role": "user", "content": question}],
        )
        return verify_message(session, runner.until_done())

    assert ask("tool").disposition == "pass"
    assert called(session) == LOOKED_UP
    assert ask("lie").disposition == "block"

    async def later(question):
        client = anthropic.AsyncAnthropic(base_url=f"http://127.0.0.1:{model}", api_key="none")

        async def get_order(id: int) -> str:
            """Looks an order up."""
            return json.dumps({"id": id, "status": "shipped", "note": "shipped-by-tool"})

        session = Guard().session()
        runner = client.beta.messages.tool_runner(
            model="m-1",
            max_tokens=100,
            tools=guarded_tools(session, [anthropic.beta_async_tool(get_order)]),
            messages=[{"role": "user", "content": question}],
        )
        return verify_message(session, await runner.until_done()), called(session)

    verified, calls = asyncio.run(later("tool"))
    assert verified.ok and calls == LOOKED_UP
    (guarded,) = guarded_tools(session, [anthropic.beta_tool(get_order)])
    with pytest.raises(Exception, match="WRONG_TYPE"):
        guarded.call({"id": "seven"})


def test_litellm(model):
    litellm = pytest.importorskip("litellm")
    from counterfoil.adapters.litellm import CounterfoilLogger

    heard = []
    logger = CounterfoilLogger(on_report=heard.append)
    litellm.callbacks = [logger]
    try:
        for question in ("honest", "lie"):
            litellm.completion(
                model="openai/m-1",
                api_base=f"http://127.0.0.1:{model}/v1",
                api_key="none",
                messages=[{"role": "user", "content": question}],
                tools=[{"type": "function", "function": {"name": "cancel_order"}}],
            )
        for _ in range(500):
            if len(logger.reports) == 2:
                break
            import time

            time.sleep(0.02)
    finally:
        litellm.callbacks = []
    assert sorted(len(report.errors) for report in logger.reports) == [0, 1]
    assert [finding.rule for finding in heard[0].errors] == ["FK010"]
    message = litellm.ModelResponse(
        choices=[{"message": {"role": "assistant", "content": "I have cancelled order 7."}}]
    )
    data = {"messages": [{"role": "user", "content": "Cancel 7."}], "tools": []}
    asked = CounterfoilLogger(replace=True).async_post_call_success_hook(data, None, message)
    assert "not shown" in asyncio.run(asked).choices[0].message.content


def test_mcp(session, tmp_path):
    mcp = pytest.importorskip("mcp")
    from counterfoil.adapters.mcp import GuardedClient

    server = tmp_path / "server.py"
    server.write_text(
        """
import json
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
app = Server("shop")

@app.tool()
def get_order(id: int) -> str:
    if id == 9:
        raise ValueError("no such order")
    return json.dumps({"id": id, "status": "shipped"})

app.run()
"""
    )

    async def main():
        from mcp.client.stdio import stdio_client

        parameters = mcp.StdioServerParameters(command=sys.executable, args=[str(server)])
        async with stdio_client(parameters) as (read, write):
            async with mcp.ClientSession(read, write) as client:
                await client.initialize()
                guarded = await GuardedClient.of(client, session)
                return [
                    await guarded.call_tool("get_order", {"id": 7}),
                    await guarded.call_tool("get_order", {"id": "seven"}),
                    await guarded.call_tool("get_order", {"id": 9}),
                    await guarded.call_tool("cancel_order", {"id": 7}),
                ]

    results = asyncio.run(main())
    texts = [result.content[0].text for result in results]
    failed = [getattr(r, "is_error", getattr(r, "isError", None)) for r in results]
    assert "shipped" in texts[0] and "WRONG_TYPE" in texts[1] and "UNKNOWN_TOOL" in texts[3]
    assert [bool(one) for one in failed] == [False, True, True, True]
    statuses = [receipt["status"] for receipt in session.receipts()]
    assert statuses == ["completed", "refused", "failed", "refused"]


def test_inspect(tmp_path, monkeypatch):
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelAPI, ModelOutput, get_model
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    from counterfoil.adapters.inspect import supported

    # Its tokenizer is downloaded at run time.
    async def estimated(self, text):
        return len(text) // 4

    monkeypatch.setattr(ModelAPI, "count_text_tokens", estimated)

    @tool
    def cancel_order():
        async def execute(id: str) -> str:
            """Cancels.

            Args:
                id: Of the order.
            """
            return json.dumps({"id": id, "status": "cancelled"})

        return execute

    def ask(*outputs):
        (log,) = inspect_ai.eval(
            inspect_ai.Task(
                dataset=[Sample(input="Cancel order #B20481.", target="x")],
                solver=[use_tools(cancel_order()), generate()],
                scorer=supported(),
            ),
            model=get_model("mockllm/model", custom_outputs=list(outputs)),
            display="none",
            log_dir=str(tmp_path),
        )
        assert log.status == "success", log.error
        return log.samples[0].scores["counterfoil"].value

    said = ModelOutput.from_content("mockllm/model", "Order #B20481 has been cancelled.")
    call = ModelOutput.for_tool_call("mockllm/model", "cancel_order", {"id": "#B20481"})
    wrong = ModelOutput.for_tool_call("mockllm/model", "cancel_order", {"id": "#B20418"})
    assert ask(call, said) == "C"
    assert ask(wrong, said) == "I"


def test_deepeval():
    pytest.importorskip("deepeval")
    from deepeval.test_case import LLMTestCase, ToolCall

    from counterfoil.adapters.deepeval import SupportedMetric

    def measured(*calls):
        case = LLMTestCase(
            input="Cancel order #B20481.",
            actual_output="Order #B20481 has been cancelled.",
            tools_called=list(calls),
        )
        metric = SupportedMetric()
        return metric.measure(case), metric.is_successful(), metric.reason

    def call(id):
        output = {"id": id, "status": "cancelled"}
        return ToolCall(name="cancel_order", input_parameters={"id": id}, output=output)

    assert measured(call("#B20481"))[:2] == (1.0, True)
    score, success, _ = measured(call("#B20418"))
    assert score < 1 and not success
    score, success, reason = measured()
    assert score < 1 and not success and "FK010" in reason


def test_promptfoo(tmp_path):
    from counterfoil.adapters.promptfoo import get_assert

    said = "I have cancelled order 7."
    before = [{"role": "user", "content": "Cancel order 7."}]
    graded = get_assert(said, {"vars": {"messages": json.dumps(before), "tools": "[]"}})
    assert (graded["pass"], graded["score"]) == (False, 0.0) and "FK010" in graded["reason"]
    assert get_assert("Order 7 is shipped.", {})["pass"]
    log = tmp_path / "log.json"
    log.write_text(json.dumps([*before, {"role": "assistant", "content": "I did nothing."}]))
    done = subprocess.run(
        [sys.executable, "-m", "counterfoil.adapters.promptfoo", str(log)],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, json.loads(done.stdout)["pass"]) == (0, True), done.stderr
