"""Real Python clients, unmodified: one line of JSON for each question."""

import asyncio
import json
import os

QUESTIONS = ["honest", "lie", "stubborn", "tool", "unknown"]
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
LOOP = asyncio.new_event_loop()
RESULT = json.dumps({"id": 7, "status": "shipped", "note": "shipped-by-tool"})


def tell(client, question, how, ask):
    try:
        text, called = ask(question, how)
        line = {"text": text, "called": called}
    except Exception as error:  # what a client makes of an answer is what is tried
        line = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"client": client, "question": question, "how": how, **line}), flush=True)


def with_openai_chat(question, how):
    from openai import OpenAI

    client = OpenAI(api_key="none", max_retries=0)
    messages = [{"role": "user", "content": question}]
    tools = [{"type": "function",
              "function": {"name": "get_order", "description": "Looks up.", "parameters": SCHEMA}}]
    called, texts = [], []
    for _ in range(3):
        if how == "stream":
            stream = client.chat.completions.stream(model="m-1", messages=messages, tools=tools)
            with stream as events:
                for _ in events:
                    pass
                message = events.get_final_completion().choices[0].message
        else:
            completion = client.chat.completions.create(model="m-1", messages=messages, tools=tools)
            message = completion.choices[0].message
        texts.append(message.content or "")
        if not message.tool_calls:
            return "\n".join(texts), called
        messages.append(message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
        for call in message.tool_calls:
            called.append(call.function.name)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULT})
    raise RuntimeError("it never ends")


def with_openai_responses(question, how):
    from openai import OpenAI

    client = OpenAI(api_key="none", max_retries=0)
    items = [{"role": "user", "content": question}]
    tools = [{"type": "function", "name": "get_order", "description": "Looks up.",
              "parameters": SCHEMA, "strict": False}]
    called, texts = [], []
    for _ in range(3):
        if how == "stream":
            with client.responses.stream(model="m-1", input=items, tools=tools) as events:
                for _ in events:
                    pass
                response = events.get_final_response()
        else:
            response = client.responses.create(model="m-1", input=items, tools=tools)
        texts.append(response.output_text)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return "\n".join(texts), called
        items += [{"type": "function_call", "call_id": c.call_id, "name": c.name,
                   "arguments": c.arguments} for c in calls]
        for call in calls:
            called.append(call.name)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": RESULT})
    raise RuntimeError("it never ends")


def with_anthropic(question, how):
    from anthropic import Anthropic

    client = Anthropic(api_key="none", max_retries=0)
    messages = [{"role": "user", "content": question}]
    tools = [{"name": "get_order", "description": "Looks up.", "input_schema": SCHEMA}]
    called, texts = [], []
    for _ in range(3):
        asked = {"model": "m-1", "max_tokens": 100, "messages": messages, "tools": tools}
        if how == "stream":
            with client.messages.stream(**asked) as events:
                for _ in events:
                    pass
                message = events.get_final_message()
        else:
            message = client.messages.create(**asked)
        texts += [block.text for block in message.content if block.type == "text"]
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "\n".join(texts), called
        messages.append({"role": "assistant", "content": message.content})
        results = []
        for call in calls:
            called.append(call.name)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": RESULT})
        messages.append({"role": "user", "content": results})
    raise RuntimeError("it never ends")


def with_agents(question, how):
    from agents import Agent, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    called = []

    @function_tool
    def get_order(id: int) -> str:
        """Looks up."""
        called.append("get_order")
        return RESULT

    agent = Agent(name="shop", model="m-1", tools=[get_order])

    async def run():
        if how == "whole":
            return await Runner.run(agent, question)
        result = Runner.run_streamed(agent, question)
        async for _ in result.stream_events():
            pass
        return result

    return LOOP.run_until_complete(run()).final_output, called


def with_langchain(make):
    def ask(question, how):
        from langchain_core.messages import HumanMessage, ToolMessage
        from langchain_core.tools import tool

        called = []

        @tool
        def get_order(id: int) -> str:
            """Looks up."""
            called.append("get_order")
            return RESULT

        model = make().bind_tools([get_order])
        messages, texts = [HumanMessage(question)], []
        for _ in range(3):
            if how == "stream":
                answer = None
                for chunk in model.stream(messages):
                    answer = chunk if answer is None else answer + chunk
            else:
                answer = model.invoke(messages)
            content = answer.content
            if isinstance(content, list):
                content = "".join(block.get("text", "") for block in content)
            texts.append(content)
            if not answer.tool_calls:
                return "\n".join(texts), called
            messages.append(answer)
            for call in answer.tool_calls:
                messages.append(ToolMessage(get_order.invoke(call["args"]), tool_call_id=call["id"]))
        raise RuntimeError("it never ends")

    return ask


def openai_model():
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="m-1", api_key="none", base_url=os.environ["OPENAI_BASE_URL"],
                      max_retries=0)


def anthropic_model():
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model="m-1", api_key="none", base_url=os.environ["ANTHROPIC_BASE_URL"],
                         max_retries=0)


CLIENTS = {
    "openai (Python), chat": with_openai_chat,
    "openai (Python), responses": with_openai_responses,
    "anthropic (Python)": with_anthropic,
    "OpenAI Agents": with_agents,
    "LangChain, OpenAI": with_langchain(openai_model),
    "LangChain, Anthropic": with_langchain(anthropic_model),
}

os.environ.setdefault("OPENAI_API_KEY", "none")
for name, ask in CLIENTS.items():
    for question in QUESTIONS:
        for how in ["whole", "stream"]:
            tell(name, question, how, ask)
