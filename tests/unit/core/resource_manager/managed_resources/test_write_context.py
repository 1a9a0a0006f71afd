"""Which changes may make another write of an object store something else."""

from typing import Any, Final

import pytest

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS, LIMIT_RANGES, MUTATING_WEBHOOKS, NAMESPACES
from hedgerow.api.managed_objects import transform_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.resource_manager.managed_resources.write_context import UNKNOWN, WriteContext, could_match, write_context
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot

DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment")
PODS: Final = Resource("", "v1", "pods", "Pod")
NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
CARTS: Final = Resource("shop.dev", "v1", "carts", "Cart")
ALL: Final = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}


def configuration(*rules: Manifest, name: str = "hooks", generation: int = 1, **fields: Any) -> Manifest:
    webhook = {"name": "a.b.c", "clientConfig": {}, "rules": list(rules), **fields}
    return {"metadata": {"name": name, "uid": name, "generation": generation}, "webhooks": [webhook]}


def named(name: str, namespace: str = "", version: str = "1", **metadata: Any) -> Manifest:
    return {"metadata": {"name": name, "namespace": namespace, "uid": name, "resourceVersion": version, **metadata}}


def snapshot(**objects: list[Manifest]) -> StoreSnapshot:
    """What is watched, by the plural of its resource; what is not given is not at hand."""
    stores = {}
    for resource in (MUTATING_WEBHOOKS, NAMESPACES, LIMIT_RANGES, CUSTOM_RESOURCE_DEFINITIONS):
        if resource.plural in objects:
            store = stores[resource] = ObjectStore(())
            for each in objects[resource.plural]:
                store.put(transform_of(resource)(each))
    return StoreSnapshot(
        {}, dynamic=lambda cluster, resource: stores.get(resource) if cluster is Cluster.TARGET else None
    )


def context(world: StoreSnapshot, resource: Resource = DEPLOYMENTS, namespace: str = "shop") -> WriteContext:
    return write_context(world, resource, namespace, frozenset())


@pytest.mark.parametrize(
    ("rule", "fields", "expected"),
    [
        (ALL, {}, True),
        ({**ALL, "operations": ["CREATE", "UPDATE"]}, {}, True),
        ({**ALL, "operations": ["CREATE", "DELETE"]}, {}, False),
        ({**ALL, "resources": ["deployments"]}, {}, True),
        ({**ALL, "resources": ["deployments/*"]}, {}, True),
        ({**ALL, "resources": ["*/*"]}, {}, True),
        ({**ALL, "resources": ["deployments/scale", "pods"]}, {}, False),
        ({**ALL, "scope": "Namespaced"}, {}, True),
        ({**ALL, "scope": "Cluster"}, {}, False),
        ({**ALL, "apiGroups": ["extensions"], "apiVersions": ["v1beta1"]}, {}, True),
        ({**ALL, "apiGroups": ["extensions"]}, {"matchPolicy": "Exact"}, False),
        ({**ALL, "apiVersions": ["v1beta1"]}, {"matchPolicy": "Exact"}, False),
        (ALL, {"matchPolicy": "Exact"}, True),
        (ALL, {"namespaceSelector": {"matchLabels": {"tier": "web"}}}, True),
        (ALL, {"namespaceSelector": {"matchLabels": {"tier": "db"}}}, False),
        (ALL, {"objectSelector": {"matchLabels": {"app": "other"}}}, True),
        ({**ALL, "resources": None}, {}, False),
    ],
)
def test_a_webhook_could_match_by_its_rules_and_the_labels_of_the_namespace(
    rule: Manifest, fields: dict[str, Any], *, expected: bool
) -> None:
    assert could_match(configuration(rule, **fields), DEPLOYMENTS, {"tier": "web"}) is expected


@pytest.mark.parametrize(("scope", "expected"), [("Namespaced", False), ("Cluster", True), ("*", True), (None, True)])
def test_a_webhook_of_another_scope_matches_no_object_without_namespace(scope: str | None, *, expected: bool) -> None:
    assert could_match(configuration({**ALL, "scope": scope}), NODES, None) is expected


