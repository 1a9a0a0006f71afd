"""Which parts of a resource a connection shows that is restricted to some namespaces."""

import pytest

from hedgerow.machinery.clusters import EVERYTHING, Part, is_wholly_visible, visible_parts
from hedgerow.machinery.objects import ObjectKey, Resource

SERVICES = Resource("", "v1", "services", "Service")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)


@pytest.mark.parametrize(
    ("resource", "parts"),
    [
        pytest.param(SERVICES, (Part(namespace="a"), Part(namespace="b")), id="those in the namespaces"),
        pytest.param(NAMESPACES, (Part(name="a"), Part(name="b")), id="the namespaces themselves, by their names"),
        pytest.param(NODES, (EVERYTHING,), id="all of what is in no namespace"),
        pytest.param(
            Resource("example.com", "v1", "namespaces", "Namespace", namespaced=False),
            (EVERYTHING,),
            id="another resource of that name",
        ),
    ],
)
def test_a_restriction_to_namespaces_shows_parts(resource: Resource, parts: tuple[Part, ...]) -> None:
    assert visible_parts(resource, ("a", "b")) == parts
    assert visible_parts(resource, ()) == (EVERYTHING,)


@pytest.mark.parametrize(
    ("resource", "namespaces", "parts"),
    [
        pytest.param(SERVICES, (), (Part(namespace="a"),), id="of all"),
        pytest.param(SERVICES, ("a", "b"), (Part(namespace="a"),), id="of several"),
        pytest.param(SERVICES, ("b",), (), id="out of sight"),
        pytest.param(NODES, ("b",), (EVERYTHING,), id="of what is in no namespace"),
    ],
)
def test_of_one_namespace_nothing_else_is_shown(
    resource: Resource, namespaces: tuple[str, ...], parts: tuple[Part, ...]
) -> None:
    assert visible_parts(resource, namespaces, "a") == parts


@pytest.mark.parametrize(
    ("part", "held"),
    [
        (EVERYTHING, ["a", "a/x", "b/x"]),
        (Part(namespace="a"), ["a/x"]),
        (Part(name="a"), ["a"]),
        (Part("b", "x"), ["b/x"]),
    ],
    ids=["all", "a namespace", "a name", "a name in a namespace"],
)
def test_a_part_holds_some_of_the_objects(part: Part, held: list[str]) -> None:
    keys = [ObjectKey("", "a"), ObjectKey("a", "x"), ObjectKey("b", "x")]

    assert [str(key) for key in keys if part.holds(key)] == held


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
