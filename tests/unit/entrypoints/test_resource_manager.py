"""Which controllers a process of the resource manager runs."""

import subprocess
import sys
from ipaddress import ip_network
from typing import Any

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.resource_manager.configuration import API_VERSION, KIND, ResourceManagerConfiguration, decode
from hedgerow_adapters.certificate_requests import decoded_request
from hedgerow_adapters.compression import brotli_decompressed
from hedgerow_entrypoints.components.resource_manager import COMPONENT

ALWAYS = ["health", "health-progressing", "managedresource", "secret"]


OPTIONAL = {
    name: {"enabled": True}
    for name in (
        "garbageCollector",
        "kubeletCSRApprover",
        "networkPolicy",
        "node",
        "tokenInvalidator",
        "tokenRequestor",
    )
}


def document(**controllers: Any) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "leaderElection": {"leaderElect": False},
        "sourceClientConnection": {"namespaces": ["garden"]},
        "targetClientConnection": {"namespaces": ["kube-system"]},
        "controllers": controllers,
        "webhooks": {"tokenInvalidator": {"enabled": "tokenInvalidator" in controllers}},
    }


def configuration(**controllers: Any) -> ResourceManagerConfiguration:
    return decode(document(**controllers)).unwrap().configuration


def test_what_looks_after_managed_resources_always_runs() -> None:
    assert [each.name for each in COMPONENT.declared(configuration(), "")] == ALWAYS


def test_controllers_start_in_the_order_of_the_reference() -> None:
    assert [each.name for each in COMPONENT.declared(configuration(**OPTIONAL), "")] == [
        "kubelet-csr-approver",
        "garbage-collector",
        "health",
        "health-progressing",
        "managedresource",
        "networkpolicy",
        "secret",
        "token-invalidator",
        "token-requestor",
        "node",
    ]


def test_a_cluster_that_does_not_know_managed_resources_yet_keeps_no_controller_from_being_ready() -> None:
    watches = [watch for each in COMPONENT.declared(configuration(), "") for watch in each.watches]
    reads = [watch for watch in watches if watch.resource == MANAGED_RESOURCES]

    assert [watch.may_be_absent for watch in reads] == [True] * len(ALWAYS)
    assert len({watch.transform for watch in reads}) == 1, "they share one cache"


def test_controllers_are_told_what_the_file_says() -> None:
    told = configuration(
        resourceClass="seed",
        garbageCollector={"enabled": True, "syncPeriod": "12h"},
        health={"concurrentSyncs": 6, "syncPeriod": "30s"},
        managedResources={"concurrentSyncs": 7, "syncPeriod": "20s", "alwaysUpdate": True, "managedByLabelValue": "us"},
        secret={"concurrentSyncs": 8},
        kubeletCSRApprover={
            "enabled": True,
            "concurrentSyncs": 9,
            "machineNamespace": "garden",
            "serviceNetworks": ["100.64.0.0/13"],
        },
        node={"enabled": True, "concurrentSyncs": 10, "backoff": "3s"},
        tokenInvalidator={"enabled": True, "concurrentSyncs": 11},
        tokenRequestor={
            "enabled": True,
            "concurrentSyncs": 12,
            "class": "shoot",
            "audiences": ["gardener"],
            "targetNamespace": "kube-system",
            "sourceNamespaces": ["garden"],
        },
    )
    by_name = {each.name: each for each in COMPONENT.declared(told, "garden-1")}
    judging = by_name["health"].config

    assert {name: each.concurrency for name, each in by_name.items()} == {
        "garbage-collector": 1,
        "health": 6,
        "health-progressing": 6,
        "kubelet-csr-approver": 9,
        "managedresource": 7,
        "node": 10,
        "secret": 8,
        "token-invalidator": 11,
        "token-requestor": 12,
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
    approving = by_name["kubelet-csr-approver"].config
    assert (approving.decode, approving.machine_namespace) == (decoded_request, "garden")
    assert approving.service_networks == (ip_network("100.64.0.0/13"),)
    assert approving.namespaces == ("garden",)
    waiting = by_name["node"].config
    assert (waiting.backoff.total_seconds(), waiting.namespaces) == (3, ("kube-system",))
    requesting = by_name["token-requestor"].config
    assert (requesting.class_name, requesting.audiences) == ("shoot", ("gardener",))
    assert (requesting.target_namespace, requesting.source_namespaces) == ("kube-system", ("garden",))


def test_machines_are_looked_for_where_anything_is_seen_at_all() -> None:
    (approver, *_) = COMPONENT.declared(configuration(kubeletCSRApprover={"enabled": True}), "")

    assert (approver.config.machine_namespace, approver.config.namespaces) == ("", ("garden",))


def test_nothing_but_what_every_cluster_serves_is_waited_for() -> None:
    declared = COMPONENT.declared(configuration(**OPTIONAL), "")
    needed = {watch.resource.group for each in declared for watch in each.watches if not watch.may_be_absent}

    assert needed <= {"", "networking.k8s.io", "certificates.k8s.io"}


def test_a_process_loads_nothing_that_is_switched_off() -> None:
    program = f"""
import sys
from hedgerow.resource_manager.configuration import decode
from hedgerow_entrypoints.components.resource_manager import COMPONENT

COMPONENT.declared(decode({document()!r}).unwrap().configuration, "")
print(*sys.modules)
"""
    optional = (
        "cryptography",
        "hedgerow.resource_manager.garbage_collection",
        "hedgerow.resource_manager.kubelet_certificates",
        "hedgerow.resource_manager.nodes",
        "hedgerow.resource_manager.token_invalidation",
        "hedgerow.resource_manager.token_requests",
        "hedgerow_adapters.admission",
        "hedgerow_adapters.certificate_requests",
        "hedgerow_entrypoints.process.admission",
    )

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert set(optional).isdisjoint(loaded)
    assert "hedgerow.resource_manager.managed_resources" in loaded


def test_a_process_with_everything_enabled_reads_its_configuration_without_pydantic() -> None:
    program = f"""
import sys
import hedgerow_entrypoints.process.recording
from hedgerow.resource_manager.configuration import decode
from hedgerow_entrypoints.components.resource_manager import COMPONENT

configuration = decode({document(**OPTIONAL)!r}).unwrap().configuration
COMPONENT.declared(configuration, "")
COMPONENT.webhooks(configuration)
print("pydantic" in sys.modules)
"""

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ended.stdout == "False\n"
