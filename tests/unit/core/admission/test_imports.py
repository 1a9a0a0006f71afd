"""What an embedding tool pays for the webhooks."""

import subprocess
import sys

HEAVY = ("kubernetes", "aiohttp", "asyncio", "ssl", "pydantic", "yaml", "socket", "logging", "cryptography")


def test_the_webhooks_load_no_client_library_no_validation_and_no_cryptography() -> None:
    program = (
        "import sys; before = set(sys.modules); "
        "import hedgerow.admission.catalog, hedgerow.admission.blocking, "
        "hedgerow.admission.review; "
        f"print(*sorted((set(sys.modules) - before) & set({HEAVY!r})))"
    )

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert result.stdout.split() == []
