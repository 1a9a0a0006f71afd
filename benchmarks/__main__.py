"""Prints all figures of docs/performance.md."""

import os
import platform
from datetime import UTC, datetime

from benchmarks import cold, imports, planner


def main() -> None:
    """Measure everything, one after the other."""
    print(f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} processors")
    print(imports.measure("hedgerow"))
    print(imports.measure("hedgerow.resource_manager.network_policies"))
    print("\n".join(planner.measure()))
    print("\n".join(cold.measure()))


if __name__ == "__main__":
    main()
