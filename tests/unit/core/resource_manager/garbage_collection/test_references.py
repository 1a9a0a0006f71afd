"""What a pod uses, and what it does not count as using."""

import pytest

from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.garbage_collection import Reference, pod_references


def test_init_containers_use_nothing() -> None:
    pod_spec = {"initContainers": [{"name": "init", "envFrom": [{"secretRef": {"name": "secret"}}]}]}

    assert pod_references(pod_spec) == frozenset()


def test_parts_that_refer_to_nothing_count_as_nothing() -> None:
    pod_spec = {
        "containers": [
            {"env": [{"name": "A", "value": "b"}, {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]},
            {"env": None, "envFrom": [{"configMapRef": {"name": ""}}]},
        ],
        "volumes": [{"name": "scratch", "emptyDir": {}}, {"projected": {"sources": [{"serviceAccountToken": {}}]}}],
        "imagePullSecrets": [{}, None],
    }

    assert pod_references(pod_spec) == frozenset()


def test_what_is_used_twice_is_one_reference() -> None:
    pod_spec = {"imagePullSecrets": [{"name": "pull"}], "volumes": [{"secret": {"secretName": "pull"}}]}

    assert pod_references(pod_spec) == {Reference("secret", "pull")}


def test_a_name_that_is_no_text_is_told_by_its_path() -> None:
    with pytest.raises(UnreadableError, match="secretName"):
        pod_references({"volumes": [{"secret": {"secretName": 1}}]})
