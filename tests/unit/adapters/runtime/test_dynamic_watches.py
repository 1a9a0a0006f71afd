"""Kinds that only objects name are watched as long as they are named and served, on virtual time."""

import asyncio
from dataclasses import replace

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Watch
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow_adapters.memory import Answered, Fault, Lost
from hedgerow_adapters.memory import requests as matching
from hedgerow_adapters.protocol.requests import METADATA, METADATA_LIST
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.runtime.dynamic_watches import GRACE
from tests.comparisons import is_comparison
from tests.unit.adapters.runtime.dynamic_watchers import (
    GADGETS,
    SECRETS,
    SERVICES,
    WIDGETS,
    Stage,
    names_in,
    naming_controller,
    owner,
    watched,
)
from tests.unit.adapters.runtime.mirrors import kept
from tests.unit.adapters.runtime.world import at_work
from tests.virtual_clock import virtual_time

A = ObjectKey("default", "a")
WIDGET_LIST = "/apis/example.com/v1/widgets"
UNAVAILABLE = Answered(Response(503, "away"))
FORBIDDEN = Answered(Response(403, {"kind": "Status", "reason": "Forbidden", "message": "no", "code": 403}))


@virtual_time
async def test_a_kind_is_watched_once_it_is_named_and_its_changes_reach_the_controller() -> None:
    stage = Stage()
    view = stage.view()
    stage.give(SECRETS, "old", "a")

    async with stage.open():
        assert (stage.wire.open, names_in(view, SECRETS), view.snapshot.get(SECRETS, A)) == ({}, None, None)
        stage.name("a", SECRETS)
        await asyncio.sleep(1)
        assert (stage.wire.open, names_in(view, SECRETS)) == ({"secrets": 1}, ["old"])

        stage.woken.clear()
        stage.give(SECRETS, "new", "a")
        await asyncio.sleep(1)

    assert names_in(view, SECRETS) == ["old", "new"]
    assert stage.woken == [("secrets", "a")]


@virtual_time
async def test_who_names_a_kind_is_looked_at_when_its_objects_are_at_hand_even_if_there_are_none() -> None:
    stage = Stage()
    stage.view()
    stage.name("a", SECRETS)
    stage.name("b", SECRETS, WIDGETS)
    stage.name("c", WIDGETS)

    async with stage.open():
        assert sorted(stage.woken) == [("configmaps", name) for name in "aabbc"]
        stage.woken.clear()
        await asyncio.sleep(600)

    assert stage.woken == []


@virtual_time
async def test_a_kind_that_is_served_later_is_watched_then() -> None:
    stage = Stage()
    view = stage.view()
    stage.name("a", WIDGETS)

    async with stage.open():
        await asyncio.sleep(200)
        assert (stage.wire.open, names_in(view, WIDGETS)) == ({}, None)
        stage.define(WIDGETS)
        stage.give(WIDGETS, "w", "a")
        stage.woken.clear()
        await asyncio.sleep(61)

    assert names_in(view, WIDGETS) == ["w"]
    assert stage.woken == [("widgets", "a"), ("configmaps", "a")]


@virtual_time
async def test_a_definition_that_is_seen_to_come_lets_its_kind_be_watched_at_once() -> None:
    stage = Stage()
    view = stage.view()
    definition = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    stage.name("a", definition, WIDGETS)

    async with stage.open():
        stage.define(WIDGETS)
        await asyncio.sleep(0.1)
        assert names_in(view, WIDGETS) == []
        stage.undefine(WIDGETS)
        await asyncio.sleep(5)
        assert names_in(view, WIDGETS) is None
        stage.define(WIDGETS._replace(namespaced=False))
        await asyncio.sleep(0.1)

        assert names_in(view, WIDGETS._replace(namespaced=False)) == []
        assert names_in(view, WIDGETS) is None


