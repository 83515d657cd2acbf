"""Recorded dialogues, played by an unmodified OpenAI client: the model says what is recorded.

Reads rows of JSON, one a line; writes one line for each answer that ended a turn.
"""

import json
import sys

from openai import OpenAI

from model import start

ROWS = [json.loads(line) for line in open(sys.argv[1])]
FEEDBACK = "my answer said things that the record"


def scripted(headers, body):
    """The recorded answer; the same once more where it was sent back."""
    row = ROWS[int(headers["x-row"])]
    texts = [m for m in body["messages"] if m["role"] == "assistant"]
    back = sum(FEEDBACK in str(m.get("content")) for m in body["messages"] if m["role"] == "user")
    recorded = [m for m in row["messages"] if m["role"] == "assistant"]
    said = recorded[len(texts) - back]
    return said.get("content") or "", said.get("tool_calls")


if len(sys.argv) > 2 and sys.argv[2] == "--model":
    import model

    def chat(body, words, calls):
        # The recorded calls as they are.
        message = {"role": "assistant", "content": words}
        if calls:
            message["tool_calls"] = calls
        reason = "tool_calls" if calls else "stop"
        head = {"id": "chatcmpl-1", "created": 1, "model": "m-1"}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
            return json.dumps({**head, "object": "chat.completion", "choices": [choice]})
        head["object"] = "chat.completion.chunk"
        pieces = [words[at:at + 12] for at in range(0, len(words), 12)]
        deltas = [{"role": "assistant", "content": ""}] + [{"content": p} for p in pieces]
        for at, call in enumerate(calls or []):
            deltas.append({"tool_calls": [{**call, "index": at}]})
        chunks = [{"index": 0, "delta": d, "finish_reason": None} for d in deltas]
        chunks.append({"index": 0, "delta": {}, "finish_reason": reason})
        lines = [f"data: {json.dumps({**head, 'choices': [c]})}\n\n" for c in chunks]
        return "".join(lines) + "data: [DONE]\n\n"

    model.WIRES["/chat/completions"] = chat
    print(start(scripted), flush=True)
    sys.stdin.read()
    sys.exit()

client = OpenAI(api_key="none", max_retries=0)
for number, row in enumerate(ROWS):
    headers = {"x-row": str(number), "x-counterfoil-session": f"row-{number}"}
    tools, streams = row.get("tools") or None, number % 2 == 0
    history = []
    for at, message in enumerate(row["messages"]):
        if message["role"] != "assistant":
            history.append(message)
            continue
        asked = {"model": "m-1", "messages": history, "extra_headers": headers}
        if tools:
            asked["tools"] = tools
        if streams:
            with client.chat.completions.stream(**asked) as events:
                for _ in events:
                    pass
                said = events.get_final_completion().choices[0].message
        else:
            said = client.chat.completions.create(**asked).choices[0].message
        text, recorded = said.content or "", message.get("content") or ""
        ended = not message.get("tool_calls")
        print(json.dumps({"row": number, "at": at, "text": text, "recorded": recorded,
                          "ended": ended, "calls": len(said.tool_calls or []),
                          "recorded_calls": len(message.get("tool_calls") or [])}), flush=True)
        # The conversation goes on as it is recorded.
        history.append(message)
