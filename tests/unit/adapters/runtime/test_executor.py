"""What becomes of the actions of a plan, against the in-memory cluster."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, resource_version_of, uid_of
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch
from hedgerow_adapters.memory import BARE_NOT_FOUND, Answered, Fault, InMemoryCluster, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.executor import AT_ONCE, OVERDUE, Executor, NotWritten, Report, Unanswered, Written
from tests.virtual_clock import virtual_time

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
A = ObjectKey("default", "a")


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "data": data}


def create(name: str) -> Create:
    return Create(CONFIG_MAPS, config_map(name), "wanted")


def status(code: int, reason: str, message: str) -> Response:
    return Response(code, {"kind": "Status", "code": code, "reason": reason, "message": message})


async def cluster_with(*names: str) -> InMemoryCluster:
    cluster = InMemoryCluster()
    await Executor(MemoryTransport(cluster)).carry_out([create(name) for name in names])
    return cluster


def live(cluster: InMemoryCluster, name: str = "a") -> Manifest:
    manifest = cluster.get(CONFIG_MAPS, ObjectKey("default", name))
    assert manifest is not None
    return manifest


@virtual_time
async def test_every_action_is_carried_out_and_reported_in_order_with_the_version_it_made() -> None:
    cluster = await cluster_with("a", "b", "gone")
    actions: list[Action] = [
        create("c"),
        MergePatch(CONFIG_MAPS, A, {"data": {"x": "1"}}, "corrected", resource_version_of(live(cluster))),
        JsonPatch(CONFIG_MAPS, ObjectKey("default", "b"), [{"op": "add", "path": "/data", "value": {"y": "2"}}], "set"),
        Delete(CONFIG_MAPS, ObjectKey("default", "gone"), "unwanted", uid_of(live(cluster, "gone"))),
    ]

    outcomes = await Executor(MemoryTransport(cluster)).carry_out(actions)

    assert outcomes == [
        *(Written(action, int(live(cluster, name)["metadata"]["resourceVersion"]))
          for action, name in zip(actions[:3], ["c", "a", "b"], strict=True)),
        Written(actions[3], None),
    ]  # fmt: skip
    assert (live(cluster)["data"], live(cluster, "b")["data"]) == ({"x": "1"}, {"y": "2"})
    assert cluster.get(CONFIG_MAPS, ObjectKey("default", "gone")) is None


@virtual_time
async def test_one_that_fails_stops_no_other() -> None:
    cluster = await cluster_with("b")
    cluster.faults.append(Fault(requests("PATCH"), Lost()))
    broken = MergePatch(CONFIG_MAPS, ObjectKey("default", "b"), {"data": {}}, "corrected")

    outcomes = await Executor(MemoryTransport(cluster)).carry_out([create("a"), create("b"), broken, create("c")])

    assert [type(outcome) for outcome in outcomes] == [Written, NotWritten, NotWritten, Written]


@virtual_time
async def test_in_order_each_waits_for_the_one_before_and_nothing_follows_one_that_fails() -> None:
    cluster = await cluster_with("c")
    under_way: list[str] = []

    class Slow(MemoryTransport):
        async def send(
            self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            assert not under_way
            under_way.append(request.path)
            await asyncio.sleep(1)
            under_way.clear()
            return await super().send(request, timeout=timeout, may_send=may_send)

    actions = [create(name) for name in "abcd"]

    outcomes = await Executor(Slow(cluster)).carry_out(actions, in_order=True)

    assert [(outcome.action, type(outcome)) for outcome in outcomes] == [
        (actions[0], Written),
        (actions[1], Written),
        (actions[2], NotWritten),
    ]
    assert cluster.get(CONFIG_MAPS, ObjectKey("default", "d")) is None


@virtual_time
async def test_not_even_a_defect_in_the_transport_stops_the_others() -> None:
    class Defective(MemoryTransport):
        async def send(
            self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            if isinstance(request.body, dict) and request.body["metadata"]["name"] == "b":
                raise RuntimeError("the transport is not entered")
            return await super().send(request, timeout=timeout, may_send=may_send)

    actions = [create("a"), create("b"), create("c")]

    outcomes = await Executor(Defective(InMemoryCluster())).carry_out(actions)

    assert outcomes[1] == NotWritten(actions[1], "RuntimeError: the transport is not entered")
    assert [type(outcome) for outcome in outcomes] == [Written, NotWritten, Written]


@virtual_time
async def test_to_delete_what_is_gone_is_a_success() -> None:
    deletion = Delete(CONFIG_MAPS, A, "unwanted", "uid-1", "7")

    assert await Executor(MemoryTransport(InMemoryCluster())).carry_out([deletion]) == [Written(deletion, None)]


@pytest.mark.parametrize("resource", [CONFIG_MAPS, Resource("example.com", "v1", "hedges", "Hedge")], ids=str)
@virtual_time
async def test_a_write_that_is_answered_by_a_404_that_names_nothing_is_not_done(resource: Resource) -> None:
    cluster = await cluster_with("a")
    cluster.faults.append(Fault(requests(), BARE_NOT_FOUND, times=None))
    actions: list[Action] = [Delete(resource, A, "unwanted"), MergePatch(resource, A, {}, "corrected")]

    outcomes = await Executor(MemoryTransport(cluster)).carry_out(actions)

    failed = [each for each in outcomes if isinstance(each, NotWritten)]
    assert [each.is_race for each in failed] == [False, False]
    refusals = [each.result.error for each in failed]
    assert [refusal and (refusal.code, refusal.is_not_found) for refusal in refusals] == [(404, False), (404, False)]


@virtual_time
async def test_without_the_lease_nothing_is_sent() -> None:
    cluster = await cluster_with("a")
    before = cluster.resource_version
    actions: list[Action] = [create("b"), MergePatch(CONFIG_MAPS, A, {"data": {"x": "1"}}, "corrected")]

    for chosen in (actions, actions[:1]):
        outcomes = await Executor(MemoryTransport(cluster), may_write=lambda: False).carry_out(chosen)
        assert outcomes == [
            NotWritten(action, "this process no longer holds the lease", hits_all=True) for action in chosen
        ]
    assert cluster.resource_version == before


@virtual_time
async def test_a_lease_that_is_lost_in_between_holds_back_the_rest() -> None:
    cluster = InMemoryCluster()
    answers = iter([True, True, False])

    outcomes = await Executor(MemoryTransport(cluster), may_write=lambda: next(answers)).carry_out(
        [create("a"), create("b"), create("c")]
    )

    assert [type(outcome) for outcome in outcomes] == [Written, Written, NotWritten]
    assert [manifest["metadata"]["name"] for manifest in cluster.objects(CONFIG_MAPS)] == ["a", "b"]


@virtual_time
async def test_a_lease_that_is_lost_while_a_write_waits_to_leave_holds_it_back() -> None:
    leads = True
    cluster = InMemoryCluster()

    class Waiting(MemoryTransport):
        async def send(
            self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            await asyncio.sleep(5)
            return await super().send(request, timeout=timeout, may_send=may_send)

    sending = asyncio.create_task(Executor(Waiting(cluster), may_write=lambda: leads).carry_out([create("a")]))
    await asyncio.sleep(1)
    leads = False

    assert await sending == [NotWritten(create("a"), "this process no longer holds the lease", hits_all=True)]
    assert cluster.get(CONFIG_MAPS, A) is None


@virtual_time
async def test_a_note_that_fails_leaves_no_other_write_under_way() -> None:
    cluster = InMemoryCluster()

    class Slow(MemoryTransport):
        async def send(
            self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            await asyncio.sleep(0 if request.body["metadata"]["name"] == "a" else 5)
            return await super().send(request, timeout=timeout, may_send=may_send)

    def note(report: Report) -> None:
        raise ZeroDivisionError(report.action.key.name)

    with pytest.raises(ZeroDivisionError, match=r"^a$"):
        await Executor(Slow(cluster)).carry_out([create("a"), create("b")], note)

    assert [manifest["metadata"]["name"] for manifest in cluster.objects(CONFIG_MAPS)] == ["a", "b"]


@virtual_time
async def test_no_more_than_a_few_requests_are_under_way_at_once() -> None:
    cluster, under_way, most = InMemoryCluster(), 0, 0

    class Slow(MemoryTransport):
        async def send(
            self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(1)
            under_way -= 1
            return await super().send(request, timeout=timeout, may_send=may_send)

    outcomes = await Executor(Slow(cluster)).carry_out([create(f"a-{number}") for number in range(100)])

    assert all(isinstance(outcome, Written) for outcome in outcomes)
    assert most == AT_ONCE
    assert asyncio.get_running_loop().time() == 4.0


PATCH = MergePatch(CONFIG_MAPS, A, {"data": {"x": "1"}}, "corrected", "1")
JSON_PATCH = JsonPatch(CONFIG_MAPS, ObjectKey("default", "b"), [], "set")
DELETE = Delete(CONFIG_MAPS, A, "unwanted", "another-uid")
MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
CONFLICT = f'Operation cannot be fulfilled on configmaps "a": {MODIFIED}'
DENIAL = 'User "hedgerow" cannot create resource "configmaps" in API group "" in the namespace "default"'
NOT_OURS = status(403, "Forbidden", f"configmaps is forbidden: {DENIAL}")
TERMINATING = "unable to create new content in namespace default because it is being terminated"


@pytest.mark.parametrize(
    ("action", "answer", "problem", "is_race"),
    [
        pytest.param(create("a"), None, 'configmaps "a" already exists', True, id="somebody created it first"),
        pytest.param(PATCH, None, CONFLICT, True, id="somebody changed it first"),
        pytest.param(DELETE, None, "the UID in the precondition", True, id="it is another one by now"),
        pytest.param(MergePatch(CONFIG_MAPS, ObjectKey("default", "b"), {}, "corrected"), None,
                     'configmaps "b" not found', True, id="somebody deleted it first"),
        pytest.param(JSON_PATCH, None, 'configmaps "b" not found', True, id="the same by JSON patch"),
        pytest.param(create("b"), NOT_OURS, "missing permission: create configmaps in namespace default", False,
                     id="a role is missing"),
        pytest.param(create("b"), status(403, "Forbidden", TERMINATING), TERMINATING, False, id="the namespace goes"),
        pytest.param(Create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "none"}}, "wanted"), None,
                     'namespaces "none" not found', False, id="there is no such namespace"),
        pytest.param(create("b"), status(422, "Invalid", "spec: Required value"), "spec: Required value", False,
                     id="invalid"),
        pytest.param(create("b"), status(429, "TooManyRequests", "please try again later"), "please try again later",
                     False, id="busy"),
        pytest.param(create("b"), Response(500, None), "the API server answered with status 500 and no message", False,
                     id="an error without words"),
        pytest.param(create("b"), Response(503, "upstream unavailable\n"), "upstream unavailable", False, id="a proxy"),
    ],
)  # fmt: skip
@virtual_time
async def test_a_refusal_is_reported_in_a_useful_sentence(
    action: Action, answer: Response | None, problem: str, *, is_race: bool
) -> None:
    cluster = await cluster_with("a")
    if answer:
        cluster.faults.append(Fault(requests(), Answered(answer)))

    (outcome,) = await Executor(MemoryTransport(cluster)).carry_out([action])

    assert isinstance(outcome, NotWritten)
    assert problem in outcome.problem
    assert outcome.is_race is is_race
    assert outcome.hits_all == (answer is NOT_OURS)


@virtual_time
async def test_an_answer_that_does_not_come_is_reported_after_the_transports_patience() -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests(), Lost(hangs=True)))

    (outcome,) = await Executor(MemoryTransport(cluster)).carry_out([create("a")])

    assert outcome == NotWritten(create("a"), "timed out", hits_all=True)
    assert asyncio.get_running_loop().time() == 30.0


@pytest.mark.parametrize("body", [None, [], {"metadata": {}}, {"metadata": {"resourceVersion": "new"}}])
@virtual_time
async def test_a_success_that_says_no_version_is_a_success(body: Any) -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests(), Answered(Response(201, body))))

    assert await Executor(MemoryTransport(cluster)).carry_out([create("a")]) == [Written(create("a"), None)]


@virtual_time
async def test_one_who_gives_up_waiting_leaves_no_requests_behind() -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests(), Lost(hangs=True), times=None))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await Executor(MemoryTransport(cluster)).carry_out([create(name) for name in "abc"])

    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize(
    ("shown_from", "ends"), [(0.0, OVERDUE), (OVERDUE - 1, OVERDUE), (OVERDUE + 7.2, OVERDUE + 7.5)]
)
@virtual_time
async def test_a_write_has_ten_seconds_and_then_as_long_as_no_cache_shows_its_result(
    shown_from: float, ends: float
) -> None:
    cluster, loop = InMemoryCluster(), asyncio.get_running_loop()
    cluster.faults.append(Fault(requests("POST"), Lost(after_commit=True, hangs=True), times=2))

    def is_overtaken(action: Action) -> bool:
        return action.key == A and loop.time() >= shown_from

    executor = Executor(MemoryTransport(cluster), is_overtaken=is_overtaken)
    assert await executor.carry_out([create("a")]) == [Unanswered(create("a"))]
    assert loop.time() == ends

    (outcome,) = await executor.carry_out([create("b")])
    assert loop.time() == ends + 30
    assert outcome == NotWritten(create("b"), "timed out", hits_all=True)


@virtual_time
async def test_a_connection_that_breaks_is_no_failure_where_a_cache_shows_a_later_version() -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests("POST"), Lost(after_commit=True), times=2))

    executor = Executor(MemoryTransport(cluster), is_overtaken=lambda action: action.key == A)

    outcomes = await executor.carry_out([create("a"), create("b")])
    assert outcomes == [Unanswered(create("a")), NotWritten(create("b"), "connection lost", hits_all=True)]


@virtual_time
async def test_in_order_nothing_follows_a_write_whose_answer_is_lost() -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests("POST"), Lost(after_commit=True)))

    executor = Executor(MemoryTransport(cluster), is_overtaken=lambda _action: True)

    assert await executor.carry_out([create("a"), create("b")], in_order=True) == [Unanswered(create("a"))]
    assert cluster.get(CONFIG_MAPS, ObjectKey("default", "b")) is None
