"""A model on loopback that plays a scenario over the three wires that the agents use."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Marks the task of the only sub-agent.
HELPER = "TASK-ONE"


def text(value):
    """All text in the content of a message."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(text, value))
    if isinstance(value, dict):
        names = ["text", "content", "parts", "encrypted_content"]
        return next((text(value[name]) for name in names if name in value), "")
    return ""


def served(tools, tool, otherwise):
    """The offered name of an MCP server's tool: each client adds the server's name in its own way."""
    return next((n for n in tools if n.startswith("mcp") and n.endswith(tool)), otherwise)


def events(named):
    return "".join(
        f"event: {name}\ndata: {json.dumps({**data, 'type': name})}\n\n" for name, data in named
    )


class Wire:
    inner = ""  # the member of a tool that has the tools of a group

    def tools(self, body):
        tools = body.get("tools") or []
        every = [t for tool in tools for t in [tool, *(tool.get(self.inner) or [])]]
        return [name for t in every if (name := t.get("name") or t.get("type"))]

    def beside_the_session(self, body):
        """The answer to a request that the agent's program makes for itself, if it is one."""
        return None if self.tools(body) else "ok"


class Anthropic(Wire):
    def words(self, body):
        return text(body["messages"][0]["content"])

    def replies(self, body, _threads):
        return sum(m["role"] == "assistant" for m in body["messages"])

    def block(self, kind, value, body, number, alone):
        tools = self.tools(body)
        agent = "Agent" if "Agent" in tools else "Task"
        task = {"description": "A task", "prompt": value, "subagent_type": "general-purpose"}
        command = {"command": value, "description": "Runs it"}
        if kind in ("say", "wait"):
            return {"type": "text", "text": value}
        if kind == "call":
            # The agent lists such tools only for models that search for them, but runs them anyway.
            hidden = "mcp__files__" + value["tool"]
            name, given = served(tools, value["tool"], hidden), value["arguments"]
        elif kind == "edit":
            name, given = "Edit", {
                "file_path": value["path"], "old_string": value["old"], "new_string": value["new"]}
        else:
            name, given = {
                "run": ("Bash", command),
                "run_in_background": ("Bash", {**command, "run_in_background": True}),
                "read": ("Read", {"file_path": value}),
                "write": ("Write", kind == "write" and {
                    "file_path": value["path"], "content": value["text"]}),
                "delegate": (agent, task),
                "delegate_in_background": (agent, {**task, "run_in_background": True}),
            }[kind]
        return {"type": "tool_use", "id": f"toolu_{number:024}", "name": name, "input": given}

    def encoded(self, path, body, blocks, number):
        reason = "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"
        usage = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0,
                 "cache_read_input_tokens": 0}
        message = {"id": f"msg_{number:024}", "type": "message", "role": "assistant",
                   "model": body.get("model"), "content": [], "stop_reason": None,
                   "stop_sequence": None, "usage": usage}
        if body.get("stream") is not True:
            return "application/json", json.dumps(
                {**message, "content": blocks, "stop_reason": reason})
        said = [("message_start", {"message": message})]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                start = {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": block["text"]}
            else:
                start = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            said.append(("content_block_start", {"index": index, "content_block": start}))
            said.append(("content_block_delta", {"index": index, "delta": delta}))
            said.append(("content_block_stop", {"index": index}))
        delta = {"stop_reason": reason, "stop_sequence": None}
        said += [("message_delta", {"delta": delta, "usage": usage}), ("message_stop", {})]
        return "text/event-stream", events(said)


class Responses(Wire):
    inner = "tools"

    def words(self, body):
        # A sub-agent's task is a message of the agent that started it.
        return "".join(
            text(item.get("content")) for item in body.get("input", [])
            if item.get("role") == "user"
            or item.get("type") == "agent_message" and item.get("author") == "/root")

    def replies(self, body, threads):
        # The history does not contain all replies, so they are counted.
        named = (body.get("client_metadata") or {}).get("thread_id")
        thread = named or body.get("prompt_cache_key") or "only"
        threads[thread] = threads.get(thread, -1) + 1
        return threads[thread]

    def block(self, kind, value, body, number, alone):
        tools = self.tools(body)
        call_id = f"call_{number:024}"

        def shell(command):
            if "exec_command" in tools:
                return "exec_command", {"cmd": command}
            if "shell_command" in tools:
                return "shell_command", {"command": command}
            return "shell", {"command": ["bash", "-lc", command]}

        if kind == "say":
            content = [{"type": "output_text", "text": value, "annotations": []}]
            return {"type": "message", "role": "assistant", "id": f"msg_{number:024}",
                    "content": content}
        if kind in ("edit", "write"):
            patch = patched(kind, value)
            custom = {"type": "custom", "name": "apply_patch"}
            if any(custom.items() <= tool.items() for tool in plain(body.get("tools"))):
                return {"type": "custom_tool_call", "call_id": call_id, "name": "apply_patch",
                        "input": patch}
            name, given = shell(f"apply_patch <<'EOF'\n{patch}\nEOF")
        elif kind == "call":
            name, given = served(tools, value["tool"], value["tool"]), value["arguments"]
        elif kind == "wait":
            name, given = "wait_agent", {}
        elif kind.startswith("delegate"):
            name, given = "spawn_agent", {"message": value, "task_name": "look"}
        else:
            name, given = shell(f"cat {value}" if kind == "read" else value)
        call = {"type": "function_call", "call_id": call_id, "name": name,
                "arguments": json.dumps(given)}
        for group in body.get("tools") or []:
            if any(tool.get("name") == name for tool in group.get("tools") or []):
                return {**call, "namespace": group["name"]}
        # The agent lists such tools only for models that search for them, but runs them anyway.
        return {**call, "namespace": "mcp__files"} if kind == "call" else call

    def encoded(self, path, body, blocks, number):
        id = f"resp_{number:024}"
        said = [("response.created", {"response": {"id": id}})]
        for index, block in enumerate(blocks):
            message = block["type"] == "message"
            added = {**block, "content": []} if message else block
            said.append(("response.output_item.added", {"output_index": index, "item": added}))
            if message:
                delta = {"item_id": block["id"], "output_index": index, "content_index": 0,
                         "delta": block["content"][0]["text"]}
                said.append(("response.output_text.delta", delta))
            said.append(("response.output_item.done", {"output_index": index, "item": block}))
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
                 "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 0},
                 "total_tokens": 120}
        response = {"id": id, "usage": usage, "output": blocks}
        said.append(("response.completed", {"response": response}))
        return "text/event-stream", events(said)


