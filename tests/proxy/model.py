"""A model that follows a script, on three wires: chat completions, responses, messages.

What it says depends on what the user said last:
  honest      the order is shipped
  lie         it has cancelled an order, which no call did; put right when it is told so
  stubborn    the same, and it stays with it
  tool        it calls `get_order`, and tells what came of it
  unknown     it calls a tool that there is not; another one when it is told so
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HONEST = "Order 7 is shipped. It has not been cancelled."
LIE = "I looked at it. I have cancelled order 7. Have a nice day."
BETTER = "Order 7 was not cancelled."
TOLD = "Order 7 is shipped, as the look-up shows."
FEEDBACK = "does not show"
REFUSED = "UNKNOWN_TOOL"


def said(body):
    """What the user said first, and everything as one text."""
    entries = body.get("messages") or body.get("input") or []
    if isinstance(entries, str):
        entries = [{"role": "user", "content": entries}]
    users = [e for e in entries if e.get("role") == "user"]
    return json.dumps(users[0].get("content", "") if users else ""), json.dumps(entries)


def reply(body):
    """Words, and a call."""
    first, everything = said(body)
    answered = "shipped-by-tool" in everything
    if "stubborn" in first:
        return LIE, None
    if "lie" in first:
        return (BETTER if FEEDBACK in everything else LIE), None
    if "tool" in first:
        return (TOLD, None) if answered else ("One moment.", "get_order")
    if "unknown" in first:
        if answered:
            return TOLD, None
        return "One moment.", "get_order" if REFUSED in everything else "refund_order"
    return HONEST, None


def chat(body, words, call):
    arguments = json.dumps({"id": 7})
    message = {"role": "assistant", "content": words}
    reason = "stop"
    if call:
        function = {"name": call, "arguments": arguments}
        message["tool_calls"] = [{"id": "call_7", "type": "function", "function": function}]
        reason = "tool_calls"
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    head = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        return json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    head["object"] = "chat.completion.chunk"
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word + " "} for word in words.split(" ")[:-1]]
    deltas += [{"content": words.split(" ")[-1]}]
    if call:
        begin = {"index": 0, "id": "call_7", "type": "function"}
        deltas.append({"tool_calls": [{**begin, "function": {"name": call, "arguments": ""}}]})
        deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
    chunks = [{**head, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    chunks.append({**head, "choices": [], "usage": usage})
    return "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"


def events(all_events):
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in all_events)


def messages(body, words, call):
    blocks = [{"type": "text", "text": words}]
    if call:
        blocks.append({"type": "tool_use", "id": "toolu_7", "name": call, "input": {"id": 7}})
    reason = "tool_use" if call else "end_turn"
    usage = {"input_tokens": 7, "output_tokens": 5}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
               "content": blocks, "stop_reason": reason, "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return json.dumps(message)
    begun = {**message, "content": [], "stop_reason": None}
    out = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": w + " "} for w in words.split(" ")[:-1]]
            deltas.append({"type": "text_delta", "text": words.split(" ")[-1]})
        else:
            start = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        out.append({"type": "content_block_start", "index": index, "content_block": start})
        out += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        out.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": reason, "stop_sequence": None}
    out.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}})
    out.append({"type": "message_stop"})
    return events(out)


def responses(body, words, call):
    part = {"type": "output_text", "text": words, "annotations": []}
    items = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
              "content": [part]}]
    if call:
        items.append({"type": "function_call", "id": "fc_1", "call_id": "call_7", "name": call,
                      "arguments": json.dumps({"id": 7}), "status": "completed"})
    usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": body["model"],
                "status": "completed", "output": items, "usage": usage, "error": None,
                "incomplete_details": None, "instructions": None, "metadata": {},
                "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto",
                "tools": [], "top_p": 1.0}
    if not body.get("stream"):
        return json.dumps(response)
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    out = [{"type": "response.created", "response": begun}]
    for at, item in enumerate(items):
        place = {"item_id": item["id"], "output_index": at}
        if item["type"] == "message":
            place["content_index"] = 0
            added = {**item, "content": [], "status": "in_progress"}
            empty = {**part, "text": ""}
            out.append({"type": "response.output_item.added", "output_index": at, "item": added})
            out.append({"type": "response.content_part.added", **place, "part": empty})
            pieces = [w + " " for w in words.split(" ")[:-1]] + [words.split(" ")[-1]]
            for piece in pieces:
                out.append({"type": "response.output_text.delta", **place, "delta": piece,
                            "logprobs": []})
            out.append({"type": "response.output_text.done", **place, "text": words,
                        "logprobs": []})
            out.append({"type": "response.content_part.done", **place, "part": part})
        else:
            added = {**item, "arguments": "", "status": "in_progress"}
            arguments = item["arguments"]
            out.append({"type": "response.output_item.added", "output_index": at, "item": added})
            out.append({"type": "response.function_call_arguments.delta", **place,
                        "delta": arguments})
            out.append({"type": "response.function_call_arguments.done", **place,
                        "arguments": arguments, "name": item["name"]})
        out.append({"type": "response.output_item.done", "output_index": at, "item": item})
    out.append({"type": "response.completed", "response": response})
    for number, event in enumerate(out):
        event["sequence_number"] = number
    return events(out)


WIRES = {"/chat/completions": chat, "/messages": messages, "/responses": responses}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.split("?")[0]
        wire = next(wire for end, wire in WIRES.items() if path.endswith(end))
        text = wire(body, *self.server.reply(self.headers, body)).encode()
        kind = "text/event-stream" if body.get("stream") else "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def start(reply=lambda _, body: reply(body)):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.reply = reply
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


if __name__ == "__main__":
    port = start()
    print(port, flush=True)
    sys.stdin.read()
