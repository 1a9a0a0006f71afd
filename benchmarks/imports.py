"""What `import hedgerow` costs, and what it loads."""

import json
import statistics
import subprocess
import sys

PROBE = """
import json, sys, time
before = set(sys.modules)
began = time.perf_counter()
import {module}
took = time.perf_counter() - began
print(json.dumps([took, sorted(set(sys.modules) - before)]))
"""
UNWANTED = ("kubernetes", "aiohttp", "asyncio", "ssl", "pydantic")


def measure(module: str, runs: int = 15) -> str:
    """Median time of an import in a fresh interpreter, the number of modules, and which of the unwanted ones load."""
    results = [_one(module) for _ in range(runs)]
    modules = results[0][1]
    unwanted = [name for name in UNWANTED if name in modules] or ["none"]
    median = statistics.median(took for took, _ in results)
    return (
        f"import {module}: {median * 1000:.0f} ms, {len(modules)} modules, of the unwanted ones: {', '.join(unwanted)}"
    )


def _one(module: str) -> tuple[float, list[str]]:
    command = [sys.executable, "-c", PROBE.format(module=module)]
    took, modules = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return took, modules
