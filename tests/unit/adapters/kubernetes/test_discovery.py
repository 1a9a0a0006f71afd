"""As which resource a kind is served, and how often a server is asked for that, on virtual time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.machinery.objects import Kind, ObjectKey, Resource
from hedgerow.machinery.questions import NotAnswered
from hedgerow_adapters.kubernetes.discovery import CHECKED_EVERY, CONFIRMED_AFTER, MISSING_AT_FIRST, Discovery
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.memory import requests as matching
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import is_built_in
from hedgerow_adapters.protocol.transport import Request, Response
from tests.unit.adapters.runtime.world import Wire
from tests.virtual_clock import virtual_time

CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
SECRETS = Resource("", "v1", "secrets", "Secret")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
WIDGETS = Resource("example.com", "v1", "widgets", "Widget")
SECRET, DEPLOYMENT, WIDGET = SECRETS.object_kind, DEPLOYMENTS.object_kind, WIDGETS.object_kind
NO_WIDGETS = NotAnswered(404, "NoMatch", 'no matches for kind "Widget" in version "example.com/v1"')


class SlowWire(Wire):
    """The answer is true when the request is sent, and takes a second."""

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        response = await super().send(request, timeout=timeout, may_send=may_send)
        await asyncio.sleep(1)
        return response


class DiscoveredCluster:
    """A cluster, and what is found out about it."""

    def __init__(self, wire: type[Wire] = Wire) -> None:
        self.cluster = InMemoryCluster()
        self.wire = wire(MemoryTransport(self.cluster))
        self.discovery = Discovery(self.wire)

    def define(self, resource: Resource) -> None:
        spec = {
            "group": resource.group,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "names": {"plural": resource.plural, "kind": resource.kind},
            "versions": [{"name": resource.version, "served": True, "storage": True}],
        }
        definition = {"metadata": {"name": f"{resource.plural}.{resource.group}"}, "spec": spec}
        assert self.cluster.handle(requests.create(CRDS, definition)).is_success

    def undefine(self, resource: Resource) -> None:
        assert self.cluster.handle(requests.delete(CRDS, definition_of(resource))).is_success

    async def found(self, kind: Kind) -> Resource | NotAnswered:
        return (await self.discovery.look_up([kind]))[kind]

    @property
    def asked(self) -> list[str]:
        return [request.path for request in self.wire.asked]


def definition_of(resource: Resource) -> ObjectKey:
    return ObjectKey("", f"{resource.plural}.{resource.group}")


def answering(body: Any, status: int = 200) -> Fault:
    return Fault(matching("GET", "/apis/example.com/v1"), Answered(Response(status, body)), times=None)


@virtual_time
async def test_a_kind_is_found_with_all_others_of_its_version_and_known_from_then_on() -> None:
    place = DiscoveredCluster()

    found = await place.discovery.look_up([DEPLOYMENT, SECRET, Kind("v1", "Namespace")])
    await asyncio.sleep(24 * 3600)

    assert (found[DEPLOYMENT], found[SECRET]) == (DEPLOYMENTS, SECRETS)
    assert found[Kind("v1", "Namespace")] == Resource("", "v1", "namespaces", "Namespace", namespaced=False)
    assert place.discovery.known[Kind("apps/v1", "StatefulSet")] == DEPLOYMENTS._replace(
        plural="statefulsets", kind="StatefulSet"
    )
    assert Kind("apps/v1", "Scale") not in place.discovery.known
    assert await place.discovery.look_up([DEPLOYMENT, SECRET]) == {DEPLOYMENT: DEPLOYMENTS, SECRET: SECRETS}
    assert set(place.asked) == {"/api/v1", "/apis/apps/v1"}
    assert len(place.asked) <= 2 + 2 * 24 * 6, "it is looked at again from time to time"


@virtual_time
async def test_that_a_kind_is_not_served_is_asked_once_a_minute_however_often_somebody_wants_to_know() -> None:
    place = DiscoveredCluster()
    kinds = [WIDGET, Kind("example.com/v1", "Gadget"), Kind("apps/v1", "Deploymint")]
    await place.discovery.look_up(kinds)
    await asyncio.sleep(MISSING_AT_FIRST)

    for _ in range(180):
        await asyncio.sleep(1)
        await place.discovery.look_up(kinds)
    found = await place.discovery.look_up(kinds)

    assert found[WIDGET] == place.discovery.known[WIDGET] == NO_WIDGETS
    assert found[kinds[2]] == NotAnswered(404, "NoMatch", 'no matches for kind "Deploymint" in version "apps/v1"')
    assert {path: place.asked.count(path) for path in place.asked} == {
        "/apis/example.com/v1": 4,
        "/apis": 4,
        "/apis/apps/v1": 4,
    }


@virtual_time
async def test_a_definition_that_is_written_lets_what_is_not_served_be_asked_for_every_second_of_a_minute() -> None:
    place = DiscoveredCluster()
    await place.discovery.look_up([WIDGET, DEPLOYMENT])
    await asyncio.sleep(2)

    place.discovery.may_have_changed(SECRETS)
    assert place.discovery.known[WIDGET] == NO_WIDGETS
    place.discovery.may_have_changed(CRDS)
    assert WIDGET not in place.discovery.known
    for _ in range(1200):
        await place.found(WIDGET)
        await place.found(DEPLOYMENT)
        await asyncio.sleep(0.1)

    assert place.asked.count("/apis/apps/v1") == 1
    assert 60 <= place.asked.count("/apis/example.com/v1") - 1 <= 62


@virtual_time
async def test_a_definition_that_changes_concerns_its_own_group_alone() -> None:
    place = DiscoveredCluster()
    place.define(WIDGETS)
    await place.discovery.look_up([WIDGET, DEPLOYMENT, Kind("other.com/v1", "Widget")])

    place.undefine(WIDGETS)
    place.define(WIDGETS._replace(namespaced=False))
    place.discovery.may_have_changed(CRDS, definition_of(WIDGETS))
    found = await place.discovery.look_up([WIDGET, DEPLOYMENT, Kind("other.com/v1", "Widget")])

    assert found[WIDGET] == WIDGETS._replace(namespaced=False)
    assert len(place.asked) == 5, "once more for the list of all groups"


@virtual_time
async def test_a_change_that_nobody_hints_at_is_noticed_all_the_same() -> None:
    place = DiscoveredCluster()
    place.define(WIDGETS)
    await place.discovery.look_up([WIDGET, DEPLOYMENT])
    place.undefine(WIDGETS)
    place.define(WIDGETS._replace(namespaced=False))

    await asyncio.sleep(CHECKED_EVERY + CONFIRMED_AFTER + 1)

    assert WIDGET not in place.discovery.known
    assert await place.found(WIDGET) == WIDGETS._replace(namespaced=False)
    assert place.discovery.known[DEPLOYMENT] == DEPLOYMENTS


@virtual_time
async def test_a_server_that_knows_less_for_a_moment_is_not_believed() -> None:
    place = DiscoveredCluster()
    place.define(WIDGETS)
    await place.found(WIDGET)
    blip = answering("404 page not found", 404)
    place.cluster.faults.append(blip)

    await asyncio.sleep(CHECKED_EVERY + 1)
    assert place.discovery.known[WIDGET] == WIDGETS
    place.cluster.faults.remove(blip)
    await asyncio.sleep(2 * CONFIRMED_AFTER)

    assert place.discovery.known[WIDGET] == WIDGETS


@virtual_time
async def test_an_answer_of_before_a_change_is_not_taken_for_one_of_after_it() -> None:
    place = DiscoveredCluster(SlowWire)

    looking = asyncio.create_task(place.found(WIDGET))
    await asyncio.sleep(0.5)
    place.discovery.may_have_changed(CRDS, definition_of(WIDGETS))
    before = await looking
    place.define(WIDGETS)

    assert before == NO_WIDGETS
    assert WIDGET not in place.discovery.known
    assert await place.found(WIDGET) == WIDGETS


@virtual_time
async def test_who_asks_at_the_same_time_shares_one_request_and_may_give_up_alone() -> None:
    place = DiscoveredCluster(SlowWire)
    place.define(WIDGETS)

    first, *others = [asyncio.create_task(place.found(WIDGET)) for _ in range(5)]
    await asyncio.sleep(0.5)
    assert len(place.asked) == 1
    first.cancel()
    found = await asyncio.gather(*others)

    assert found == [WIDGETS] * 4
    assert first.cancelled()
    assert len(place.asked) == 2


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (
            answering({"kind": "Status", "message": "no", "reason": "Forbidden"}, 403),
            NotAnswered(403, "Forbidden", "no"),
        ),
        (answering("away\n", 503), NotAnswered(503, "ServiceUnavailable", "away")),
        (
            answering({"kind": "Pod"}),
            NotAnswered(500, "", 'the API server\'s list of the resources of "example.com/v1" is none'),
        ),
        (Fault(lambda _request: True, Lost(), times=None), NotAnswered(500, "", "connection lost")),
    ],
    ids=["forbidden", "away", "nonsense", "lost"],
)
@virtual_time
async def test_that_there_was_no_answer_is_told_to_who_asked_and_not_remembered(
    fault: Fault, expected: NotAnswered
) -> None:
    place = DiscoveredCluster()
    place.define(WIDGETS)
    place.cluster.faults.append(fault)

    refused = await place.found(WIDGET)
    assert WIDGET not in place.discovery.known
    place.cluster.faults.clear()

    assert refused == expected
    assert await place.found(WIDGET) == WIDGETS


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (
            Kind("a/b/c", "Widget"),
            'unexpected apiVersion "a/b/c": it is neither a version nor a group and a version',
        ),
        (
            Kind("../v1", "Widget"),
            'unexpected apiVersion "../v1": it is neither a version nor a group and a version',
        ),
        (Kind("/v1", "Widget"), 'unexpected apiVersion "/v1": it is neither a version nor a group and a version'),
        (Kind("", "Widget"), 'an object of kind "Widget" has no apiVersion'),
        (Kind("v1", ""), 'an object of version "v1" has no kind'),
    ],
)
@virtual_time
async def test_nobody_is_asked_for_what_is_no_kind(kind: Kind, problem: str) -> None:
    place = DiscoveredCluster()

    assert await place.found(kind) == NotAnswered(400, "BadRequest", problem)
    assert place.asked == []


@virtual_time
async def test_only_what_can_be_listed_and_watched_is_watchable_and_counts_first_of_its_kind() -> None:
    place = DiscoveredCluster()
    verbs = ["create", "get", "list", "watch"]
    body = {
        "groupVersion": "example.com/v1",
        "resources": [
            {"name": "reviews", "kind": "Review", "namespaced": True, "verbs": ["create"]},
            {"name": "widgetviews", "kind": "Widget", "namespaced": True, "verbs": ["get", "list"]},
            {"name": "widgets", "kind": "Widget", "namespaced": True, "verbs": verbs},
            {"name": "widgets/scale", "kind": "Scale", "namespaced": True, "verbs": verbs},
            {"name": None, "kind": "Nonsense"},
        ],
    }
    place.cluster.faults.append(answering(body))

    found = await place.discovery.look_up([Kind("example.com/v1", kind) for kind in ("Review", "Widget", "Scale")])
    reviews, widgets, scale = found.values()

    assert isinstance(reviews, Resource)
    assert not place.discovery.is_watchable(reviews)
    assert widgets == WIDGETS
    assert place.discovery.is_watchable(WIDGETS)
    assert isinstance(scale, NotAnswered)


@pytest.mark.parametrize(
    ("forget", "seconds"),
    [
        (lambda _place: None, MISSING_AT_FIRST),
        (lambda place: place.discovery.may_have_changed(CRDS), 0.0),
        (lambda place: place.discovery.may_have_changed(CRDS, definition_of(WIDGETS)), 0.0),
    ],
    ids=["in time", "a definition", "its definition"],
)
@virtual_time
async def test_who_waits_for_news_of_a_kind_is_told_when_it_may_have_changed(
    forget: Callable[[DiscoveredCluster], None], seconds: float
) -> None:
    place, clock = DiscoveredCluster(), asyncio.get_running_loop().time
    await place.found(WIDGET)
    waiting = asyncio.create_task(place.discovery.until_forgotten(WIDGET))
    await asyncio.sleep(0)
    began = clock()

    forget(place)
    await waiting

    assert clock() - began == seconds


@virtual_time
async def test_what_turns_out_not_to_be_served_is_asked_for_again() -> None:
    place = DiscoveredCluster()
    place.define(WIDGETS)
    await place.found(WIDGET)
    place.undefine(WIDGETS)

    place.discovery.in_doubt(WIDGETS._replace(plural="gadgets"))
    assert await place.found(WIDGET) == WIDGETS
    place.discovery.in_doubt(WIDGETS)

    assert await place.found(WIDGET) == NO_WIDGETS


@pytest.mark.parametrize(
    "odd_entry",
    [
        {"name": "widgets", "kind": "Widget", "verbs": True},
        {"name": "widgets", "kind": "Widget", "verbs": [{}]},
        {"name": "widgets", "kind": ["Widget"], "verbs": ["list", "watch"]},
        {"name": "widgets", "kind": {"a": 1}, "verbs": ["list", "watch"]},
        {"name": "..", "kind": "Widget", "verbs": ["list", "watch"]},
    ],
)
@virtual_time
async def test_what_a_server_says_in_another_shape_harms_nobody(odd_entry: Any) -> None:
    place = DiscoveredCluster()
    gadget = {"name": "gadgets", "kind": "Gadget", "verbs": ["list", "watch"]}
    place.cluster.faults.append(answering({"groupVersion": "example.com/v1", "resources": [odd_entry, gadget]}))

    found = await place.found(WIDGET)

    assert isinstance(found, NotAnswered) or not place.discovery.is_watchable(found)
    assert isinstance(await place.found(Kind("example.com/v1", "Gadget")), Resource)


BARE = Response(404, "404 page not found\n", {"content-type": "text/plain"})
DEFINED = "/apis/example.com/v1"


@pytest.mark.parametrize(
    "groups",
    [
        BARE,
        Response(503, None),
        Response(200, {"kind": "List", "groups": []}),
        Response(200, {"kind": "APIGroupList", "groups": []}),
        Response(200, {"kind": "APIGroupList", "groups": [{"name": "example.com"}]}),
        Response(200, {"kind": "APIGroupList", "groups": [{"versions": [{"groupVersion": "example.com/v1"}]}]}),
    ],
    ids=["bare", "away", "no list of groups", "empty", "odd", "listed"],
)
@virtual_time
async def test_a_404_in_place_of_the_document_is_no_absence_unless_the_list_of_groups_lacks_it(
    groups: Response,
) -> None:
    place = DiscoveredCluster()
    place.cluster.faults += [
        Fault(matching("GET", DEFINED), Answered(BARE), times=None),
        Fault(lambda request: request.path == "/apis", Answered(groups), times=None),
    ]

    answer = await place.found(WIDGET)

    assert isinstance(answer, NotAnswered)
    assert not answer.is_not_found
    assert WIDGET not in place.discovery.known
    assert not await place.discovery.lacks(WIDGETS)


@virtual_time
async def test_the_core_group_is_never_absent() -> None:
    place = DiscoveredCluster()
    place.cluster.faults.append(Fault(matching("GET", "/api/v1"), Answered(BARE), times=None))

    answer = await place.found(SECRET)

    assert isinstance(answer, NotAnswered)
    assert not answer.is_not_found


@virtual_time
async def test_what_a_server_does_not_serve_any_more_is_lacking() -> None:
    place = DiscoveredCluster()
    place.define(WIDGETS)
    await place.found(WIDGET)

    assert not await place.discovery.lacks(WIDGETS)
    place.undefine(WIDGETS)

    assert await place.discovery.lacks(WIDGETS)


@virtual_time
async def test_what_is_built_in_and_was_served_is_never_lacking() -> None:
    place = DiscoveredCluster()
    place.discovery.was_served(DEPLOYMENTS)
    groups = {"kind": "APIGroupList", "groups": [{"name": "batch", "versions": [{"groupVersion": "batch/v1"}]}]}
    place.cluster.faults += [
        Fault(matching("GET", "/apis/apps/v1"), Answered(BARE), times=None),
        Fault(lambda request: request.path == "/apis", Answered(Response(200, groups)), times=None),
    ]

    answer = await place.found(DEPLOYMENT)

    assert not await place.discovery.lacks(DEPLOYMENTS)
    assert answer == NotAnswered(
        503, "ServiceUnavailable", 'kind "Deployment" in version "apps/v1" is built in, and discovery lacks it'
    )
    assert await place.discovery.lacks(DEPLOYMENTS._replace(plural="daemonsets", kind="DaemonSet"))


@pytest.mark.parametrize(
    ("kind", "built_in"),
    [
        (SECRET, True),
        (Kind("autoscaling/v2", "HorizontalPodAutoscaler"), True),
        (Kind("batch/v1beta1", "CronJob"), False),
        (Kind("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"), False),
        (Kind("snapshot.storage.k8s.io/v1", "VolumeSnapshot"), False),
        (WIDGET, False),
    ],
    ids=str,
)
def test_built_in_is_what_every_version_of_kube_apiserver_has(kind: Kind, *, built_in: bool) -> None:
    assert is_built_in(kind) == built_in