@virtual_time
async def test_a_kind_that_nobody_names_is_forgotten_a_minute_later() -> None:
    stage = Stage()
    view = stage.view()
    stage.name("a", SECRETS)
    stage.name("b", SECRETS)
    stage.give(SECRETS, "s", "a")

    async with stage.open():
        stage.unname("a")
        await asyncio.sleep(2 * GRACE)
        stage.name("b")
        await asyncio.sleep(GRACE - 1)
        assert (stage.wire.open, names_in(view, SECRETS)) == ({"secrets": 1}, ["s"])
        await asyncio.sleep(2)
        assert (stage.wire.open, names_in(view, SECRETS)) == ({}, None)

        stage.name("c", SECRETS)
        await asyncio.sleep(1)
        assert (stage.wire.open, names_in(view, SECRETS)) == ({"secrets": 1}, ["s"])


@virtual_time
async def test_a_kind_that_is_named_again_in_good_time_is_not_listed_again() -> None:
    stage = Stage()
    stage.view()
    stage.name("a", SECRETS)

    async with stage.open():
        for _ in range(10):
            stage.name("a")
            await asyncio.sleep(GRACE - 1)
            stage.name("a", SECRETS)
            await asyncio.sleep(GRACE + 1)

        assert stage.wire.asked_for("/api/v1/secrets") == 1


@virtual_time
async def test_two_controllers_share_what_they_follow_until_both_have_let_go() -> None:
    stage = Stage()
    first, second = stage.view(), stage.view()
    stage.name("a", SECRETS)
    stage.give(SECRETS, "s", "a")

    async with stage.open():
        stage.woken.clear()
        stage.give(SECRETS, "t", "a")
        await asyncio.sleep(1)

        assert stage.wire.open == {"secrets": 1}
        assert stage.wire.asked_for("/api/v1/secrets") == stage.wire.asked_for("/api/v1") == 1
        assert stage.woken == [("secrets", "a")] * 2
        assert first.snapshot.get(SECRETS, ObjectKey("default", "t")) is second.snapshot.get(
            SECRETS, ObjectKey("default", "t")
        )


@virtual_time
async def test_who_comes_to_share_a_cache_hears_of_what_it_holds() -> None:
    stage = Stage()
    early = naming_controller()
    late = replace(
        early,
        dynamic_watches=(
            replace(early.dynamic_watches[0], kinds=replace(early.dynamic_watches[0].kinds, name="others")),
        ),
    )
    also = Index("late", SECRETS, lambda _secret: ["x"])
    stage.view(early)
    declared = Watch(SECRETS, kept, owner, may_be_absent=True)
    view = stage.view(replace(late, watches=(*late.watches, declared), indexes=(also,)))
    stage.give(SECRETS, "s", "a")

    async with stage.open():
        assert ("secrets", "a") in stage.woken
        stage.woken.clear()
        stage.name("a", SECRETS)
        await asyncio.sleep(1)

        assert stage.woken.count(("secrets", "a")) == 2
        assert stage.woken.count(("configmaps", "a")) == 4
        assert len(view.snapshot.by_index(also, "x")) == 1
        assert stage.wire.asked_for("/api/v1/secrets") == 1
        stage.name("a")
        await asyncio.sleep(2 * GRACE)
        assert stage.wire.open == {"secrets": 1}


