"""What webhooks look up, where a live cluster stands behind the files."""

from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.admission import Allowed, Mutated, Webhook
from hedgerow.admission.request import creation
from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import NAMESPACES, PODS, SERVICE_ACCOUNTS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.questions import Found, ListQuestion, ObjectQuestion
from hedgerow_adapters.files.sources import LoadedObject, Source
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, Transport, TransportError
from hedgerow_entrypoints.cli.review.course import decision, reviewed_by
from hedgerow_entrypoints.cli.review.facts import FilesFirst, ReviewFacts
from hedgerow_entrypoints.cli.review.panels import named_panel, whole_panel
from hedgerow_entrypoints.cli.review.requests import Candidate
from hedgerow_entrypoints.errors import CommandError
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


def cluster() -> InMemoryCluster:
    """A cluster with a shop and another Namespace, and two ServiceAccounts in the shop."""
    made = InMemoryCluster()
    for manifest in (namespace("shop", live="yes"), namespace("elsewhere")):
        assert made.handle(requests.create(NAMESPACES, manifest)).is_success
    for name in ("web", "db"):
        manifest = account(name, automount=True)
        assert made.handle(requests.create(SERVICE_ACCOUNTS, manifest, "shop")).is_success
    return made


class Listening(MemoryTransport):
    """The way to a cluster, on which somebody answers or nobody, and what was asked on it."""

    def __init__(self, *, is_answered: bool = True) -> None:
        super().__init__(cluster())
        self._is_answered = is_answered
        self.asked: list[str] = []

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        self.asked.append(f"{request.path} {request.query.get('fieldSelector', '')}".strip())
        if not self._is_answered:
            raise TransportError("nobody answers")
        return await super().send(request, timeout=timeout, may_send=may_send)


def held_by_files(*manifests: Manifest) -> list[LoadedObject]:
    return [LoadedObject(each, Source("x.yaml", 1)) for each in manifests]


def facts(*held: Manifest, to: Transport | None = None) -> ReviewFacts:
    return ReviewFacts(held_by_files(*held), to or MemoryTransport(cluster()), ["shop", "store"])


async def everything(looked_up: ReviewFacts, webhook: Webhook) -> FilesFirst:
    """What a webhook sees once it has looked for all it can."""
    for read in webhook.reads:
        await looked_up.read(webhook, read.resource)
    return looked_up.snapshot(webhook)


def pod() -> Candidate:
    """The creation of a pod in the shop."""
    spec = {"serviceAccountName": "web", "containers": [{"name": "web", "image": "web"}]}
    metadata = {"name": "web", "namespace": "shop"}
    return Candidate(
        creation(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}), Source("x.yaml", 1)
    )


@virtual_time
async def test_what_no_file_holds_is_looked_up_in_the_cluster() -> None:
    snapshot = await everything(facts(), PROJECTED_TOKEN_MOUNT)

    assert await facts().namespace_labels("shop") == {"kubernetes.io/metadata.name": "shop", "live": "yes"}
    assert (snapshot.get(SERVICE_ACCOUNTS, IN_THE_SHOP) or {})["automountServiceAccountToken"] is True


@virtual_time
async def test_what_a_file_holds_counts_before_what_the_cluster_shows() -> None:
    looked_up = facts(namespace("shop", file="yes"), account("web", automount=False))
    snapshot = await everything(looked_up, PROJECTED_TOKEN_MOUNT)
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
    looked_up = ReviewFacts([], MemoryTransport(bare), ["shop"])

    with pytest.raises(CommandError, match="the server could not find the requested resource"):
        await everything(looked_up, HIGH_AVAILABILITY)
    assert (await everything(facts(), HIGH_AVAILABILITY)).list(HVPAS) == []


@virtual_time
async def test_the_cluster_is_asked_for_the_namespaces_that_no_file_holds_and_once() -> None:
    listening = Listening()
    looked_up = facts(namespace("shop"), to=listening)

    for name in ("shop", "store", "shop", "store"):
        await looked_up.namespace_labels(name)

    assert listening.asked == ["/api/v1/namespaces metadata.name=store"]


@virtual_time
async def test_the_cluster_is_asked_only_for_what_a_webhook_looks_for_and_no_file_holds() -> None:
    unreachable, listening = Listening(is_answered=False), Listening()
    request = pod().request

    told = await decision(
        PROJECTED_TOKEN_MOUNT, request, facts(account("web", automount=False), namespace("shop"), to=unreachable)
    )
    found = await decision(PROJECTED_TOKEN_MOUNT, request, facts(namespace("shop"), to=listening))

    assert isinstance(told, Mutated)
    assert [mutation.rule for mutation in told.mutations] == ["token-volume", "token-mounts"]
    assert unreachable.asked == []
    assert isinstance(found, Allowed)
    assert listening.asked[0] == "/api/v1/namespaces/shop/serviceaccounts"
    with pytest.raises(CommandError, match="nobody answers"):
        await decision(PROJECTED_TOKEN_MOUNT, request, facts(namespace("shop"), to=unreachable))


@virtual_time
async def test_a_decision_that_needs_no_cluster_does_without_the_remark_that_does() -> None:
    panel, unreachable = named_panel(["seccomp-profile"], None, None, None), Listening(is_answered=False)

    session = await reviewed_by(panel, [pod(), pod()], facts(to=unreachable), everything=False)

    assert ([each.verdict for each in session.reviews], session.remarks) == (["changed", "changed"], [])
    assert unreachable.asked == ["/api/v1/namespaces metadata.name=shop"]


@virtual_time
async def test_labels_that_select_webhooks_have_to_be_found_out() -> None:
    panel, unreachable = whole_panel(None, None, None), Listening(is_answered=False)

    with pytest.raises(CommandError, match="nobody answers"):
        await reviewed_by(panel, [pod()], facts(to=unreachable), everything=True)
