"""What an embedding tool pays for importing this package."""

import subprocess
import sys

HEAVY = ("kubernetes", "aiohttp", "asyncio", "ssl", "pydantic", "yaml", "socket", "logging")


def test_the_package_loads_no_client_library_no_validation_and_no_event_loop() -> None:
    program = (
        "import sys; before = set(sys.modules); from hedgerow.resource_manager.network_policies import *; "
        f"print(*sorted((set(sys.modules) - before) & set({HEAVY!r})))"
    )

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert result.stdout.split() == []