@pytest.mark.parametrize(
    "outcome", [Lost(hangs=True), Lost(), UNAVAILABLE, FORBIDDEN], ids=["slow", "lost", "away", "forbidden"]
)
@pytest.mark.parametrize("path", ["/apis/example.com/v1", WIDGET_LIST], ids=["discovery", "list"])
@virtual_time
async def test_a_kind_that_cannot_be_listed_delays_nobody_and_is_tried_again(
    path: str, outcome: Lost | Answered
) -> None:
    stage = Stage()
    view = stage.view()
    stage.define(WIDGETS)
    stage.give(WIDGETS, "w", "a")
    stage.name("a", WIDGETS, SECRETS)
    fault = Fault(lambda request: request.path == path, outcome, times=None)
    stage.cluster.faults.append(fault)

    async with stage.open():
        await asyncio.wait_for(view.completed(), timeout=1)
        assert view.is_complete(Cluster.TARGET)
        assert (names_in(view, SECRETS), names_in(view, WIDGETS)) == ([], None)
        assert view.informer_of(Cluster.TARGET, WIDGETS, A) is None
        assert view.informer_of(Cluster.TARGET, SECRETS, A) is not None
        await asyncio.sleep(3600)
        assert 50 <= sum(map(fault.picks, stage.wire.asked)) <= 120
        stage.cluster.faults.clear()
        await asyncio.sleep(100)

    assert names_in(view, WIDGETS) == ["w"]


@virtual_time
async def test_nobody_waits_for_a_followed_cache_that_is_not_kept_in_step() -> None:
    stage = Stage()
    view = stage.view()
    stage.name("a", SECRETS)

    async with stage.open():
        stage.cluster.faults.append(Fault(matching("GET", "/secrets"), UNAVAILABLE, times=None))
        stage.cluster.close_watches()
        await asyncio.sleep(2)
        assert (names_in(view, SECRETS), view.informer_of(Cluster.TARGET, SECRETS, A)) == ([], None)
        stage.cluster.faults.clear()
        await asyncio.sleep(70)
        assert view.informer_of(Cluster.TARGET, SECRETS, A) is not None


@virtual_time
async def test_what_happened_while_a_watch_had_expired_is_heard_of() -> None:
    stage = Stage()
    view = stage.view()
    stage.name("a", SECRETS)
    stage.give(SECRETS, "s", "a")

    async with stage.open():
        stage.cluster.faults.append(Fault(matching("GET", "/secrets"), UNAVAILABLE, times=2))
        stage.cluster.close_watches()
        await asyncio.sleep(0.1)
        stage.give(SECRETS, "t", "a")
        stage.cluster.compact()
        stage.woken.clear()
        await asyncio.sleep(60)

    assert names_in(view, SECRETS) == ["s", "t"]
    assert stage.woken == [("secrets", "a")]


@virtual_time
async def test_the_objects_of_a_kind_that_is_served_no_longer_are_gone_until_it_is_served_again() -> None:
    stage = Stage()
    view = stage.view()
    stage.define(WIDGETS)
    stage.give(WIDGETS, "w", "a")
    stage.name("a", WIDGETS)

    async with stage.open():
        assert names_in(view, WIDGETS) == ["w"]
        stage.woken.clear()
        stage.undefine(WIDGETS)
        await asyncio.sleep(10)
        assert (names_in(view, WIDGETS), stage.woken) == (None, [("widgets", "a")])
        asked = len(stage.wire.asked)
        await asyncio.sleep(1200)
        # Two documents each minute, and the watch of ConfigMaps; without the comparisons of this one.
        assert 38 <= sum(not is_comparison(each.query) for each in stage.wire.asked[asked:]) <= 46

        stage.define(WIDGETS)
        stage.give(WIDGETS, "again", "a")
        await asyncio.sleep(61)
        assert names_in(view, WIDGETS) == ["again"]


@virtual_time
async def test_what_is_missing_is_asked_for_once_a_minute_however_many_controllers_follow_it() -> None:
    stage = Stage()
    for _ in range(3):
        stage.view()
    for number in range(20):
        stage.name(f"a{number}", WIDGETS, GADGETS, Kind("example.com/v1", f"Kind{number}"))

    async with stage.open():
        await asyncio.sleep(3600)

    assert 59 <= stage.wire.asked_for("/apis/example.com/v1") <= 61


