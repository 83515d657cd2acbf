"""A program of somebody who checks types strictly. It is looked at, and runs."""

from __future__ import annotations

import asyncio

import counterfoil
from counterfoil import Answer, Finding, Guard, Report, Session, Verified


def in_memory(messages: list[dict[str, object]]) -> list[str]:
    report: Report = counterfoil.check(messages, ["get_order"], severity="warning")
    errors: tuple[Finding, ...] = report.errors
    return [finding.rule for finding in errors]


guard = Guard()


@guard.guarded
def get_order(order_id: str, full: bool = False) -> dict[str, str]:
    """Looks an order up."""
    return {"id": order_id, "status": "pending"}


@guard.tool(reads=True, retrieves=True)
def search(query: str) -> list[str]:
    return [query]


@counterfoil.track_tool_execution
def ping() -> str:
    return "pong"


async def later(session: Session) -> Answer:
    return await session.acall("search", {"query": "x"})


def main() -> str:
    with guard.session() as session:
        order: dict[str, str] = get_order("W1")
        found: Answer = asyncio.run(later(session))
        said: Verified = session.verify("I have cancelled your order.")
        return f"{order['status']} {found.ok} {said.disposition} {search('x')} {ping()['result']}"


if __name__ == "__main__":
    assert main() == "pending True block ['x'] pong", main()
    assert in_memory([{"role": "assistant", "content": "I have cancelled it."}]) == []
