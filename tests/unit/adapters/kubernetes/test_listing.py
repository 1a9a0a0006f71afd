"""Whole lists that are read once, against the in-memory cluster."""

import pytest

from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow_adapters.kubernetes.listing import ListingError, world_of
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.unit.adapters.runtime.world import CART, CONTROLLER, NAMESPACES, SERVICES, Wire, World, service
from tests.virtual_clock import virtual_time

NAMES = {f"shop-{number}" for number in range(600)}
EXPIRED = Response(410, {"kind": "Status", "code": 410, "reason": "Expired", "message": "the token is too old"})


def cluster_of_two_pages() -> InMemoryCluster:
    cluster = InMemoryCluster()
    for name in NAMES:
        assert cluster.handle(requests.create(NAMESPACES, {"metadata": {"name": name}})).is_success
    return cluster


def is_second_page(request: Request) -> bool:
    return "continue" in request.query


async def names_in(cluster: InMemoryCluster) -> list[str]:
    world = await world_of(MemoryTransport(cluster), [CONTROLLER])
    return [manifest["metadata"]["name"] for manifest in world[NAMESPACES]]


@pytest.mark.parametrize("expirations", [0, 1])
@virtual_time
async def test_a_list_is_whole_even_if_its_continuation_expires(expirations: int) -> None:
    cluster = cluster_of_two_pages()
    cluster.faults.append(Fault(is_second_page, Answered(EXPIRED), times=expirations))

    names = await names_in(cluster)

    assert len(names) == len(set(names))
    assert set(names) >= NAMES


@virtual_time
async def test_a_list_whose_continuation_expires_again_and_again_is_given_up() -> None:
    cluster = cluster_of_two_pages()
    cluster.faults.append(Fault(is_second_page, Answered(EXPIRED), times=None))

    with pytest.raises(ListingError, match="the token is too old"):
        await names_in(cluster)


@virtual_time
async def test_of_some_namespaces_only_those_are_asked_for() -> None:
    wire = Wire(MemoryTransport(World(service(), service(ObjectKey("web", "front")))))

    world = await world_of(wire, [CONTROLLER], ["shop", "default"])

    assert [key_of(manifest).name for manifest in world[NAMESPACES]] == ["shop", "default"]
    assert [key_of(manifest) for manifest in world[SERVICES]] == [CART]
    assert all("/namespaces/" in request.path or "fieldSelector" in request.query for request in wire.asked)
