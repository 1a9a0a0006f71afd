"""Whole lists that are read once, against the in-memory cluster."""

import pytest

from hedgerow.machinery.clusters import EVERYTHING
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import itself
from hedgerow_adapters.kubernetes.live_reads import ListingError, list_transformed
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, TransportError
from tests.unit.adapters.runtime.world import NAMESPACES
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
    listed = await list_transformed(MemoryTransport(cluster), NAMESPACES, EVERYTHING, itself)
    return [manifest["metadata"]["name"] for manifest in listed]


@pytest.mark.parametrize("expirations", [0, 1, 2, None], ids=["never", "once", "twice", "always"])
@virtual_time
async def test_a_list_is_whole_however_often_its_continuation_expires(expirations: int | None) -> None:
    cluster = cluster_of_two_pages()
    cluster.faults.append(Fault(is_second_page, Answered(EXPIRED), times=expirations))

    names = await names_in(cluster)

    assert len(names) == len(set(names))
    assert set(names) >= NAMES


@virtual_time
async def test_a_list_that_expires_without_pages_is_given_up() -> None:
    cluster = cluster_of_two_pages()
    cluster.faults.append(Fault(lambda _request: True, Answered(EXPIRED), times=None))

    with pytest.raises(ListingError, match="the token is too old"):
        await names_in(cluster)


@pytest.mark.parametrize("expirations", [0, 1])
@virtual_time
async def test_of_a_list_no_more_is_kept_than_is_asked_for(expirations: int) -> None:
    cluster = cluster_of_two_pages()
    cluster.faults.append(Fault(is_second_page, Answered(EXPIRED), times=expirations))

    def keep(manifest: Manifest) -> str | None:
        name: str = manifest["metadata"]["name"]
        return name if name.endswith("7") else None

    kept = await list_transformed(MemoryTransport(cluster), NAMESPACES, EVERYTHING, keep, metadata_only=True)

    assert sorted(kept) == sorted(name for name in NAMES if name.endswith("7"))


@virtual_time
async def test_a_server_that_does_not_answer_is_told_from_one_that_refuses() -> None:
    cluster = cluster_of_two_pages()
    cluster.faults.append(Fault(is_second_page, Lost()))

    with pytest.raises(TransportError, match="connection lost"):
        await names_in(cluster)
