"""Which ManagedResource, of which cluster, an object belongs to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.api.references import Origin, asks_for_identity, cluster_id, managed_resource_of, parse_origin
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.questions import Answer, Found, NotAnswered

WORDS = st.text(st.characters(exclude_characters=":/"))


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        pytest.param("foo/bar", Origin("", ObjectKey("foo", "bar")), id="OR-1 OR-3"),
        pytest.param("test:foo/bar", Origin("test", ObjectKey("foo", "bar")), id="OR-2 OR-4"),
    ],
)
def test_an_origin_is_written_and_read(text: str, origin: Origin) -> None:
    assert str(origin) == text
    assert parse_origin(text) == Success(origin)


@pytest.mark.parametrize("text", ["id:foo", "id:foo:bar", "foo", "id/foo/bar", "", "a:b:foo/bar"])
def test_other_texts_are_no_origin(text: str) -> None:  # OR-5
    assert parse_origin(text) == Failure(f'unexpected origin format: "{text}"')


@given(WORDS, WORDS, WORDS)
def test_every_origin_survives_the_way_through_text(cluster: str, namespace: str, name: str) -> None:
    origin = Origin(cluster, ObjectKey(namespace, name))

    assert parse_origin(str(origin)) == Success(origin)


@pytest.mark.parametrize(
    ("text", "own", "key"),
    [
        pytest.param("foo:bar/baz", "foo", ObjectKey("bar", "baz"), id="OR-6"),
        pytest.param("foo:bar/baz", "hugo", None, id="OR-7 of another cluster"),
        pytest.param("foo/bar", "foo", None, id="OR-7 of no cluster"),
        pytest.param("foo:bar/baz", "", None, id="OR-7 of some cluster"),
        pytest.param("foo", "", None, id="OR-7 unparsable"),
        pytest.param(None, "", None, id="OR-7 without annotation"),
    ],
)
def test_a_live_object_belongs_to_a_managed_resource_of_the_own_cluster(
    text: str | None, own: str, key: ObjectKey | None
) -> None:
    annotations = {} if text is None else {"resources.gardener.cloud/origin": text}

    assert managed_resource_of({"metadata": {"annotations": annotations}}, own) == key


def config_map(data: Any) -> Found:
    return Found(({"metadata": {"name": "cluster-identity"}, "data": data},))


NOT_FOUND = NotAnswered(404, "NotFound", 'configmaps "cluster-identity" not found')
FORBIDDEN = NotAnswered(403, "Forbidden", "not for you")
PROBLEM = "unable to determine cluster id: cannot determine cluster identity from configmap: "


@pytest.mark.parametrize(
    ("configured", "identity", "expected"),
    [
        ("", FORBIDDEN, Success("")),
        ("literal", FORBIDDEN, Success("literal")),
        ("<cluster>", config_map({"cluster-identity": "seed-1"}), Success("seed-1")),
        ("<cluster>", NOT_FOUND, Failure(PROBLEM + 'configmaps "cluster-identity" not found')),
        ("<cluster>", config_map(None), Failure(PROBLEM + "no cluster-identity entry")),
        ("<cluster>", FORBIDDEN, Failure(PROBLEM + "not for you")),
        ("<default>", config_map({"cluster-identity": "seed-1"}), Success("seed-1")),
        ("<default>", NOT_FOUND, Success("")),
        ("<default>", config_map({"other": "x"}), Success("")),
        ("<default>", FORBIDDEN, Failure(PROBLEM + "not for you")),
    ],
)
def test_the_cluster_id_is_configured_or_found(configured: str, identity: Answer, expected: Any) -> None:
    assert cluster_id(configured, identity) == expected
    assert asks_for_identity(configured) is configured.startswith("<")
