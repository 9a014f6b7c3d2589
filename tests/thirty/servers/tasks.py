"""asyncio: pipes in the loop, the work in tasks and in a thread."""

import asyncio
import json
import sys
import time

import mcp_lines


def slow_sum(arguments):
    time.sleep(0.01)
    return sum(arguments["numbers"])


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    pipe, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(pipe, protocol, None, loop)
    tools = {"sum": ("adds numbers", slow_sum)}
    while line := await reader.readline():
        reply = await asyncio.to_thread(
            mcp_lines.answer, json.loads(line), "tasks", tools)
        if reply:
            writer.write(json.dumps(reply).encode() + b"\n")
            await writer.drain()


asyncio.run(main())
