"""Decisions of several steps, made by a running controller in an in-memory cluster, on virtual time."""

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from hedgerow.machinery.charts import RenderChart, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Kind, ObjectKey, Resource, key_of, resource_version_of
from hedgerow.machinery.plan import (
    Action,
    ApiError,
    Create,
    Delete,
    Event,
    InOrder,
    JsonPatch,
    MergePatch,
    Plan,
    RecordEvents,
    Update,
)
from hedgerow.machinery.questions import Found, KindQuestion, ListQuestion, NotAnswered
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce, Now, Step
from hedgerow_adapters.memory import Answered, Fault, MemoryTransport, requests
from hedgerow_adapters.protocol import requests as build
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.runtime.runner import VERSION_PERIOD
from tests.unit.adapters.runtime.wishes import (
    ACCOUNTS,
    DEFINITIONS,
    SECRETS,
    WISH,
    Asking,
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
async def test_a_write_is_replied_to_with_what_the_server_has_stored() -> None:
    cluster, ears = world(), Ears()

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        made = (await create("a")).stored
        assert made is not None
        labelled = {**made, "metadata": {**made["metadata"], "labels": {"seen": "yes"}}}
        written = (await Update(SECRETS, labelled, "labelled")).stored
        assert written is not None
        return Plan((MergePatch(SECRETS, key_of(written), {"data": {"version": "MQ=="}}, "finished",
                                resource_version_of(written)),))  # fmt: skip

    async with at_work(cluster, controller(decide), observer=ears):
        await a_while()

    (stored,) = cluster.objects(SECRETS)
    assert (stored["metadata"]["labels"], stored["data"]) == ({"seen": "yes"}, {"version": "MQ=="})
    assert [type(action) for action in ears.actions] == [Create, Update, MergePatch]
    assert ears.results == [(WISH, "success")]


@virtual_time
async def test_of_what_is_deleted_the_decision_is_told_whether_it_is_still_there() -> None:
    cluster = world()
    held = secret("held")
    held["metadata"]["finalizers"] = ["hedgerow.dev/hold"]
    for manifest in (held, secret("free")):
        cluster.handle(build.create(SECRETS, manifest, "default"))
    cluster.handle(build.create(ACCOUNTS, {"metadata": {"name": "free"}}, "default"))
    actions = (
        Delete(SECRETS, ObjectKey("default", "held"), "unwanted", propagation="Foreground"),
        Delete(ACCOUNTS, ObjectKey("default", "free"), "unwanted"),
        Delete(SECRETS, ObjectKey("default", "free"), "unwanted"),
        Delete(SECRETS, ObjectKey("default", "never-there"), "unwanted"),
    )
    asking = Asking(AtOnce(actions))

    async with at_work(cluster, controller(asking)):
        await a_while()

    outcomes = asking.reply
    assert [outcome.action for outcome in outcomes] == list(actions)
    assert [outcome.error for outcome in outcomes] == [None] * 4
    assert [outcome.stored is not None for outcome in outcomes] == [True, False, False, False]
    assert outcomes[0].stored is not None
    assert outcomes[0].stored["metadata"]["finalizers"] == ["hedgerow.dev/hold", "foregroundDeletion"]
    assert names(cluster) == ["held"]


@virtual_time
async def test_warnings_are_told_beside_what_is_done() -> None:
    ears = Ears()
    normal = Event(ACCOUNTS, WISH, None, "Normal", "Done", "as it says")
    warning = Event(ACCOUNTS, WISH, None, "Warning", "Odd", "as it says")

    async with at_work(world(), controller(lambda *_: Plan(events=(normal, warning))), observer=ears):
        await a_while(0.001)

    assert ears.warnings == [warning]
    assert ears.results[0] == (WISH, "success")


@virtual_time
async def test_warnings_in_the_middle_of_a_decision_are_told_as_well() -> None:
    ears = Ears()
    warning = Event(ACCOUNTS, WISH, None, "Warning", "Odd", "as it says")

    async with at_work(world(), controller(Asking(RecordEvents((warning,)))), observer=ears):
        await a_while(0.001)

    assert ears.warnings == [warning]


@virtual_time
async def test_what_is_refused_of_a_step_is_the_decisions_own_business() -> None:
    cluster, ears = world(), Ears()
    cluster.handle(build.create(SECRETS, {**secret("a"), "immutable": True, "data": {"x": "MQ=="}}, "default"))
    change = MergePatch(SECRETS, ObjectKey("default", "a"), {"data": {"x": "Mg=="}}, "wished-for")
    asking = Asking(AtOnce((create("a"), change)), Plan((create("b"),)))

    async with at_work(cluster, controller(asking), observer=ears):
        await a_while()

    exists, immutable = (outcome.error for outcome in asking.reply)
    assert exists == ApiError(409, "AlreadyExists", 'secrets "a" already exists')
    assert immutable is not None
    assert (immutable.code, immutable.reason) == (422, "Invalid")
    assert immutable.causes == (
        ("FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set", "data"),
    )
    assert ears.failed == []
    assert ears.results == [(WISH, "success")]
    assert names(cluster) == ["a", "b"]


@pytest.mark.parametrize(("is_step", "result"), [(True, "success"), (False, "error")])
@virtual_time
async def test_a_missing_permission_is_told_and_fails_the_key_only_where_it_stops_the_plan(
    result: str, *, is_step: bool
) -> None:
    denial = 'User "hedgerow" cannot create resource "secrets" in API group "" in the namespace "default"'
    status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": f"secrets is forbidden: {denial}"}
    cluster, ears = world(), Ears()
    cluster.faults.append(Fault(requests("POST"), Answered(Response(403, status))))
    plan = Plan((create("a"),))

    async with at_work(cluster, controller(Asking(create("a")) if is_step else lambda *_: plan), observer=ears):
        await a_while(0.001)

    assert [failed.problem for failed in ears.failed] == ["missing permission: create secrets in namespace default"]
    assert ears.results[0] == (WISH, result)


@virtual_time
async def test_in_order_nothing_follows_what_failed_and_the_decision_goes_on_from_there() -> None:
    cluster = world()
    cluster.handle(build.create(SECRETS, secret("b"), "default"))
    asking = Asking(InOrder((create("a"), create("b"), create("c"))), Plan((create("d"),)))

    async with at_work(cluster, controller(asking)):
        await a_while()

    assert [(outcome.action.key.name, outcome.error is None) for outcome in asking.reply] == [
        ("a", True),
        ("b", False),
    ]
    assert names(cluster) == ["a", "b", "d"]


@virtual_time
async def test_every_question_is_answered_from_no_cache() -> None:
    cluster = world()
    cluster.handle(build.create(SECRETS, secret("a"), "default"))
    wire = Wire(MemoryTransport(cluster))
    everything = ListQuestion(SECRETS, Cluster.TARGET, "default")
    asking = Asking(AtOnce((question("a"), question("b"), everything)))

    async with at_work(cluster, controller(asking), transport=wire):
        await a_while()

    stored = cluster.get(SECRETS, ObjectKey("default", "a"))
    assert stored is not None
    missing = NotAnswered(404, "NotFound", 'secrets "b" not found')
    assert asking.reply[:2] == (Found((stored,)), missing)
    assert [key_of(each).name for each in asking.reply[2].objects] == ["a"]
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
    asking = Asking(AtOnce(tuple(question(f"s-{number}") for number in range(100))))

    async with at_work(cluster, controller(asking), transport=wire):
        await a_while(3.9)
        assert not asking.reply
        await a_while(0.2)
        assert len(asking.reply) == 100

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
    told: list[Resource | NotAnswered] = []

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        told.append(await KindQuestion(hedge))
        await Create(DEFINITIONS, DEFINITION, "wished-for")
        told.extend(await AtOnce((KindQuestion(hedge),)))
        return Plan()

    async with at_work(cluster, controller(decide)):
        await a_while()

    before, after = told
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
    asking = Asking(AtOnce((action, create("b"))))

    async with at_work(cluster, controller(asking), observer=ears):
        await a_while()

    outcomes = asking.reply
    if action.key.namespace == "..":
        refusal = outcomes[0].error
        assert refusal is not None
        assert (refusal.code, refusal.reason) == (400, "BadRequest")
    assert outcomes[0].error is not None
    assert names(cluster) == ["b"]
    assert ears.errors == []


@virtual_time
async def test_independent_steps_of_all_kinds_are_replied_to_in_their_order() -> None:
    cluster = world()
    secret_kind, hedge = Kind("v1", "Secret"), Kind("example.com/v1", "Hedge")
    steps = (
        KindQuestion(hedge),
        create("a"),
        InOrder((create("b"), create("b"), create("c"))),
        question("missing"),
        AtOnce((create("d"), KindQuestion(secret_kind))),
        Now(),
        create("e"),
    )
    asking = Asking(AtOnce(steps))

    async with at_work(cluster, controller(asking)):
        await a_while()

    unknown, a, in_order, missing, (d, known), now, e = asking.reply
    assert [each.action.key.name for each in (a, *in_order, d, e)] == ["a", "b", "b", "d", "e"]
    assert isinstance(unknown, NotAnswered)
    assert isinstance(missing, NotAnswered)
    assert known == SECRETS
    assert isinstance(now, datetime)
    assert sorted(names(cluster)) == ["a", "b", "d", "e"]


@virtual_time
async def test_the_first_decision_knows_the_version_of_the_server_and_later_ones_each_other_one() -> None:
    cluster, seen = world(), list[frozenset[str]]()
    cluster.version = "v1.30.0"

    def decide(_snapshot: Snapshot, context: Context[None]) -> Plan:
        seen.append(context.server_versions)
        return Plan(requeue_after=VERSION_PERIOD + 1)

    async with at_work(cluster, replace(controller(decide), reads_server_version=True)):
        await a_while()
        cluster.version = "v1.31.0"
        await a_while(VERSION_PERIOD + 2)

    assert seen[0] == {"v1.30.0"}
    assert seen[-1] == {"v1.30.0", "v1.31.0"}


@virtual_time
async def test_a_process_without_a_renderer_says_so_to_a_decision_that_asks_for_a_chart() -> None:
    asking = Asking(RenderChart(b"chart", "release", "namespace", {}, "v1.36.0"))

    async with at_work(world(), controller(asking)):
        await a_while()

    assert asking.reply == RenderError("unavailable", "this process renders no charts")


@virtual_time
async def test_a_step_that_nobody_can_perform_is_a_defect_that_is_told() -> None:
    class Dream(Step[None]):
        pass

    ears = Ears()

    async with at_work(world(), controller(Asking(Dream())), observer=ears):
        await a_while(0.001)

    assert ears.errors == [(WISH, "TypeError: this process cannot perform Dream")]
