"""A process warns of namespaces that it is told to look after and that do not exist."""

import io
import json

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, Watch, own_key
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.plan import Plan
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, MemoryTransport
from hedgerow_adapters.memory import requests as asking
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.telemetry.logs import configure_logs
from hedgerow_entrypoints.process.stated_namespaces import warn_of_missing_namespaces, with_readable_namespaces
from tests.virtual_clock import virtual_time

NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)


def cluster(*namespaces: str) -> InMemoryCluster:
    made = InMemoryCluster()
    for name in namespaces:
        made.handle(requests.create(NAMESPACES, {"metadata": {"name": name}}))
    return made


async def warnings(there: InMemoryCluster, *stated: str) -> list[dict[str, str]]:
    """The lines about the stated namespaces."""
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    await warn_of_missing_namespaces(Access(MemoryTransport(there), stated), "source", "resource-manager")
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def controller(*clusters: Cluster) -> Controller[None]:
    """A controller that reads Namespaces in some clusters."""
    watches = tuple(Watch(NAMESPACES, lambda manifest: manifest, own_key, cluster=each) for each in clusters)
    return Controller("any", NAMESPACES, watches, 1, None, lambda _key, _snapshot, _context: Plan())


@pytest.mark.parametrize(
    ("connections", "read_in", "asked"),
    [
        (("source",), [], []),
        (("source",), [Cluster.TARGET], ["source"]),
        (("source", "target"), [Cluster.TARGET], ["target"]),
        (("source", "target"), [Cluster.SOURCE, Cluster.TARGET], ["source", "target"]),
    ],
)
def test_namespaces_are_listed_where_controllers_may_do_so(
    connections: tuple[str, ...], read_in: list[Cluster], asked: list[str]
) -> None:
    accesses = {name: Access(MemoryTransport(cluster())) for name in connections}

    assert [name for name, _ in with_readable_namespaces(accesses, [controller(*read_in)])] == asked


@virtual_time
async def test_each_namespace_that_does_not_exist_is_a_warning_that_names_the_cluster() -> None:
    (line,) = await warnings(cluster("shop"), "shop", "shpo")

    assert (
        line.items()
        >= {
            "level": "warning",
            "msg": "Namespace does not exist",
            "namespace": "shpo",
            "connection": "source",
        }.items()
    )


@virtual_time
async def test_a_process_that_looks_after_all_namespaces_or_may_not_list_them_says_nothing() -> None:
    forbidden = cluster()
    status = {"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "no", "code": 403}
    forbidden.faults.append(Fault(asking("GET", "/api/v1/namespaces"), Answered(Response(403, status))))

    assert await warnings(cluster()) == await warnings(forbidden, "shpo") == []
