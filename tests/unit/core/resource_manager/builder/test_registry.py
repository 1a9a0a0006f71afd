"""Objects as files, and files as the data of a Secret."""

from typing import Any

import yaml
from returns.result import Failure

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.builder import Registry, new_secret


def encoded(manifest: Manifest) -> bytes:
    return yaml.safe_dump(dict(manifest), sort_keys=True).encode()


REGISTRY = Registry(encoded)


def manifest(kind: str, name: str, **metadata: Any) -> Manifest:
    return {"kind": kind, "metadata": {"name": name, **metadata}}


SECRET = manifest("Secret", "secret:name", namespace="foo")
ROLE_BINDING = manifest("RoleBinding", "rolebinding.name", namespace="bar")
CLUSTER_ROLE = manifest("ClusterRole", "system:reader:all")


def test_a_file_is_named_after_kind_namespace_and_name() -> None:  # LIB-9
    registry = REGISTRY.add(SECRET, None, ROLE_BINDING).unwrap().add(CLUSTER_ROLE).unwrap()

    assert registry.objects() == {
        "secret__foo__secret_name.yaml": SECRET,
        "rolebinding__bar__rolebinding.name.yaml": ROLE_BINDING,
        "clusterrole____system_reader_all.yaml": CLUSTER_ROLE,
    }
    assert registry.serialized() == {file: encoded(each) for file, each in registry.objects().items()}


def test_the_same_object_is_refused_a_second_time() -> None:  # LIB-10
    problem = Failure('duplicate filename in registry: "secret__foo__secret_name.yaml"')

    assert REGISTRY.add(SECRET, SECRET) == problem
    assert REGISTRY.add(SECRET).unwrap().add(SECRET) == problem


def test_adding_leaves_the_registry_that_was_there_as_it_was() -> None:
    first = REGISTRY.add(SECRET).unwrap()

    first.add(ROLE_BINDING)
    first.add_serialized("raw.yaml", b"a: 1\n")

    assert list(first.serialized()) == ["secret__foo__secret_name.yaml"]
    assert REGISTRY.serialized() == {}


def test_a_file_that_is_added_as_it_is_replaces_one_by_its_name() -> None:
    registry = REGISTRY.add(SECRET, ROLE_BINDING).unwrap()

    registry = registry.add_serialized("secret__foo__secret_name.yaml", b"raw").add_serialized("other", b"\xff")

    assert registry.serialized() == {
        "secret__foo__secret_name.yaml": b"raw",
        "rolebinding__bar__rolebinding.name.yaml": encoded(ROLE_BINDING),
        "other": b"\xff",
    }
    assert list(registry.objects()) == ["rolebinding__bar__rolebinding.name.yaml"]


def test_people_read_every_file_under_its_name() -> None:
    registry = REGISTRY.add_serialized("b.yaml", b"b: 1\n").add_serialized("a.yaml", b"a: 1\n")

    assert str(registry) == "* a.yaml:\na: 1\n\n\n* b.yaml:\nb: 1\n"


def test_equal_objects_make_secrets_of_the_same_name_in_whatever_order_they_and_their_fields_come() -> None:
    reversed_fields = {
        "metadata": dict(reversed(list(SECRET["metadata"].items()))),
        "kind": SECRET["kind"],
    }
    one = REGISTRY.add(SECRET, ROLE_BINDING).unwrap()
    other = REGISTRY.add(ROLE_BINDING, reversed_fields).unwrap()

    secrets = [new_secret("shop", "app", each.serialized(), with_prefix=True) for each in (one, other)]

    assert secrets[0]["metadata"]["name"] == secrets[1]["metadata"]["name"]
