"""Sessions with a label each: whether the last answer tells something that is not so."""

import json
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

#: The pages whose sessions were written last, by writers who had seen no rule.
PAGES = ("compilers.md", "paymasters.md", "porters.md")


@dataclass
class Step:
    """What happened in a session: a message, a call, or its result."""

    kind: str  # system, user, assistant, call, ok, fail
    text: str = ""
    tool: str = ""
    arguments: dict = field(default_factory=dict)


@dataclass
class Session:
    """A session; its last step is the answer in question."""

    name: str
    steps: list[Step]
    lies: bool
    tools: list[dict]

    def as_chat(self):
        """The session as messages of a chat, which many programs write."""
        messages, waiting = [], []
        for number, step in enumerate(self.steps):
            if step.kind == "call":
                call = {"name": step.tool.replace(".", "_"), "arguments": json.dumps(step.arguments)}
                calls = [{"id": f"call_{number}", "type": "function", "function": call}]
                messages.append({"role": "assistant", "content": None, "tool_calls": calls})
                waiting.append(f"call_{number}")
            elif step.kind in ("ok", "fail"):
                message = {"role": "tool", "content": step.text}
                message["tool_call_id"] = waiting.pop(0) if waiting else "none"
                if step.kind == "fail":
                    message["is_error"] = True
                messages.append(message)
            else:
                messages.append({"role": step.kind, "content": step.text})
        chat = {"id": self.name, "messages": messages}
        if self.tools:
            chat["tools"] = [{"type": "function", "function": tool} for tool in self.tools]
        return chat


def of_pages(root):
    """The sessions of our own pages (`bench/pages/`)."""
    sessions = []
    for page in PAGES:
        text = (Path(root) / "bench" / "pages" / page).read_text()
        tools, steps, section = [], [], ""
        for word, body in _blocks(text):
            if word == "##":
                section = body
            elif word == "record":
                tools, steps = _record(body)
            elif word in ("lies", "honest"):
                for line in filter(None, body.splitlines()):
                    answer = Step("assistant", line.replace("\\n", "\n"))
                    name = f"{page}: {section}"
                    sessions.append(Session(name, [*steps, answer], word == "lies", tools))
    return sessions


def _blocks(text):
    """Headings (`##`) and fenced blocks of a page, with the first word of the fence."""
    word, body = None, []
    for line in text.splitlines():
        if word is None:
            if line.startswith("## "):
                yield "##", line[3:]
            elif line.startswith("```"):
                word, body = line[3:].split(" ")[0], []
        elif line == "```":
            yield word, "\n".join(body)
            word = None
        else:
            body.append(line)


def _record(text):
    """The lines of a record; what is indented belongs to the line before."""
    entries = []
    for line in text.splitlines():
        if line.startswith("  ") and entries:
            entries[-1][1] += "\n" + line[2:]
        elif line.strip():
            word, _, rest = line.partition(":")
            entries.append([word, rest.removeprefix(" ")])
    tools, steps = [], []
    for word, rest in entries:
        if word == "tools":
            tools.extend(json.loads(line) for line in rest.splitlines() if line.startswith("{"))
        elif word == "call":
            tool, _, arguments = rest.partition(" ")
            steps.append(Step("call", tool=tool, arguments=json.loads(arguments or "{}")))
        elif word in ("system", "user", "assistant", "ok", "fail"):
            steps.append(Step(word, rest))
        else:
            raise ValueError(f"`{word}` is no line that this reads")
    return tools, steps


def of_claimcheck_bench():
    """The test split of claimcheck-bench v1 (Apache-2.0), out of the installed package.

    What it measures with: text and calls. Claims in a structure and states that somebody looked up
    afterwards are left out, as an agent's log has neither.
    """
    data = resources.files("agent_claimcheck") / "_data" / "benchmark" / "v1" / "traces.test.jsonl"
    sessions = []
    for line in data.read_text().splitlines():
        trace = json.loads(line)
        steps = [step for step in map(_of_trace, trace["steps"]) if step]
        claim = trace["final_claim"]["text"]
        if not steps or (steps[-1].kind, steps[-1].text) != ("assistant", claim):
            steps.append(Step("assistant", claim))
        lies = trace["ground_truth"]["outcome"] == "failure"
        sessions.append(Session(trace["trace_id"], steps, lies, []))
    return sessions


def _of_trace(step):
    kind = step["kind"]
    if kind == "message":
        role = {"agent": "assistant", "system": "system"}.get(step["role"], "user")
        return Step(role, step["content"])
    if kind == "tool_call":
        return Step("call", tool=step["name"], arguments=step["args"] or {})
    if kind == "tool_result":
        out = step["output"]
        if step["ok"] is False:
            return Step("fail", json.dumps({"ok": False, "error": step["error"], "output": out}))
        return Step("ok", out if isinstance(out, str) else json.dumps(out))
    return None
