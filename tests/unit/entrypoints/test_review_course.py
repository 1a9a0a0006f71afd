"""The way of a request through several webhooks."""

from dataclasses import replace

import pytest

from hedgerow.admission import Decision, Mutated, Mutation, Webhook
from hedgerow.admission.registration import Rule
from hedgerow.admission.request import AdmissionRequest, creation
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import EndlessDecisionError
from hedgerow_adapters.files.sources import Source
from hedgerow_adapters.registrations.registered import Client, Entry, Registrations
from hedgerow_entrypoints.cli.review.course import course, decision
from hedgerow_entrypoints.cli.review.facts import ReviewFacts
from hedgerow_entrypoints.cli.review.panels import Panel
from hedgerow_entrypoints.cli.review.requests import Candidate
from hedgerow_entrypoints.components.resource_manager_reviews import AUTOSCALERS
from tests.virtual_clock import virtual_time

V1 = AUTOSCALERS[1]


def labelling(request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
    metadata = request.object["metadata"]
    return Mutated((Mutation("label", request.object, {**request.object, "metadata": {**metadata, "labels": {}}}),))


def registered(name: str, version: str) -> Entry:
    rule = Rule(("CREATE",), ("autoscaling",), (version,), ("horizontalpodautoscalers",))
    return Entry("all", name, Client("localhost", f"/{name}"), (rule,))


@virtual_time
async def test_each_webhook_sees_the_version_that_it_is_registered_for() -> None:
    entries = (registered("newer", "v2"), registered("exact", "v1"))
    webhooks = {f"/{name}": Webhook(name, f"/{name}", labelling) for name in ("newer", "exact")}
    panel = Panel(webhooks, Registrations((entries[0], replace(entries[1], matches_equivalents=False))))
    manifest = {"apiVersion": "autoscaling/v1", "kind": V1.kind, "metadata": {"name": "a", "namespace": "shop"}}
    candidate = Candidate(creation(V1, manifest), Source("x.yaml", 1))

    seen = [each.request async for each in course(candidate, panel, ReviewFacts([], None, ()))]

    assert [(request.kind.version, request.object["apiVersion"]) for request in seen] == [
        ("v2", "autoscaling/v2"),
        ("v1", "autoscaling/v1"),
    ]


@virtual_time
async def test_a_name_is_made_after_the_webhooks_that_change_objects() -> None:
    webhooks = {f"/{name}": Webhook(name, f"/{name}", labelling) for name in ("changes", "denies")}
    panel = Panel(webhooks, Registrations((registered("changes", "v1"),), (registered("denies", "v1"),)))
    manifest = {"apiVersion": "autoscaling/v1", "kind": V1.kind, "metadata": {"generateName": "a-"}}
    candidate = Candidate(creation(V1, manifest), Source("x.yaml", 1))

    seen = [each.request async for each in course(candidate, panel, ReviewFacts([], None, ()))]

    assert [(request.name, request.object["metadata"].get("name")) for request in seen] == [
        ("", None),
        ("a-xxxxx", "a-xxxxx"),
    ]


@virtual_time
async def test_a_webhook_that_reads_without_end_is_stopped() -> None:
    async def reading(_request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
        while True:
            await ObjectQuestion(V1, ObjectKey("shop", "b"), Cluster.TARGET)

    manifest = {"apiVersion": "autoscaling/v1", "kind": V1.kind, "metadata": {"name": "a", "namespace": "shop"}}

    with pytest.raises(EndlessDecisionError, match="reads has not ended after 8 steps"):
        await decision(Webhook("reads", "/reads", reading), creation(V1, manifest), ReviewFacts([], None, ()))
