"""Which scopes of a resource a connection shows that is restricted to some namespaces."""

import pytest

from hedgerow.machinery.clusters import (
    EVERYTHING,
    Cluster,
    Permission,
    ReadScope,
    is_visible,
    is_wholly_visible,
    visible_scopes,
)
from hedgerow.machinery.objects import ObjectKey, Resource

SERVICES = Resource("", "v1", "services", "Service")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)


@pytest.mark.parametrize(
    ("resource", "scopes"),
    [
        pytest.param(SERVICES, (ReadScope(namespace="a"), ReadScope(namespace="b")), id="those in the namespaces"),
        pytest.param(
            NAMESPACES, (ReadScope(name="a"), ReadScope(name="b")), id="the namespaces themselves, by their names"
        ),
        pytest.param(NODES, (EVERYTHING,), id="all of what is in no namespace"),
        pytest.param(
            Resource("example.com", "v1", "namespaces", "Namespace", namespaced=False),
            (EVERYTHING,),
            id="another resource of that name",
        ),
    ],
)
def test_a_restriction_to_namespaces_shows_scopes(resource: Resource, scopes: tuple[ReadScope, ...]) -> None:
    assert visible_scopes(resource, ("a", "b")) == scopes
    assert visible_scopes(resource, ()) == (EVERYTHING,)


@pytest.mark.parametrize(
    ("resource", "namespaces", "scopes"),
    [
        pytest.param(SERVICES, (), (ReadScope(namespace="a"),), id="of all"),
        pytest.param(SERVICES, ("a", "b"), (ReadScope(namespace="a"),), id="of several"),
        pytest.param(SERVICES, ("b",), (), id="out of sight"),
        pytest.param(NODES, ("b",), (EVERYTHING,), id="of what is in no namespace"),
    ],
)
def test_of_one_namespace_nothing_else_is_shown(
    resource: Resource, namespaces: tuple[str, ...], scopes: tuple[ReadScope, ...]
) -> None:
    assert visible_scopes(resource, namespaces, "a") == scopes


@pytest.mark.parametrize(
    ("scope", "held"),
    [
        (EVERYTHING, ["a", "a/x", "b/x"]),
        (ReadScope(namespace="a"), ["a/x"]),
        (ReadScope(name="a"), ["a"]),
        (ReadScope("b", "x"), ["b/x"]),
    ],
    ids=["all", "a namespace", "a name", "a name in a namespace"],
)
def test_a_scope_holds_some_of_the_objects(scope: ReadScope, held: list[str]) -> None:
    keys = [ObjectKey("", "a"), ObjectKey("a", "x"), ObjectKey("b", "x")]

    assert [str(key) for key in keys if scope.holds(key)] == held


@pytest.mark.parametrize(
    ("resource", "namespace", "is_seen"),
    [
        (SERVICES, "a", True),
        (SERVICES, "c", False),
        (SERVICES, "", False),
        (NAMESPACES, "", False),
        (NODES, "", True),
    ],
)
def test_a_list_is_seen_if_all_of_it_is(resource: Resource, namespace: str, *, is_seen: bool) -> None:
    assert is_wholly_visible(resource, namespace, ("a", "b")) is is_seen
    assert is_wholly_visible(resource, namespace, ())


def test_an_object_is_seen_in_the_namespaces_of_a_connection() -> None:
    assert is_visible(SERVICES, ObjectKey("b", "x"), ("a", "b"))
    assert is_visible(SERVICES, ObjectKey("c", "x"), ())
    assert not is_visible(SERVICES, ObjectKey("c", "x"), ("a", "b"))


def test_a_permission_names_all_of_what_it_is_for() -> None:
    assert Permission.of(SERVICES, "get", "list") == Permission("", "services", ("get", "list"))
    assert Permission.of(
        NODES, "patch", cluster=Cluster.SOURCE, subresource="status", names=("a",), namespace="b"
    ) == Permission(
        "", "nodes/status", ("patch",), cluster=Cluster.SOURCE, names=("a",), namespace="b", namespaced=False
    )