def plain(tools):
    """The members of tools that are no lists, so that they can be compared."""
    return [{k: v for k, v in t.items() if isinstance(v, str)} for t in tools or []]


def patched(kind, value):
    def marked(lines, mark):
        return "".join(f"{mark}{line}\n" for line in lines.splitlines())

    path = value["path"]
    if kind == "write":
        change = f"*** Add File: {path}\n{marked(value['text'], '+')}"
    else:
        change = f"*** Update File: {path}\n@@\n{marked(value['old'], '-')}{marked(value['new'], '+')}"
    return f"*** Begin Patch\n{change}*** End Patch"


class Gemini(Wire):
    inner = "functionDeclarations"

    def words(self, body):
        users = [c for c in body["contents"] if c.get("role") == "user"]
        return "\n".join(text(c.get("parts")) for c in users)

    def replies(self, body, _threads):
        return sum(c.get("role") == "model" for c in body["contents"])

    def beside_the_session(self, body):
        config = body.get("generationConfig") or {}
        if "json" not in (config.get("responseMimeType") or ""):
            return super().beside_the_session(body)
        schema = f"{config.get('responseJsonSchema')}{config.get('responseSchema')}"
        if "next_speaker" in schema:
            return json.dumps({"reasoning": "It is done.", "next_speaker": "user"})
        if "complexity_score" in schema:
            return json.dumps({"complexity_reasoning": "It is easy.", "complexity_score": 10})
        return json.dumps({"reasoning": "It is easy.", "model_choice": "flash"})

    def block(self, kind, value, body, number, alone):
        tools = self.tools(body)
        if kind == "say" and alone and "complete_task" in tools:
            # A sub-agent reports by calling this.
            name, given = "complete_task", {"result": {"response": value}}
        elif kind in ("say", "wait"):
            return {"text": value}
        elif kind == "call":
            name, given = served(tools, value["tool"], value["tool"]), value["arguments"]
        elif kind == "edit":
            name, given = "replace", {
                "file_path": value["path"], "instruction": "Change it.",
                "old_string": value["old"], "new_string": value["new"], "allow_multiple": False}
        elif kind == "write":
            name, given = "write_file", {"file_path": value["path"], "content": value["text"]}
        elif kind == "read":
            name, given = "read_file", {"file_path": value}
        elif kind.startswith("delegate"):
            name, given = "invoke_agent", {"agent_name": "generalist", "prompt": value}
        else:
            name, given = "run_shell_command", {"command": value, "description": "Runs it"}
        return {"functionCall": {"name": name, "args": given}}

    def encoded(self, path, body, blocks, number):
        content = {"role": "model", "parts": blocks}
        tokens = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
        reply = json.dumps({
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": tokens, "modelVersion": "scripted"})
        if path.endswith(":streamGenerateContent"):
            return "text/event-stream", f"data: {reply}\r\n\r\n"
        return "application/json", reply


def wire_of(path):
    if path.endswith("/v1/messages"):
        return Anthropic()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Gemini()
    return None


def beside(path):
    """The answer to a request that is not meant for the model."""
    if path.endswith("count_tokens"):
        return 200, {"input_tokens": 100}
    if path.endswith(":countTokens"):
        return 200, {"totalTokens": 100}
    if path.endswith("/models") or path == "/":
        return 200, {"data": [], "models": []}
    return 404, {}


def newest(body):
    """The newest part of a conversation, which the model has not seen before."""
    items = next((body[n] for n in ("messages", "input", "contents") if body.get(n)), [])
    parts = []
    for item in reversed(items):
        parts.append(json.dumps(item, ensure_ascii=False))
        # A hook's text may follow a result as a system message.
        if item.get("role") != "system":
            break
    return "\n".join(parts)


class Model:
    """A running model. `asked` has who asked, and what: `Agent`, `Helper`, or `Program`."""

    def __init__(self, steps, helper, latency, kept):
        self.scripts = {"Agent": steps, "Helper": helper}
        self.latency, self.kept = latency, kept
        self.asked, self.threads, self.lock = [], {}, threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                path = self.path.split("?")[0]
                length = int(self.headers.get("content-length") or 0)
                sent = self.rfile.read(length) if length else self.chunks()
                wire = wire_of(path)
                if wire:
                    status, (kind, said) = 200, model.play(wire, path, json.loads(sent))
                    time.sleep(model.latency)
                else:
                    status, said = beside(path)
                    kind, said = "application/json", json.dumps(said)
                said = said.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_GET = do_POST

            def chunks(self):
                if "chunked" not in (self.headers.get("transfer-encoding") or ""):
                    return b""
                sent = b""
                while size := int(self.rfile.readline(), 16):
                    sent += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return sent

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, wire, path, body):
        with self.lock:
            number = len(self.asked) + 1
            who, actions = "Program", None
            said = wire.beside_the_session(body)
            if said is None:
                who = "Helper" if HELPER in wire.words(body) else "Agent"
                step, script = wire.replies(body, self.threads), self.scripts[who]
                if step < len(script):
                    actions = script[step]
                else:
                    said = "(the script is at its end)"
            actions = actions or [("say", said)]
            blocks = [
                wire.block(kind, value, body, number * 100 + at, len(actions) == 1)
                for at, (kind, value) in enumerate(actions)]
            self.asked.append((who, body))
        record = {"path": path, "request": body, "reply": blocks}
        (self.kept / f"{number:03}-{who}.json").write_text(json.dumps(record))
        return wire.encoded(path, body, blocks, number)

    def stop(self):
        self.server.shutdown()
