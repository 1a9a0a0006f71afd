"""What of a Pod stays as it is: whatever it was given after it was created."""

from typing import Any

import pytest
from returns.result import Success

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.merging import LeaveObject, UpdateObject, application, merge
from tests.unit.core.resource_manager.managed_resources.landscape import INSTRUCTIONS

TOKEN = {"name": "kube-api-access-x", "projected": {"sources": []}}
TOKEN_MOUNT = {"name": "kube-api-access-x", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
CONTAINER = {
    "name": "main",
    "image": "img:1",
    "resources": {"limits": {"cpu": 1}},
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
}
STORED_CONTAINER = {
    **CONTAINER,
    "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
    "volumeMounts": [*CONTAINER["volumeMounts"], TOKEN_MOUNT],
    "imagePullPolicy": "IfNotPresent",
}
SIDECAR = {"name": "sidecar", "image": "proxy"}
STORED_SPEC = {
    "containers": [SIDECAR, STORED_CONTAINER],
    "volumes": [{"name": "data", "emptyDir": {}}, TOKEN],
    "nodeName": "node",
    "schedulerName": "default-scheduler",
    "serviceAccountName": "default",
    "serviceAccount": "default",
    "priority": 0,
    "preemptionPolicy": "PreemptLowerPriority",
    "enableServiceLinks": True,
    "imagePullSecrets": [{"name": "registry"}],
    "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
}


def pod(**spec: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}


def manifest(container: Manifest = CONTAINER, **spec: Any) -> Manifest:
    return pod(**{"containers": [container], "volumes": [{"name": "data"}], **spec})


LIVE = merge(pod(**STORED_SPEC), None, INSTRUCTIONS).unwrap()


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"nodeName": "", "schedulerName": "", "serviceAccountName": "", "tolerations": [], "imagePullSecrets": None},
        {"tolerations": STORED_SPEC["tolerations"]},
        {"schedulingGates": [{"name": "opened"}]},
    ],
)
def test_what_the_scheduler_and_admission_added_is_no_drift(said: Manifest) -> None:
    assert application(manifest(**said), LIVE, INSTRUCTIONS) == Success(LeaveObject())


def test_another_image_is_written_with_everything_that_may_not_change() -> None:
    written = application(manifest({**CONTAINER, "image": "img:2"}), LIVE, INSTRUCTIONS).unwrap()

    assert isinstance(written, UpdateObject)
    assert [each.path for each in written.because] == ["spec.containers[1].image"]
    main = {**STORED_CONTAINER, "image": "img:2", "resources": written.manifest["spec"]["containers"][1]["resources"]}
    assert written.manifest["spec"] == {**STORED_SPEC, "containers": [SIDECAR, main]}


@pytest.mark.parametrize(
    "said",
    [
        {"nodeName": "other"},
        {"priority": 7},
        {"tolerations": [{"key": "added"}]},
        {"volumes": [{"name": "data"}, {"name": "more"}]},
        {"container": {**CONTAINER, "env": [{"name": "A", "value": "1"}]}},
        {"container": {**CONTAINER, "name": "renamed"}},
        {"container": {**CONTAINER, "resources": {"limits": {"cpu": 2}}}},
    ],
)
def test_what_the_manifest_asks_for_is_missed_where_it_is_not_so(said: Manifest) -> None:
    assert isinstance(application(manifest(**said), LIVE, INSTRUCTIONS).unwrap(), UpdateObject)


def with_command(*words: str) -> Manifest:
    return {"containers": [{**STORED_CONTAINER, "command": [*words]}]}


@pytest.mark.parametrize(
    ("words", "is_written"),
    [(("serve", "--fast"), False), (("serve", "--slow"), True), (("serve",), True)],
    ids=["the same", "another word", "a word less"],
)
def test_a_command_is_compared_word_by_word_in_its_order(words: tuple[str, ...], *, is_written: bool) -> None:
    live = merge(pod(**with_command("serve", "--fast")), None, INSTRUCTIONS).unwrap()

    found = application(pod(**with_command(*words)), live, INSTRUCTIONS).unwrap()

    assert isinstance(found, UpdateObject) is is_written
    if isinstance(found, UpdateObject):
        assert found.manifest["spec"]["containers"][0]["command"] == [*words]
