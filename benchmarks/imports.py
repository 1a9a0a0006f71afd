"""What `import hedgerow` costs, and what it loads."""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.figures import Figure

PROBE = """
import json, sys, time
before = set(sys.modules)
began = time.perf_counter()
from {module} import *
took = time.perf_counter() - began
print(json.dumps([took, sorted(set(sys.modules) - before)]))
"""
UNWANTED = ("kubernetes", "aiohttp", "asyncio", "ssl", "pydantic")


MODULES = ("hedgerow", "hedgerow.resource_manager.network_policies")
GOAL = 100
MILLISECONDS = 1000


def measure(runs: int = 15) -> Iterator[Figure]:
    """Median time of an import in a fresh interpreter, the number of modules, and which of the unwanted ones load."""
    for module in MODULES:
        results = [_one(module) for _ in range(runs)]
        loaded = results[0][1]
        unwanted = [name for name in UNWANTED if name in loaded]
        median = statistics.median(took for took, _ in results) * MILLISECONDS
        yield Figure.at_most(f"import {module}", median, "ms", GOAL)
        yield Figure(f"import {module}: modules that it loads", len(loaded))
        yield Figure(f"import {module}: unwanted ones", ", ".join(unwanted) or "none", "", "none", not unwanted)


def _one(module: str) -> tuple[float, list[str]]:
    command = [sys.executable, "-c", PROBE.format(module=module)]
    took, modules = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return took, modules