@virtual_time
async def test_what_cannot_be_watched_or_is_no_kind_is_not() -> None:
    stage = Stage()
    stage.view()
    stage.name("a", Kind("a/b/c", "Widget"), Kind("v1", "Review"), SECRETS)
    review = {"name": "reviews", "kind": "Review", "namespaced": True, "verbs": ["create"]}
    secret = {"name": "secrets", "kind": "Secret", "namespaced": True, "verbs": ["list", "watch"]}
    reviews = Answered(Response(200, {"groupVersion": "v1", "resources": [review, secret]}))
    stage.cluster.faults.append(Fault(lambda request: request.path == "/api/v1", reviews, times=None))

    async with stage.open():
        await asyncio.sleep(600)
        assert stage.wire.open == {"secrets": 1}

    assert {request.path for request in stage.wire.asked} == {"/api/v1", "/api/v1/configmaps", "/api/v1/secrets"}


@virtual_time
async def test_of_a_restricted_cluster_the_visible_namespaces_are_followed() -> None:
    stage = Stage(namespaces=("default", "shop"))
    view = stage.view()
    stage.name("a", SECRETS)
    for namespace in ("default", "shop", "hidden"):
        stage.give(SECRETS, f"of-{namespace}", "a", namespace)

    async with stage.open():
        assert stage.wire.open == {"secrets": 2}
        assert names_in(view, SECRETS) == ["of-default", "of-shop"]
        assert view.informer_of(Cluster.TARGET, SECRETS, ObjectKey("hidden", "x")) is None
        stage.name("a")
        await asyncio.sleep(2 * GRACE)
        assert stage.wire.open == {}


@virtual_time
async def test_as_long_as_one_namespace_is_not_listed_nothing_is_shown() -> None:
    stage = Stage(namespaces=("default", "shop"))
    view = stage.view()
    stage.name("a", SECRETS)
    stage.cluster.faults.append(Fault(matching("GET", "/shop/secrets"), UNAVAILABLE, times=None))

    async with stage.open():
        assert (stage.wire.open, names_in(view, SECRETS)) == ({"secrets": 1}, None)
        stage.cluster.faults.clear()
        await asyncio.sleep(10)
        assert names_in(view, SECRETS) == []


@virtual_time
async def test_what_is_said_to_be_served_and_is_not_is_looked_for_ever_more_rarely() -> None:
    stage = Stage()
    view = stage.view()
    stage.define(WIDGETS)
    stage.name("a", WIDGETS)
    absent = Answered(Response(404, "404 page not found\n"))
    stage.cluster.faults.append(Fault(lambda request: request.path == WIDGET_LIST, absent, times=None))

    async with stage.open():
        await asyncio.sleep(3600)
        assert names_in(view, WIDGETS) is None
        assert stage.wire.asked_for("/apis/example.com/v1") <= stage.wire.asked_for(WIDGET_LIST) + 1 <= 100
        stage.cluster.faults.clear()
        stage.woken.clear()
        await asyncio.sleep(60)

    assert names_in(view, WIDGETS) == []
    assert stage.woken == [("configmaps", "a")]


@virtual_time
async def test_metadata_is_all_that_is_sent_where_nothing_else_is_kept() -> None:
    def metadata(manifest: Manifest) -> Manifest:
        return {"metadata": manifest["metadata"]}

    stage = Stage()
    watch = Watch(SECRETS, metadata, owner, metadata_only=True)
    view = stage.view(naming_controller(lambda _resource: (watch,)))
    stage.name("a", SECRETS)

    async with stage.open():
        stage.give(SECRETS, "s", "a")
        await asyncio.sleep(1)

    accepted = [request.accept for request in stage.wire.asked if request.path == "/api/v1/secrets"]
    assert accepted == [METADATA_LIST, METADATA]
    assert names_in(view, SECRETS) == ["s"]