def test_a_webhook_that_matches_exactly_names_group_and_version() -> None:
    rule = {**ALL, "apiGroups": ["apps"], "apiVersions": ["v1"]}

    assert could_match(configuration(rule, matchPolicy="Exact"), DEPLOYMENTS, {})


def test_where_the_labels_of_the_namespace_are_not_known_every_selector_could_match() -> None:
    selecting = configuration(ALL, namespaceSelector={"matchLabels": {"tier": "db"}})

    assert could_match(selecting, DEPLOYMENTS, None)


WORLD: Final[dict[str, list[Manifest]]] = {
    "mutatingwebhookconfigurations": [configuration({**ALL, "resources": ["deployments"]})],
    "namespaces": [named("shop", labels={"tier": "web"})],
    "limitranges": [named("l", "shop")],
    "customresourcedefinitions": [named("carts.shop.dev", generation=1)],
}
CHANGES: Final[dict[str, list[Manifest]]] = {
    "mutatingwebhookconfigurations": [configuration({**ALL, "resources": ["deployments"]}, generation=2)],
    "namespaces": [named("shop", labels={"tier": "web"}, annotations={"zones": "a"})],
    "limitranges": [named("l", "shop", "2")],
    "customresourcedefinitions": [named("carts.shop.dev", generation=2)],
}


@pytest.mark.parametrize(
    ("changed", "concerned"),
    [
        ("mutatingwebhookconfigurations", [DEPLOYMENTS]),
        ("namespaces", [DEPLOYMENTS, PODS, CARTS]),
        ("limitranges", [PODS]),
        ("customresourcedefinitions", [CARTS]),
    ],
)
def test_a_change_concerns_those_objects_whose_writes_it_may_change(changed: str, concerned: list[Resource]) -> None:
    before, after = snapshot(**WORLD), snapshot(**{**WORLD, changed: CHANGES[changed]})

    differing = [
        resource
        for resource in (DEPLOYMENTS, PODS, CARTS)
        if context(after, resource).differs(context(before, resource))
    ]

    assert differing == concerned
    assert not context(after, NODES, "").differs(context(before, NODES, ""))


def test_what_nothing_tells_the_decision_about_is_no_change() -> None:
    nothing = snapshot()

    assert context(nothing, PODS) == UNKNOWN._replace(definition="")
    assert not context(snapshot(**WORLD), PODS).differs(context(nothing, PODS))
    assert not context(nothing, PODS).differs(context(snapshot(**WORLD), PODS))


def test_the_status_of_an_object_changes_no_write() -> None:
    busy = {**WORLD, "namespaces": [named("shop", version="9", labels={"tier": "web"})]}
    busy["customresourcedefinitions"] = [named("carts.shop.dev", version="9", generation=1)]

    assert not context(snapshot(**busy), CARTS).differs(context(snapshot(**WORLD), CARTS))


def test_the_definition_of_a_custom_resource_is_unknown_until_definitions_are_read() -> None:
    definition = context(snapshot(namespaces=[]), CARTS).definition

    assert definition is UNKNOWN.definition
    assert context(snapshot(customresourcedefinitions=[]), CARTS).definition == ""


def test_all_servers_that_were_seen_count_in_any_order() -> None:
    def of(*versions: str) -> str | None:
        return write_context(snapshot(), PODS, "shop", frozenset(versions)).server

    assert (of(), of("v1.30.0"), of("v1.31.0", "v1.30.0")) == (None, "v1.30.0", "v1.30.0 v1.31.0")


def test_of_webhooks_only_those_count_that_could_match_in_the_namespace() -> None:
    selecting = configuration(ALL, namespaceSelector={"matchLabels": {"tier": "db"}})
    world = {**WORLD, "mutatingwebhookconfigurations": [selecting, configuration(ALL, name="b", generation=2)]}

    assert context(snapshot(**world)).webhooks == "b#2"
    assert context(snapshot(**{**world, "namespaces": []})).webhooks == "b#2 hooks#1"


def test_limits_are_those_of_the_namespace_by_their_resource_version() -> None:
    world = {**WORLD, "limitranges": [named("l", "shop", "5"), named("m", "bank")]}

    assert context(snapshot(**world), PODS).limits == "l@5"
    assert context(snapshot(**world), DEPLOYMENTS).limits == ""
