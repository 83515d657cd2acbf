"""Whether a call's arguments are what its tool's schema says, by JSON Schema's own suite."""

import json
import subprocess
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass
class Call:
    """Arguments for one parameter `value` of a tool, and whether its schema allows them."""

    schema: dict
    value: object
    valid: bool

    def parameters(self):
        """The schema of the tool that has this one parameter."""
        return {
            "$schema": DRAFT,
            "type": "object",
            "properties": {"value": self.schema},
            "required": ["value"],
        }


def suite(place):
    """The required cases of draft 2020-12; those that fetch other documents are left out."""
    archives = sorted(Path(place).glob("jsonschema-*.tar.gz"))
    if not archives:
        return []
    calls = []
    with tarfile.open(archives[-1]) as archive:
        for member in archive.getmembers():
            _, _, path = member.name.partition("/json/tests/draft2020-12/")
            if not path.endswith(".json") or "/" in path:
                continue
            for group in json.load(archive.extractfile(member)):
                schema = group["schema"]
                # A reference to its own root means another document once it is a parameter's.
                if "$ref" in json.dumps(schema) or "$dynamicRef" in json.dumps(schema):
                    continue
                if isinstance(schema, dict):
                    schema = {key: value for key, value in schema.items() if key != "$schema"}
                calls += [Call(schema, test["data"], test["valid"]) for test in group["tests"]]
    return calls


def counterfoil(program, place, calls):
    """Whether each call is let through, and the seconds it took for all."""
    tools, lines = Path(place) / "tools.json", Path(place) / "calls.jsonl"
    named = [
        {"name": f"tool_{number}", "description": "", "parameters": call.parameters()}
        for number, call in enumerate(calls)
    ]
    tools.write_text(json.dumps([{"type": "function", "function": tool} for tool in named]))
    with lines.open("w") as out:
        for number, call in enumerate(calls):
            row = {"name": f"tool_{number}", "arguments": {"value": call.value}}
            out.write(json.dumps(row) + "\n")
    begun = time.perf_counter()
    command = [program, "validate", "--no-config", "--tools", str(tools), str(lines)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begun
    if ran.returncode not in (0, 1):
        raise RuntimeError(ran.stderr)
    return [json.loads(line)["valid"] for line in ran.stdout.splitlines()], seconds


def jsonschema(calls):
    """The same by the package jsonschema."""
    from jsonschema import Draft202012Validator

    begun = time.perf_counter()
    said = [
        Draft202012Validator(call.parameters()).is_valid({"value": call.value}) for call in calls
    ]
    return said, time.perf_counter() - begun


def fastjsonschema(calls):
    """The same by the package fastjsonschema; what it cannot compile is let through."""
    import fastjsonschema as fast

    def allows(call):
        try:
            fast.compile(call.parameters())({"value": call.value})
        except fast.JsonSchemaValueException:
            return False
        except Exception:
            return True
        return True

    begun = time.perf_counter()
    said = [allows(call) for call in calls]
    return said, time.perf_counter() - begun