@virtual_time
async def test_what_is_watched_because_of_two_kinds_is_mapped_once_and_kept_for_the_last_of_them() -> None:
    beside = Watch(SECRETS, kept, owner)

    def with_secrets(resource: Resource) -> tuple[Watch, ...]:
        return (*watched(resource), beside)

    stage = Stage()
    stage.view(naming_controller(with_secrets))
    stage.define(WIDGETS)
    stage.name("a", WIDGETS)
    stage.name("b", SERVICES)

    async with stage.open():
        stage.woken.clear()
        stage.give(SECRETS, "s", "a")
        await asyncio.sleep(1)
        assert stage.woken == [("secrets", "a")]
        stage.name("a")
        await asyncio.sleep(2 * GRACE)
        assert stage.wire.open == {"secrets": 1, "services": 1}
        stage.name("b")
        await asyncio.sleep(2 * GRACE)
        assert stage.wire.open == {}


@virtual_time
async def test_a_watch_that_ends_in_trouble_is_in_trouble_no_longer() -> None:
    stage = Stage()
    ended: list[Resource] = []
    stage.ears.resumed = lambda watched: ended.append(watched.resource)  # type: ignore[method-assign]  # an ear more
    stage.view()
    stage.name("a", SECRETS)
    stage.cluster.faults.append(Fault(matching("GET", "/secrets"), FORBIDDEN, times=None))

    async with stage.open():
        stage.name("a")
        assert ended == []
        await asyncio.sleep(2 * GRACE)

    assert ended == [SECRETS]


@virtual_time
async def test_a_controller_at_work_gets_the_keys_of_what_it_follows_and_is_never_kept_waiting() -> None:
    turns: list[tuple[str, list[str]]] = []

    def reconcile(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        turns.append((key.name, [key_of(each).name for each in snapshot.list(SECRETS)]))
        return Plan()

    stage = Stage()
    stage.name("a", SECRETS)
    stage.name("b", WIDGETS)
    stage.give(SECRETS, "s", "a")
    stage.cluster.faults.append(Fault(matching("GET", "/secrets"), UNAVAILABLE))
    controller = replace(naming_controller(), owned=None, reconcile=reconcile, primary_cluster=Cluster.TARGET)

    async with at_work(stage.cluster, controller):
        await asyncio.sleep(0.5)
        assert sorted(turns) == [("a", []), ("b", [])]
        await asyncio.sleep(5)
        stage.give(SECRETS, "t", "a")
        await asyncio.sleep(1)

    assert turns[2:] == [("a", ["s"]), ("a", ["s", "t"])]


@virtual_time
async def test_what_the_first_list_of_a_kind_brings_lets_live_changes_pass() -> None:
    turns: list[str] = []

    def reconcile(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        if snapshot.has_synced(SECRETS):
            if not turns:
                stage.name("live")
            turns.append(key.name)
        return Plan()

    stage = Stage()
    for number in range(50):
        stage.name(f"named-{number}", SECRETS)
        stage.give(SECRETS, f"s-{number}", f"named-{number}")
    controller = replace(
        naming_controller(), owned=None, reconcile=reconcile, primary_cluster=Cluster.TARGET, concurrency=1
    )

    async with at_work(stage.cluster, controller):
        await asyncio.sleep(5)

    assert len(set(turns)) == 51
    assert turns.index("live") < 25


@virtual_time
async def test_the_silence_of_what_is_followed_can_be_asked_for_as_long_as_it_is() -> None:
    stage = Stage()
    stage.view()
    stage.name("a", SECRETS)

    async with stage.open():
        await asyncio.sleep(20)
        assert [(resource, silence()) for resource, silence in stage.ears.silences.items()] == [(SECRETS, 21.0)]
        stage.name("a")
        await asyncio.sleep(2 * GRACE)
        assert stage.ears.silences[SECRETS]() == 0


def test_what_is_not_watched_cannot_name_kinds() -> None:
    async def scenario() -> None:
        with pytest.raises(ValueError, match="what configmaps name is followed, and they are not watched"):
            Stage().view(replace(naming_controller(), watches=()))

    asyncio.run(scenario())
