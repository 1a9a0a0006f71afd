"""Which planned objects an API server would refuse, as their Namespace does not exist."""

from collections.abc import Collection

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Create, Delete
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, Question
from hedgerow_entrypoints.cli.planned_namespaces import missing_namespaces
from hedgerow_entrypoints.cli.rendering import Planned


def creation(resource: Resource, name: str, namespace: str = "", cluster: Cluster = Cluster.TARGET) -> Planned:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    return Planned.of("managedresource", Create(resource, manifest, "desired", cluster), None)


def problems(*planned: Planned, existing: Collection[tuple[Cluster, str]]) -> list[str]:
    """What is wrong with a plan where some Namespaces exist."""

    def ask(question: Question) -> Answer:
        assert isinstance(question, ListQuestion)
        found = [name for cluster, name in existing if cluster == question.cluster]
        return Found(tuple({"metadata": {"name": name}} for name in found if question.field_selector.endswith(name)))

    return [str(failure) for failure in missing_namespaces(planned, ask)]


def test_what_is_created_in_a_namespace_that_does_not_exist_is_a_failure_of_each_object() -> None:
    planned = [creation(CONFIG_MAPS, name, place) for name, place in (("a", "shop"), ("b", "shpo"), ("c", "shpo"))]

    assert problems(*planned, existing=[(Cluster.TARGET, "shop"), (Cluster.SOURCE, "shpo")]) == [
        'ConfigMap shpo/b: metadata.namespace: Namespace "shpo" does not exist',
        'ConfigMap shpo/c: metadata.namespace: Namespace "shpo" does not exist',
    ]


def test_a_namespace_that_is_created_too_is_there() -> None:
    assert problems(creation(CONFIG_MAPS, "a", "new"), creation(NAMESPACES, "new"), existing=[]) == []


def test_what_exists_or_is_in_no_namespace_needs_none() -> None:
    deletion = Planned.of("managedresource", Delete(CONFIG_MAPS, ObjectKey("gone", "a"), "stale"), None)

    assert problems(deletion, creation(NAMESPACES, "new"), existing=[]) == []


@pytest.mark.parametrize("code", [403, 500])
def test_a_namespace_that_cannot_be_read_counts_as_there(code: int) -> None:
    unknown = NotAnswered(code, "", "no answer")

    assert not [*missing_namespaces([creation(CONFIG_MAPS, "a", "shop")], lambda _question: unknown)]
