"""The differences between the agents: programs, settings and environment."""

import json
import os
import re
import subprocess
from pathlib import Path


class ClaudeCode:
    name, title, program = "claude-code", "Claude Code", "claude"
    settings, logs, servers = ".claude/settings.json", ".claude/projects", ".claude.json"
    has_to_wait = False

    def prepare(self, home, url):
        pass

    def environment(self, url):
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            # Without this it refuses to skip permissions as root.
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }

    def turn(self, root, scenario, number, prompt):
        mode = "default" if scenario.get("asks") else "bypassPermissions"
        words = ["-p", prompt, "--permission-mode", mode, "--output-format", "stream-json", "--verbose"]
        if scenario.get("installed_by") == "plugin":
            words += ["--plugin-dir", root / "plugins/claude-code"]
        return words + (["--continue"] if number else [])


class Codex:
    name, title, program = "codex", "Codex", "codex"
    settings, logs, servers = ".codex/hooks.json", ".codex/sessions", ".codex/config.toml"
    # Its sub-agents run in parallel, so it has to wait for them.
    has_to_wait = True

    def prepare(self, home, url):
        (home / ".codex").mkdir()
        (home / self.servers).write_text(
            'model = "gpt-5.5"\nmodel_provider = "scripted"\n'
            "check_for_update_on_startup = false\n[analytics]\nenabled = false\n"
            "[features]\nmulti_agent_v2 = true\n"
            f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{url}/v1"\n'
            'wire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n')

    def environment(self, url):
        return {"SCRIPTED_KEY": "none"}

    def turn(self, root, scenario, number, prompt):
        words = ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"]
        if scenario.get("installed_by") != "untrusted":
            words.append("--dangerously-bypass-hook-trust")
        return [*words, prompt]


class Gemini:
    name, title, program = "gemini", "Gemini CLI", "gemini"
    settings, logs, servers = ".gemini/settings.json", ".gemini/tmp", ".gemini/settings.json"
    has_to_wait = False

    def prepare(self, home, url):
        (home / ".gemini").mkdir()
        (home / self.settings).write_text(json.dumps({
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
        }, indent=2))

    def environment(self, url):
        return {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "none",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def turn(self, root, scenario, number, prompt):
        return ["-p", prompt, "--yolo", "-m", "gemini-2.5-flash"]


def installed(folder):
    """The agents in this folder or on `PATH`, each with its program and version."""
    folders = [folder] if folder else os.environ["PATH"].split(os.pathsep)
    found = []
    for agent in [ClaudeCode(), Codex(), Gemini()]:
        programs = [Path(folder).absolute() / agent.program for folder in folders]
        agent.at = next((program for program in programs if program.exists()), None)
        if agent.at:
            said = subprocess.run([agent.at, "--version"], capture_output=True, text=True).stdout
            number = re.search(r"\b\d\S*", said)
            agent.version = number.group() if number else "unknown"
            found.append(agent)
    return found


def list_server(agent, home, name, command):
    """Adds an MCP server to the settings, as a user would, and returns the file."""
    path = home / agent.servers
    text = path.read_text() if path.exists() else ""
    if path.suffix == ".toml":
        text += f'[mcp_servers.{name}]\ncommand = "{command}"\n'
    else:
        settings = json.loads(text or "{}")
        settings["mcpServers"] = {name: {"command": command, "args": []}}
        text = json.dumps(settings, indent=2)
    path.write_text(text)
    return path
