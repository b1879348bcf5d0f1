"""Time of AgentScope's permission engine on commands from standard input, one JSON text per line.

Prints the least microseconds of CPU time per command, one number per line.
"""
import asyncio
import json
import sys
import time

from agentscope.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope.tool import Bash


async def main() -> None:
    engine = PermissionEngine(PermissionContext(mode=PermissionMode.DEFAULT))
    for at in range(100):
        engine.add_rule(
            PermissionRule(
                tool_name="Bash",
                rule_content=f"tool{at} run:*",
                behavior=PermissionBehavior.ALLOW,
                source="userSettings",
            )
        )
    tool = Bash()
    for line in sys.stdin:
        command = json.loads(line)
        least = float("inf")
        for _ in range(20):
            start = time.thread_time_ns()
            await engine.check_permission(tool, {"command": command})
            least = min(least, time.thread_time_ns() - start)
        print(least / 1000)


asyncio.run(main())
