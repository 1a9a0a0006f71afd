"""Turns of several stages, taken by a running controller in an in-memory cluster, on virtual time."""

import asyncio
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Kind, ObjectKey, Resource, key_of, resource_version_of
from hedgerow.machinery.plan import (
    Action,
    Create,
    Delete,
    DeleteCollection,
    JsonPatch,
    MergePatch,
    Plan,
    Refusal,
    Update,
)
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered
from hedgerow_adapters.memory import Answered, Fault, MemoryTransport, requests
from hedgerow_adapters.protocol import requests as build
from hedgerow_adapters.protocol.transport import Response
from tests.unit.adapters.runtime.wishes import (
    ACCOUNTS,
    DEFINITIONS,
    SECRETS,
    WISH,
    Script,
    a_while,
    controller,
    create,
    names,
    question,
    secret,
    world,
)
from tests.unit.adapters.runtime.world import Ears, Wire, at_work
from tests.virtual_clock import virtual_time


@virtual_time
async def test_each_stage_is_told_what_became_of_the_earlier_ones_with_what_the_server_stored() -> None:
    cluster, ears = world(), Ears()

    def label_it(context: Context[None]) -> Plan:
        (made,) = context.outcomes
        assert made.stored is not None
        labelled = {**made.stored, "metadata": {**made.stored["metadata"], "labels": {"seen": "yes"}}}
        return Plan((Update(SECRETS, labelled, "labelled"),), goes_on=True)

    def finish(context: Context[None]) -> Plan:
        written = context.outcomes[-1].stored
        assert written is not None
        return Plan((MergePatch(SECRETS, key_of(written), {"data": {"version": "MQ=="}}, "finished",
                                resource_version_of(written)),))  # fmt: skip

    script = Script([lambda _: Plan((create("a"),), goes_on=True), label_it, finish])

    async with at_work(cluster, controller(script), observer=ears):
        await a_while()

    (stored,) = cluster.objects(SECRETS)
    assert (stored["metadata"]["labels"], stored["data"]) == ({"seen": "yes"}, {"version": "MQ=="})
    assert [type(action) for action in ears.actions] == [Create, Update, MergePatch]
    assert ears.results == [(WISH, "success")]
    assert [outcome.refusal for outcome in script.told[-1].outcomes] == [None, None]


@virtual_time
async def test_of_what_is_deleted_the_decision_is_told_whether_it_is_still_there() -> None:
    cluster = world()
    held = secret("held")
    held["metadata"]["finalizers"] = ["hedgerow.dev/hold"]
    for manifest in (held, secret("free"), secret("many")):
        cluster.handle(build.create(SECRETS, manifest, "default"))
    cluster.handle(build.create(ACCOUNTS, {"metadata": {"name": "free"}}, "default"))
    actions = (
        Delete(SECRETS, ObjectKey("default", "held"), "unwanted", propagation="Foreground"),
        Delete(ACCOUNTS, ObjectKey("default", "free"), "unwanted"),
        Delete(SECRETS, ObjectKey("default", "free"), "unwanted"),
        Delete(SECRETS, ObjectKey("default", "never-there"), "unwanted"),
        DeleteCollection(SECRETS, "default", "made-by=wish", "unwanted"),
    )
    script = Script([lambda _: Plan(actions, goes_on=True)])

    async with at_work(cluster, controller(script)):
        await a_while()

    outcomes = script.told[-1].outcomes
    assert [outcome.action for outcome in outcomes] == list(actions)
    assert [outcome.refusal for outcome in outcomes] == [None] * 5
    assert [outcome.stored is not None for outcome in outcomes] == [True, False, False, False, False]
    assert outcomes[0].stored is not None
    assert outcomes[0].stored["metadata"]["finalizers"] == ["hedgerow.dev/hold", "foregroundDeletion"]
    assert names(cluster) == ["held"]


@virtual_time
async def test_what_is_refused_before_the_last_plan_is_the_decisions_own_business() -> None:
    cluster, ears = world(), Ears()
    cluster.handle(build.create(SECRETS, {**secret("a"), "immutable": True, "data": {"x": "MQ=="}}, "default"))
    change = MergePatch(SECRETS, ObjectKey("default", "a"), {"data": {"x": "Mg=="}}, "wished-for")
    script = Script([
        lambda _: Plan((create("a"), change), goes_on=True),
        lambda _: Plan((create("b"),)),
    ])  # fmt: skip

    async with at_work(cluster, controller(script), observer=ears):
        await a_while()

    exists, immutable = (outcome.refusal for outcome in script.told[-1].outcomes)
    assert exists == Refusal(409, "AlreadyExists", 'secrets "a" already exists')
    assert immutable is not None
    assert (immutable.code, immutable.reason) == (422, "Invalid")
    assert immutable.causes == (
        ("FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set", "data"),
    )
    assert ears.failed == []
    assert ears.results == [(WISH, "success")]
    assert names(cluster) == ["a", "b"]


