"""The programs of the pages about frameworks: they run, and print what the pages say."""

import os
import re
import subprocess
import sys

import pytest
from test_adapters import ROOT, model  # noqa: F401

PAGES = ROOT / "docs" / "frameworks"
NEEDS = {
    "anthropic": "anthropic",
    "deepeval": "deepeval",
    "inspect": "inspect_ai",
    "langchain": "langchain_openai",
    "litellm": "litellm",
    "mcp": "mcp",
    "openai-agents": "agents",
    "promptfoo": None,
    "pydantic-ai": "pydantic_ai",
    "pytest": "pytest",
    "smolagents": "smolagents",
}
SHOP = """
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
app = Server("shop")

@app.tool()
def get_order(id: int) -> str:
    return '{"id": 7, "status": "shipped"}'

app.run()
"""
# Its tokenizer is downloaded at run time.
OFFLINE = """
from inspect_ai.model import ModelAPI

async def _estimated(self, text):
    return len(text) // 4

ModelAPI.count_text_tokens = _estimated
"""


def test_every_page_is_here():
    if not PAGES.is_dir():
        pytest.skip("the pages are not beside this checkout")
    assert {page.stem for page in PAGES.glob("*.md")} == set(NEEDS)


@pytest.mark.parametrize("page", sorted(NEEDS))
def test_page(page, model, tmp_path):  # noqa: F811
    if NEEDS[page] is not None:
        pytest.importorskip(NEEDS[page])
    text = (PAGES / f"{page}.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    (tmp_path / "shop.py").write_text(SHOP)
    environment = {
        **os.environ,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model}/v1",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model}",
        "PYTHONWARNINGS": "ignore",
    }
    name = "test_page.py" if page == "pytest" else "page.py"
    (tmp_path / name).write_text(OFFLINE + program if page == "inspect" else program)
    runner = [sys.executable, *(["-m", "pytest", "-q"] if page == "pytest" else []), name]
    done = subprocess.run(
        runner, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if page == "pytest":
        return
    printed = re.search(r"```text\n(.*?)```", text, re.S).group(1)
    assert done.stdout == printed, done.stderr
