"""An admission server as a process of its own, whose memory is its own: `python -m ... FOLDER uvloop|asyncio`.

Prints its port; ends when its standard input does.
"""

import asyncio
import sys
from pathlib import Path

import uvloop

from tests.e2e.admission_server.clients import admission_server


async def serve(folder: Path) -> None:
    async with admission_server(folder) as running:
        sys.stdout.write(f"{running.port}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    run = uvloop.run if sys.argv[2] == "uvloop" else asyncio.run
    run(serve(Path(sys.argv[1])))
