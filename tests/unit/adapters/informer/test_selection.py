"""What an informer sees that reads only some objects of a resource: those, as long as they are among them."""

import asyncio
from dataclasses import replace

import pytest

from hedgerow.machinery.controller import Watch
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.informer.machine import Put, Remove, Replace
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import TransportError
from tests.unit.adapters.informer.servers import (
    CONFIG_MAPS,
    WATCH,
    Listener,
    Wire,
    create_all,
    delete,
    informer_of,
    running,
)
from tests.virtual_clock import virtual_time

RED = replace(WATCH, label_selector="colour=red")


class Dyer:
    """A cluster whose ConfigMaps have colours, and an informer of the red ones."""

    def __init__(self, watch: Watch = RED) -> None:
        self.cluster, self.listener = InMemoryCluster(), Listener()
        self.wire = Wire(MemoryTransport(self.cluster))
        self.informer = informer_of(self.wire, self.listener, watch=watch)

    def dye(self, name: str, colour: str) -> None:
        """Give a ConfigMap a colour; it is made if it does not exist."""
        if self.cluster.get(CONFIG_MAPS, ObjectKey("default", name)) is None:
            create_all(self.cluster, [name])
        patch = {"metadata": {"labels": {"colour": colour}}}
        assert self.cluster.handle(requests.merge_patch(CONFIG_MAPS, ObjectKey("default", name), patch)).is_success


@virtual_time
async def test_an_object_comes_as_it_gets_the_label_and_goes_as_it_loses_it() -> None:
    dyer = Dyer()
    dyer.dye("a", "red")
    dyer.dye("b", "blue")

    async with running(dyer.informer):
        await dyer.informer.synced.wait()
        assert dyer.listener.names == ["a"]
        dyer.dye("b", "red")
        dyer.dye("a", "blue")
        dyer.dye("c", "green")
        await asyncio.sleep(1)

    assert dyer.listener.names == ["b"]
    assert [type(each) for each in dyer.listener.deliveries] == [Replace, Put, Remove]
    assert dyer.listener.causes == []


@pytest.mark.parametrize("forgotten", [False, True], ids=["watched on", "listed again"])
@virtual_time
async def test_what_comes_and_goes_while_nobody_watches_is_known_afterwards(*, forgotten: bool) -> None:
    dyer = Dyer()
    for name in ("stays", "is-dyed", "is-deleted"):
        dyer.dye(name, "red")

    async with running(dyer.informer):
        await dyer.informer.synced.wait()
        await asyncio.sleep(1)
        dyer.cluster.close_watches(TransportError("connection reset"))
        dyer.dye("is-dyed", "blue")
        dyer.dye("is-new", "red")
        dyer.dye("is-nothing", "blue")
        delete(dyer.cluster, "is-deleted")
        if forgotten:
            dyer.cluster.compact()
        await asyncio.sleep(60)

        assert dyer.listener.names == ["is-new", "stays"]
        dyer.dye("stays", "blue")
        await asyncio.sleep(1)

    assert dyer.listener.names == ["is-new"]
    assert len(dyer.wire.lists) == 1 + forgotten
    assert {asked.request.query["labelSelector"] for asked in dyer.wire.asked} == {"colour=red"}


@virtual_time
async def test_fields_select_as_labels_do() -> None:
    dyer = Dyer(replace(WATCH, field_selector="metadata.name!=b"))

    async with running(dyer.informer):
        await dyer.informer.synced.wait()
        create_all(dyer.cluster, ["a", "b", "c"])
        delete(dyer.cluster, "a")
        delete(dyer.cluster, "b")
        dyer.cluster.close_watches()
        await asyncio.sleep(60)

    assert dyer.listener.names == ["c"]
    assert [type(each) for each in dyer.listener.deliveries] == [Replace, Put, Put, Remove]
    assert {asked.request.query["fieldSelector"] for asked in dyer.wire.asked} == {"metadata.name!=b"}
