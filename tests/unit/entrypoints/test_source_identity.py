"""How a process finds out the id of the cluster that it lives in, on virtual time."""

import asyncio
import io

import pytest

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.memory import requests as asking
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.telemetry.logs import configure_logs
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.process.source_identity import are_one_cluster, determine_cluster_id
from tests.in_memory import of_another_cluster
from tests.virtual_clock import virtual_time

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
UNKNOWN = "unable to determine cluster id: cannot determine cluster identity from configmap: "
IDENTITY_REQUEST = asking("GET", "/cluster-identity")


def cluster(data: dict[str, str] | None = None) -> InMemoryCluster:
    """A cluster; what is given is in the ConfigMap that tells its identity."""
    made = InMemoryCluster()
    made.handle(requests.create(NAMESPACES, {"metadata": {"name": "kube-system"}}))
    if data is not None:
        made.handle(
            requests.create(CONFIG_MAPS, {"metadata": {"name": "cluster-identity"}, "data": data}, "kube-system")
        )
    return made


async def determined(configured: str, source: InMemoryCluster, *namespaces: str) -> str:
    access = Access(MemoryTransport(source), namespaces)
    return await determine_cluster_id(configured, access, "resource-manager", lambda: 0.5)


@pytest.mark.parametrize("configured", ["<cluster>", "<default>"])
@virtual_time
async def test_the_identity_of_the_cluster_is_read_even_by_who_sees_other_namespaces_only(configured: str) -> None:
    assert await determined(configured, cluster({"cluster-identity": "garden-1"}), "shop") == "garden-1"


@pytest.mark.parametrize("configured", ["", "seed-1"])
@virtual_time
async def test_where_an_id_is_configured_or_none_nobody_is_asked(configured: str) -> None:
    source = cluster({"cluster-identity": "garden-1"})
    source.faults.append(Fault(asking(), Lost(), times=None))

    assert await determined(configured, source) == configured


@pytest.mark.parametrize("data", [None, {"other": "x"}])
@virtual_time
async def test_a_cluster_without_identity_may_have_none(data: dict[str, str] | None) -> None:
    assert await determined("<default>", cluster(data)) == ""


@pytest.mark.parametrize(
    ("data", "problem"),
    [(None, 'configmaps "cluster-identity" not found'), ({"other": "x"}, "no cluster-identity entry")],
)
@virtual_time
async def test_a_cluster_that_must_have_an_identity_and_has_none_ends_the_process(
    data: dict[str, str] | None, problem: str
) -> None:
    with pytest.raises(CommandError) as error:
        await determined("<cluster>", cluster(data))

    assert error.value.message == f"{UNKNOWN}{problem}"


@pytest.mark.parametrize("configured", ["<cluster>", "<default>"])
@virtual_time
async def test_a_refusal_ends_the_process_at_once(configured: str) -> None:
    source = cluster({"cluster-identity": "garden-1"})
    source.faults.append(Fault(IDENTITY_REQUEST, Answered(Response(403, {"kind": "Status", "message": "no rights"}))))

    with pytest.raises(CommandError, match=f"^{UNKNOWN}no rights$"):
        await determined(configured, source)


@pytest.mark.parametrize("away", [Lost(), Answered(Response(503, "starting")), Answered(Response(429, "busy"))])
@virtual_time
async def test_a_server_that_is_away_is_asked_again_and_said_to_be_away_once(away: Lost | Answered) -> None:
    lines = io.StringIO()
    configure_logs("info", "json", lines)
    source = cluster({"cluster-identity": "garden-1"})
    source.faults.append(Fault(asking(), away, times=None))
    asked = asyncio.create_task(determined("<cluster>", source))

    await asyncio.sleep(300)
    assert not asked.done()
    source.faults.clear()

    assert await asked == "garden-1"
    assert asyncio.get_running_loop().time() < 310, "the return of the server cuts the wait short"
    assert len(lines.getvalue().splitlines()) == 1


async def are_one(source: InMemoryCluster, target: InMemoryCluster) -> bool:
    return await are_one_cluster(
        Access(MemoryTransport(source)), Access(MemoryTransport(target)), "resource-manager", lambda: 0.5
    )


@virtual_time
async def test_two_connections_lead_to_one_cluster_if_kube_system_has_one_uid() -> None:
    source, other = cluster(), cluster()
    other.faults.append(of_another_cluster("somebody-else"))

    assert await are_one(source, source)
    assert not await are_one(source, other)


@virtual_time
async def test_a_cluster_that_is_away_is_awaited_before_it_is_told_whether_it_is_the_other_one() -> None:
    source = cluster()
    source.faults.append(Fault(asking(), Lost(), times=None))
    asked = asyncio.create_task(are_one(source, source))

    await asyncio.sleep(300)
    assert not asked.done()
    source.faults.clear()

    assert await asked


@virtual_time
async def test_clusters_that_do_not_show_kube_system_do_not_count_as_one() -> None:
    source = cluster()
    source.faults.append(Fault(asking(), Answered(Response(403, {"kind": "Status"})), times=None))

    assert not await are_one(source, source)
