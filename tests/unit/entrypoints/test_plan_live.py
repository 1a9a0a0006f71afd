"""Plans for a live cluster, in memory: what is asked, and that nothing is written."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hedgerow.machinery.charts import RenderChart, RenderedChart
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.configuration.reading import Decoded
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.plan import Create, Update
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow.resource_manager.configuration.controllers import Controllers, ManagedResourceSettings
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.memory.faults import requests as picked
from hedgerow_adapters.protocol.transport import Response, Transport
from hedgerow_adapters.simulation.clusters import in_memory
from hedgerow_adapters.simulation.planning import Planner
from hedgerow_adapters.simulation.virtual_time import RealTime
from hedgerow_entrypoints.cli.controllers import Chosen, ask_files, chosen_controllers
from hedgerow_entrypoints.cli.plan import planned_in
from hedgerow_entrypoints.cli.rendering import Planned
from hedgerow_entrypoints.cli.worlds import LiveClusters, clusters_of, objects_in_files
from hedgerow_entrypoints.components import component
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from hedgerow_entrypoints.configuration import Stated
from hedgerow_entrypoints.errors import CommandError
from tests.unit.adapters.runtime.world import CART, NAMESPACES, SERVICES, Wire, World, service
from tests.unit.entrypoints.command_line import REPOSITORY
from tests.unit.entrypoints.installation_landscape import landscape

EXAMPLE = (str(REPOSITORY / "examples" / "managed-resources"),)
NOW = datetime(2026, 1, 2, tzinfo=UTC)
EVERYTHING: Mapping[Cluster, Sequence[str]] = {}
DEFAULTS = ResourceManagerConfiguration()
FORBIDDEN = {"kind": "Status", "code": 403, "reason": "Forbidden"}


def chosen(name: str, settings: ResourceManagerConfiguration = DEFAULTS) -> Chosen:
    (only,) = chosen_controllers([name], Stated(COMPONENT, Decoded(settings, ())), ask_files(()))
    return only


def example() -> InMemoryCluster:
    (cluster,) = clusters_of(objects_in_files(EXAMPLE), [[chosen("managedresource").controller]])
    return cluster


def planned_over(clusters: LiveClusters, *chosen: Chosen) -> tuple[list[Planned], list[Failure]]:
    return planned_in(((each, clusters.worlds(NOW, each.remarks)) for each in chosen), NOW)


def planned_live(transport: Transport, *names: str) -> list[Planned]:
    clusters = LiveClusters(dict.fromkeys(Cluster, transport), EVERYTHING)
    planned, failures = planned_over(
        clusters, *chosen_controllers(names, Stated(COMPONENT, Decoded(DEFAULTS, ())), ask_files(()))
    )
    assert failures == []
    return planned


def told(planned: list[Planned]) -> list[tuple[str, str, str]]:
    return [(each.verb, f"{each.action.resource.kind} {each.action.key}", each.reason) for each in planned]


def test_a_cluster_that_holds_what_files_hold_gets_the_same_plan() -> None:
    cluster = example()
    planned, _ = planned_in([(chosen("managedresource"), in_memory(example()))], NOW)

    live = planned_live(MemoryTransport(cluster), "managedresource")

    assert told(live) == told(planned)
    assert [each.after for each in live if each.verb == "change"] == [
        each.after for each in planned if each.verb == "change"
    ]


def test_nothing_is_written_whoever_plans() -> None:
    cluster = example()
    version, wire = cluster.resource_version, Wire(MemoryTransport(cluster))

    planned = planned_live(wire, *(entry.name for entry in COMPONENT.controllers))

    assert planned
    assert {request.method for request in wire.asked} == {"GET"}
    assert cluster.resource_version == version


def test_kinds_that_objects_name_are_not_listed_but_asked_for_object_by_object() -> None:
    cluster = example()
    wire = Wire(MemoryTransport(cluster))

    planned = planned_live(wire, "managedresource")

    delivered = {each.action.resource.kind for each in planned} - {"ManagedResource"}
    listed = {watch.resource.plural for watch in chosen("managedresource").controller.watches}
    assert "Deployment" in delivered
    assert {request.path.rpartition("/")[2] for request in wire.asked if request.is_list} <= listed


def test_charts_are_rendered_for_the_version_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "landscape.yaml").write_text(landscape())
    objects = objects_in_files([str(tmp_path)])
    seed_extensions = component("seed-extensions")
    settings = Stated(seed_extensions, Decoded(seed_extensions.without_file(ask_files(objects)), ()))
    (installing,) = chosen_controllers(["controllerinstallation"], settings, ask_files(objects))
    (cluster,) = clusters_of(objects, [[installing.controller]])
    cluster.version = "v1.29.4-gke.1"
    clusters = LiveClusters(dict.fromkeys(Cluster, MemoryTransport(cluster)), EVERYTHING)
    versions: list[str] = []

    def render(chart: RenderChart) -> Future[RenderedChart]:
        versions.append(chart.kube_version)
        rendered = Future[RenderedChart]()
        rendered.set_result(())
        return rendered

    planned_in([(installing, clusters.worlds(NOW))], NOW, render)

    assert set(versions) == {"v1.29.4"}


def test_a_plan_by_requests_in_real_time_is_the_same() -> None:
    planned = planned_live(MemoryTransport(example()), "managedresource")

    with RealTime() as real_time:
        live = planned_live(real_time.over(MemoryTransport(example())), "managedresource")

    assert told(live) == told(planned)


def test_what_one_may_not_read_ends_the_command_and_is_not_the_fault_of_the_cluster() -> None:
    cluster = example()
    denial = Response(403, {**FORBIDDEN, "message": 'secrets is forbidden: User "me" cannot get resource "secrets"'})
    cluster.faults.append(Fault(picked(path="/secrets/storefront"), Answered(denial)))

    with pytest.raises(CommandError) as raised:
        planned_live(MemoryTransport(cluster), "managedresource")

    assert raised.value.sentences == ("missing permission: get secrets in namespace shop",)


def test_a_question_before_the_plan_that_may_not_be_asked_ends_the_command() -> None:
    world = World(service())
    denial = Response(403, {**FORBIDDEN, "message": 'User "me" cannot get resource "services"'})
    world.faults.append(Fault(picked(path="/services/cart"), Answered(denial)))
    clusters = LiveClusters(dict.fromkeys(Cluster, MemoryTransport(world)), EVERYTHING)

    with pytest.raises(CommandError, match="missing permission: get services in namespace shop"):
        clusters.ask(ObjectQuestion(SERVICES, CART, Cluster.TARGET))


def test_a_cluster_that_falls_silent_ends_the_command() -> None:
    cluster = example()
    cluster.faults.append(Fault(picked(path="/secrets/storefront"), Lost()))

    with pytest.raises(CommandError, match="connection lost"):
        planned_live(MemoryTransport(cluster), "managedresource")


def test_what_it_can_do_without_and_may_not_list_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = example()
    denial = Response(403, {**FORBIDDEN, "message": 'User "me" cannot list resource "limitranges"'})
    cluster.faults.append(Fault(picked(path="/limitranges"), Answered(denial)))

    assert planned_live(MemoryTransport(cluster), "managedresource")

    problem = "missing permission: list limitranges (all namespaces)"
    assert capsys.readouterr().err.count(f"note: planned without a list of limitranges: {problem}\n") == 1


def test_what_has_to_be_listed_and_may_not_be_ends_the_command() -> None:
    cluster = example()
    denial = Response(403, {**FORBIDDEN, "message": 'User "me" cannot list resource "managedresources"'})
    cluster.faults.append(Fault(picked(path="/managedresources"), Answered(denial)))

    with pytest.raises(CommandError) as raised:
        planned_live(MemoryTransport(cluster), "managedresource")

    problem = "missing permission: list managedresources.resources.gardener.cloud (all namespaces)"
    assert raised.value.sentences == (problem,)


def test_a_cluster_without_managed_resources_has_nothing_to_plan_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert planned_live(MemoryTransport(InMemoryCluster()), "managedresource") == []
    install = "it is not installed: `hedgerow crds managedresources | kubectl apply -f -`"
    expected = f"note: the cluster does not know managedresources.resources.gardener.cloud: {install}\n"
    assert expected in capsys.readouterr().err


def test_a_cluster_that_is_no_garden_ends_the_command() -> None:
    clusters = LiveClusters(dict.fromkeys(Cluster, MemoryTransport(InMemoryCluster())), EVERYTHING)
    settings = Stated(COMPONENT, Decoded(DEFAULTS, ()))

    with pytest.raises(CommandError, match=r"the API server does not serve seeds\.core\.gardener\.cloud: "):
        planned_over(clusters, *chosen_controllers(["controllerregistration-seed"], settings, ask_files(())))


def test_of_some_namespaces_only_those_are_asked_for() -> None:
    wire = Wire(MemoryTransport(World(service(), service(ObjectKey("web", "front")))))
    accesses = dict.fromkeys(Cluster, ("shop", "default"))
    clusters = LiveClusters(dict.fromkeys(Cluster, wire), accesses)

    with Planner(chosen("networkpolicy").controller, clusters.worlds(NOW), NOW) as planner:
        snapshot = planner.snapshot

    assert [key_of(manifest).name for manifest in snapshot.list(NAMESPACES)] == ["shop", "default"]
    assert [key_of(manifest) for manifest in snapshot.list(SERVICES)] == [CART]
    assert {request.path for request in wire.asked if "/services" in request.path} == {
        "/api/v1/namespaces/shop/services",
        "/api/v1/namespaces/default/services",
    }


def test_who_reads_within_a_namespace_asks_for_nothing_else() -> None:
    wire = Wire(MemoryTransport(World(service(), service(ObjectKey("web", "front")))))
    clusters = LiveClusters(dict.fromkeys(Cluster, wire), EVERYTHING)
    controller = chosen("networkpolicy").controller
    within = tuple(replace(watch, namespace="shop") for watch in controller.watches)

    with Planner(replace(controller, watches=within), clusters.worlds(NOW), NOW) as planner:
        snapshot = planner.snapshot

    assert [key_of(manifest) for manifest in snapshot.list(SERVICES)] == [CART]
    assert {request.path for request in wire.asked if "/services" in request.path} == {
        "/api/v1/namespaces/shop/services"
    }


DELIVERED_TEXTS = """\
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: cart, namespace: shop}
spec: {secretRefs: [{name: cart}]}
---
apiVersion: v1
kind: Secret
metadata: {name: cart, namespace: shop}
stringData:
  objects.yaml: |
    apiVersion: v1
    kind: Secret
    metadata: {name: payment, namespace: shop}
    stringData: {password: hunter2}
    ---
    apiVersion: v1
    kind: Unknown
    metadata: {name: unknown}
