"""What webhooks look up, where a live cluster stands behind the files."""

from typing import Any

import pytest

from hedgerow.admission.resources import HVPAS, NAMESPACES, SERVICE_ACCOUNTS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.questions import Found, ListQuestion, ObjectQuestion
from hedgerow_adapters.files import LoadedObject, Source
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.review.facts import Facts
from hedgerow_entrypoints.review.panels import named_panel
from tests.virtual_clock import virtual_time

IN_THE_SHOP = ObjectKey("shop", "web")
(PROJECTED_TOKEN_MOUNT,) = named_panel(["projected-token-mount"], None, None, None).webhooks.values()
(HIGH_AVAILABILITY,) = named_panel(["high-availability-config"], None, None, None).webhooks.values()


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def account(name: str, *, automount: bool) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": "shop"},
        "automountServiceAccountToken": automount,
    }


def transport() -> MemoryTransport:
    """A way to a cluster with a shop and another Namespace, and two ServiceAccounts in the shop."""
    cluster = InMemoryCluster()
    for manifest in (namespace("shop", live="yes"), namespace("elsewhere")):
        assert cluster.handle(requests.create(NAMESPACES, manifest)).is_success
    for name in ("web", "db"):
        manifest = account(name, automount=True)
        assert cluster.handle(requests.create(SERVICE_ACCOUNTS, manifest, "shop")).is_success
    return MemoryTransport(cluster)


def facts(*held: Manifest) -> Facts:
    return Facts([LoadedObject(each, Source("x.yaml", 1)) for each in held], transport(), ["shop"])


@virtual_time
async def test_what_no_file_holds_is_looked_up_in_the_cluster() -> None:
    snapshot = await facts().snapshot(PROJECTED_TOKEN_MOUNT)

    assert await facts().namespace_labels("shop") == {"kubernetes.io/metadata.name": "shop", "live": "yes"}
    assert (snapshot.get(SERVICE_ACCOUNTS, IN_THE_SHOP) or {})["automountServiceAccountToken"] is True


@virtual_time
async def test_what_a_file_holds_counts_before_what_the_cluster_shows() -> None:
    looked_up = facts(namespace("shop", file="yes"), account("web", automount=False))
    snapshot = await looked_up.snapshot(PROJECTED_TOKEN_MOUNT)
    everyone = await looked_up.answer(ListQuestion(SERVICE_ACCOUNTS, Cluster.TARGET, "shop"))
    one = await looked_up.answer(ObjectQuestion(SERVICE_ACCOUNTS, IN_THE_SHOP, Cluster.TARGET))

    assert await looked_up.namespace_labels("shop") == {"kubernetes.io/metadata.name": "shop", "file": "yes"}
    assert (snapshot.get(SERVICE_ACCOUNTS, IN_THE_SHOP) or {})["automountServiceAccountToken"] is False
    assert isinstance(everyone, Found)
    assert [(key_of(each).name, each["automountServiceAccountToken"]) for each in everyone.objects] == [
        ("db", True),
        ("web", False),
    ]
    assert one == Found((account("web", automount=False),))


@virtual_time
async def test_questions_that_no_file_answers_are_asked_live() -> None:
    found = await facts().answer(ObjectQuestion(SERVICE_ACCOUNTS, IN_THE_SHOP, Cluster.TARGET))
    missing = await facts().answer(ObjectQuestion(SERVICE_ACCOUNTS, ObjectKey("shop", "nobody"), Cluster.TARGET))

    assert isinstance(found, Found)
    assert not isinstance(missing, Found)
    assert missing.is_not_found


@virtual_time
async def test_namespaces_that_no_object_lives_in_are_not_read() -> None:
    assert await facts().namespace_labels("elsewhere") == {}


@virtual_time
async def test_a_resource_that_the_cluster_does_not_have_is_an_error_only_where_it_has_to() -> None:
    """Of autoscalers, HVPAs may be unknown; a cluster has HPAs."""
    bare = InMemoryCluster(resources=[])
    looked_up = Facts([], MemoryTransport(bare), ["shop"])

    with pytest.raises(CommandError, match="the server could not find the requested resource"):
        await looked_up.snapshot(HIGH_AVAILABILITY)
    assert (await facts().snapshot(HIGH_AVAILABILITY)).list(HVPAS) == []
