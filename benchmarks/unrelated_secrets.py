"""What a running process costs more when the cluster fills with large Secrets that are none of its business."""

import base64
import os
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.bare_client import send_all
from benchmarks.cluster import SMALL, Size, cluster, wait_for_calm, wait_for_policies
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.prepared import Prepared, creation
from benchmarks.process import ResourceManager

SECRETS: Final = 5_000
CONTENT: Final = 32 * 1024
SETTLED: Final = 3.0


def measure(command: Command, size: Size = SMALL, count: int = SECRETS) -> Iterator[Figure]:
    """Resident memory before, and how much it has grown when all Secrets exist."""
    with cluster(size) as plane, ResourceManager.at_work(command, "secrets", plane) as process:
        wait_for_policies(plane, size.policies, still=process.require_running)
        wait_for_calm(plane)
        time.sleep(SETTLED)
        before = process.memory()
        send_all(plane, _secrets(size, count))
        time.sleep(SETTLED)
        growth = process.memory() - before
    yield Figure(f"{size}: memory of the idle process", before, "MiB")
    yield Figure.at_most(f"{size}: growth by {count} Secrets of 32 KiB", growth, "MiB", 5)


def _secrets(size: Size, count: int) -> Iterator[Prepared]:
    """One by one, so that they are never all in the memory of the benchmark."""
    content = base64.b64encode(os.urandom(CONTENT)).decode()
    for number in range(count):
        metadata = {"name": f"unrelated-{number}", "namespace": size.namespace(number)}
        yield creation({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"content": content}})