@pytest.mark.parametrize(("goes_on", "result"), [(True, "success"), (False, "error")])
@virtual_time
async def test_a_missing_permission_is_told_whichever_plan_it_stops_and_fails_only_the_last(
    result: str, *, goes_on: bool
) -> None:
    denial = 'User "hedgerow" cannot create resource "secrets" in API group "" in the namespace "default"'
    status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": f"secrets is forbidden: {denial}"}
    cluster, ears = world(), Ears()
    cluster.faults.append(Fault(requests("POST"), Answered(Response(403, status))))
    script = Script([lambda _: Plan((create("a"),), goes_on=goes_on)])

    async with at_work(cluster, controller(script), observer=ears):
        await a_while(0.001)

    assert [failed.problem for failed in ears.failed] == ["missing permission: create secrets in namespace default"]
    assert ears.results[0] == (WISH, result)


@virtual_time
async def test_in_order_nothing_follows_what_failed_and_the_decision_goes_on_from_there() -> None:
    cluster = world()
    cluster.handle(build.create(SECRETS, secret("b"), "default"))
    script = Script([
        lambda _: Plan((create("a"), create("b"), create("c")), in_order=True, goes_on=True),
        lambda _: Plan((create("d"),)),
    ])  # fmt: skip

    async with at_work(cluster, controller(script)):
        await a_while()

    outcomes = script.told[-1].outcomes
    assert [(outcome.action.key.name, outcome.refusal is None) for outcome in outcomes] == [("a", True), ("b", False)]
    assert names(cluster) == ["a", "b", "d"]


@virtual_time
async def test_every_question_is_answered_once_in_a_turn_from_no_cache() -> None:
    cluster = world()
    cluster.handle(build.create(SECRETS, secret("a"), "default"))
    wire = Wire(MemoryTransport(cluster))
    everything = ListQuestion(SECRETS, Cluster.TARGET, "default")
    asked = (question("a"), question("b"), question("a"), everything)
    script = Script([
        lambda _: Plan(questions=asked),
        lambda _: Plan((create("b"),), questions=asked),
    ])  # fmt: skip

    async with at_work(cluster, controller(script), transport=wire):
        await a_while()

    answers = script.told[-1].answers
    found = answers[question("a")]
    assert isinstance(found, Found)
    assert found.objects == (cluster.get(SECRETS, ObjectKey("default", "a")),)
    assert answers[question("b")] == NotAnswered(404, "NotFound", 'secrets "b" not found')
    assert len(answers) == 3
    assert [request.path for request in wire.asked if request.method == "GET" and "secrets" in request.path] == [
        "/api/v1/namespaces/default/secrets/a",
        "/api/v1/namespaces/default/secrets/b",
        "/api/v1/namespaces/default/secrets",
    ]


@virtual_time
async def test_questions_are_asked_at_once_but_not_all_of_them() -> None:
    cluster = world()

    class Slow(MemoryTransport):
        under_way = most = 0

        async def send(self, request: Any, **options: Any) -> Response:
            if "secrets" not in request.path:
                return await super().send(request, **options)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(1)
            self.under_way -= 1
            return await super().send(request, **options)

    wire = Slow(cluster)
    script = Script([lambda _: Plan(questions=tuple(question(f"s-{number}") for number in range(100)))])

    async with at_work(cluster, controller(script), transport=wire):
        await a_while(3.9)
        assert len(script.told) == 1
        await a_while(0.2)
        assert len(script.told[-1].answers) == 100

    assert wire.most == 32


DEFINITION = {
    "metadata": {"name": "hedges.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "hedges", "kind": "Hedge", "listKind": "HedgeList", "singular": "hedge"},
        "scope": "Namespaced",
        "versions": [{
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        }],
    },
}  # fmt: skip


@virtual_time
async def test_a_kind_that_the_turn_itself_defines_is_found_when_it_is_looked_up_again() -> None:
    cluster = world()
    hedge = Kind("example.com/v1", "Hedge")
    script = Script([
        lambda _: Plan(kinds=(hedge,)),
        lambda _: Plan((Create(DEFINITIONS, DEFINITION, "wished-for"),), kinds=(hedge,)),
    ])  # fmt: skip

    async with at_work(cluster, controller(script)):
        await a_while()

    before, after = (context.kinds[hedge] for context in script.told[1:3])
    assert isinstance(before, NotAnswered)
    assert before.is_not_found
    assert after == Resource("example.com", "v1", "hedges", "Hedge")


@pytest.mark.parametrize("action", [
    Create(SECRETS, {"metadata": {"name": "a/b", "namespace": "default"}}, "nonsense"),
    JsonPatch(SECRETS, ObjectKey("..", "a"), [], "nonsense"),
])  # fmt: skip
@virtual_time
async def test_what_no_object_can_be_called_is_refused_like_anything_else(action: Action) -> None:
    cluster, ears = world(), Ears()
    script = Script([lambda _: Plan((action, create("b")), goes_on=True)])

    async with at_work(cluster, controller(script), observer=ears):
        await a_while()

    outcomes = script.told[-1].outcomes
    if action.key.namespace == "..":
        refusal = outcomes[0].refusal
        assert refusal is not None
        assert (refusal.code, refusal.reason) == (400, "BadRequest")
    assert outcomes[0].refusal is not None
    assert names(cluster) == ["b"]
    assert ears.errors == []
