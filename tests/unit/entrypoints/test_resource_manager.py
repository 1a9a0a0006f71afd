"""Which controllers a process of the resource manager runs."""

import subprocess
import sys
from typing import Any

import pytest

from hedgerow.resource_manager.configuration import API_VERSION, KIND, ResourceManagerConfiguration, decode
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES
from hedgerow_adapters.compression import brotli_decompressed
from hedgerow_entrypoints.resource_manager import declared_controllers

ALWAYS = ["health", "health-progressing", "managedresource", "secret"]


def configuration(**controllers: Any) -> ResourceManagerConfiguration:
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "leaderElection": {"leaderElect": False},
        "sourceClientConnection": {"namespaces": ["garden"]},
        "targetClientConnection": {"namespaces": ["kube-system"]},
        "controllers": controllers,
    }
    return decode(document).unwrap().configuration


def test_what_looks_after_managed_resources_always_runs() -> None:
    assert [each.name for each in declared_controllers(configuration(), "")] == ALWAYS


def test_controllers_start_in_the_order_of_the_reference() -> None:
    everything = configuration(garbageCollector={"enabled": True}, networkPolicy={"enabled": True})

    assert [each.name for each in declared_controllers(everything, "")] == [
        "garbage-collector",
        "health",
        "health-progressing",
        "managedresource",
        "networkpolicy",
        "secret",
    ]


def test_a_cluster_that_does_not_know_managed_resources_yet_keeps_no_controller_from_being_ready() -> None:
    watches = [watch for each in declared_controllers(configuration(), "") for watch in each.watches]
    reads = [watch for watch in watches if watch.resource == MANAGED_RESOURCES]

    assert [watch.optional for watch in reads] == [True] * len(ALWAYS)
    assert len({watch.keep for watch in reads}) == 1, "they share one cache"


def test_controllers_are_told_what_the_file_says() -> None:
    told = configuration(
        resourceClass="seed",
        garbageCollector={"enabled": True, "syncPeriod": "12h"},
        health={"concurrentSyncs": 6, "syncPeriod": "30s"},
        managedResources={"concurrentSyncs": 7, "syncPeriod": "20s", "alwaysUpdate": True, "managedByLabelValue": "us"},
        secret={"concurrentSyncs": 8},
    )
    by_name = {each.name: each for each in declared_controllers(told, "garden-1")}
    judging = by_name["health"].config

    assert {name: each.concurrency for name, each in by_name.items()} == {
        "garbage-collector": 1,
        "health": 6,
        "health-progressing": 6,
        "managedresource": 7,
        "secret": 8,
    }
    assert by_name["health-progressing"].config == judging
    assert (judging.class_filter.own_class, judging.cluster_id, judging.sync_period.seconds) == ("seed", "garden-1", 30)
    applying = by_name["managedresource"].config
    assert (applying.class_filter.own_class, applying.cluster_id, applying.managed_by) == ("seed", "garden-1", "us")
    assert (applying.sync_period, applying.always_update, applying.garbage_collection) == (20, True, True)
    assert applying.decompress is brotli_decompressed
    assert by_name["secret"].config.own_class == "seed"
    collecting = by_name["garbage-collector"].config
    assert (collecting.sync_period.total_seconds(), collecting.namespaces) == (12 * 3600, ("kube-system",))


@pytest.mark.parametrize("module", ["hedgerow_adapters.admission", "hedgerow_entrypoints.admission"])
def test_a_process_without_webhooks_loads_no_server_of_webhooks(module: str) -> None:
    program = f"import sys, hedgerow_entrypoints.resource_manager; print({module!r} in sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert loaded == "False\n"
