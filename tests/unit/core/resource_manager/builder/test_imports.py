"""What a producer pays for handing over its objects."""

import subprocess
import sys

HEAVY = ("kubernetes", "aiohttp", "asyncio", "ssl", "pydantic", "yaml", "socket", "logging")


def test_producers_load_no_client_library_no_validation_and_no_event_loop() -> None:
    program = (
        "import sys; before = set(sys.modules); "
        "import hedgerow.resource_manager.garbage_collection, hedgerow.resource_manager.builder; "
        f"print(*sorted((set(sys.modules) - before) & set({HEAVY!r})))"
    )

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert result.stdout.split() == []