"""


def test_of_two_owners_that_ask_for_an_object_the_second_hears_what_the_first_has_planned() -> None:
    named = service(CART)
    named["spec"]["ports"][0]["targetPort"] = "b-tcp-8080"
    world = World(named, service(CART._replace(name="cart-tcp-b")))
    clusters = LiveClusters(dict.fromkeys(Cluster, MemoryTransport(world)), EVERYTHING)

    planned, failures = planned_over(clusters, chosen("networkpolicy"))

    problem = "Service shop/cart asks for a policy of this name as well, and keeps it"
    contested = [f"{half}-to-cart-tcp-b-tcp-8080" for half in ("egress", "ingress")]
    assert [(failure.key.name, failure.problem.text) for failure in failures] == [(name, problem) for name in contested]
    assert len(planned) == 2


def test_an_object_that_two_owners_take_from_each_other_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(DELIVERED_TEXTS.partition("    ---")[0])
    (tmp_path / "till.yaml").write_text(
        "{apiVersion: resources.gardener.cloud/v1alpha1, kind: ManagedResource,"
        " metadata: {name: till, namespace: shop}, spec: {secretRefs: [{name: cart}]}}"
    )
    one = chosen("managedresource")
    (cluster,) = clusters_of(objects_in_files([str(tmp_path)]), [[one.controller]])
    clusters = LiveClusters(dict.fromkeys(Cluster, MemoryTransport(cluster)), EVERYTHING)

    _, failures = planned_over(clusters, one)

    problem = "is planned for by ManagedResource shop/cart and ManagedResource shop/till, of which only one can have it"
    assert (failures[-1].key.name, failures[-1].problem.text) == ("payment", problem)


@pytest.mark.parametrize("always_update", [False, True])
def test_an_object_is_created_once_however_often_it_is_looked_at(tmp_path: Path, *, always_update: bool) -> None:
    """What a server makes of a Secret's texts is no reason to change it, and what is created needs no change."""
    (tmp_path / "shop.yaml").write_text(DELIVERED_TEXTS)
    settings = ResourceManagerConfiguration(
        controllers=Controllers(managed_resource=ManagedResourceSettings(always_update=always_update))
    )
    one = chosen("managedresource", settings)
    (cluster,) = clusters_of(objects_in_files([str(tmp_path)]), [[one.controller]])
    clusters = LiveClusters(dict.fromkeys(Cluster, MemoryTransport(cluster)), EVERYTHING)

    planned, failures = planned_over(clusters, one)

    assert [(verb, subject) for verb, subject, _ in told(planned)] == [
        ("create", "Secret shop/payment"),
        ("change", "ManagedResource shop/cart"),
    ]
    assert 'no matches for kind "Unknown"' in str(failures[0])


def test_an_object_that_is_created_and_changed_is_created_as_it_will_be() -> None:
    first = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart", "namespace": "shop"}}
    later = {**first, "spec": {"ports": []}}

    both = Planned.of("", Create(SERVICES, first, "missing"), None).then(
        Planned.of("", Update(SERVICES, later, "differs"), first)
    )

    assert (both.verb, both.live, both.after, both.patch, both.reason) == ("create", None, later, None, "missing")
