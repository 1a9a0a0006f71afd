"""What others have added to an object is left alone and sent again; what the manifest says is not theirs."""

from typing import Any

import pytest
from returns.result import Success

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.additions import with_additions
from hedgerow.resource_manager.managed_resources.merge.merging import LeaveObject, UpdateObject, application, merge
from tests.unit.core.resource_manager.managed_resources.landscape import INSTRUCTIONS

NAMED = {"namespace": "shop", "name": "data"}
BOUND = {**NAMED, "apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": "u", "resourceVersion": "7"}
CONTROLLERS_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def of_kind(kind: str, **members: Any) -> Manifest:
    api_version, _, name = kind.rpartition(" ")
    return {"apiVersion": api_version, "kind": name, "metadata": {"name": "x"}, **members}


def volume(**spec: Any) -> Manifest:
    return of_kind("v1 PersistentVolume", spec=spec)


def node(*taints: Any) -> Manifest:
    return of_kind("v1 Node", spec={"taints": [*taints]})


def api_service(**spec: Any) -> Manifest:
    return of_kind("apiregistration.k8s.io/v1 APIService", spec={"group": "a.b", **spec})


def webhooks(*configurations: Manifest) -> Manifest:
    items = [{"name": f"{place}.a.b", "clientConfig": each} for place, each in enumerate(configurations)]
    return of_kind("admissionregistration.k8s.io/v1 MutatingWebhookConfiguration", webhooks=items)


def definition(**configuration: Any) -> Manifest:
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "x", **configuration}}}
    return of_kind("apiextensions.k8s.io/v1 CustomResourceDefinition", spec={"conversion": conversion})


def stored(manifest: Manifest) -> Manifest:
    """The object once it was applied."""
    return merge(manifest, None, INSTRUCTIONS).unwrap()


@pytest.mark.parametrize(
    ("manifest", "completed"),
    [
        (volume(capacity={"storage": 1}), volume(capacity={"storage": 1}, claimRef=BOUND)),
        (volume(claimRef=NAMED), volume(claimRef=BOUND)),
        (of_kind("v1 PersistentVolumeClaim", spec={}), of_kind("v1 PersistentVolumeClaim", spec={"volumeName": "x"})),
        *(
            (of_kind("v1 PersistentVolumeClaim", spec={}), of_kind("v1 PersistentVolumeClaim", spec={name: value}))
            for name, value in (
                ("dataSource", {"name": "x"}),
                ("dataSourceRef", {"name": "x"}),
                ("storageClassName", "x"),
            )
        ),
        *(
            (of_kind("v1 Node", spec={}), of_kind("v1 Node", spec={name: value}))
            for name, value in (("podCIDR", "10.0.0.0/24"), ("podCIDRs", ["10.0.0.0/24"]), ("unschedulable", True))
        ),
        (
            node({**CONTROLLERS_TAINT, "effect": "NoExecute"}),
            node({**CONTROLLERS_TAINT, "effect": "NoExecute"}, CONTROLLERS_TAINT),
        ),
        (of_kind("v1 Node"), of_kind("v1 Node", spec={"providerID": "x", "taints": [CONTROLLERS_TAINT]})),
        (node({"key": "a"}), node({"key": "a"}, CONTROLLERS_TAINT)),
    ],
)
def test_what_was_added_is_no_drift_and_is_sent_again(manifest: Manifest, completed: Manifest) -> None:
    live = stored(completed)
    drifted = {**live, "metadata": {**live["metadata"], "annotations": {}}}

    assert application(manifest, live, INSTRUCTIONS) == Success(LeaveObject())
    written = application(manifest, drifted, INSTRUCTIONS).unwrap()
    assert isinstance(written, UpdateObject)
    assert {**written.manifest, "metadata": {}} == {**completed, "metadata": {}}


@pytest.mark.parametrize(
    ("manifest", "live"),
    [
        (volume(claimRef={**NAMED, "name": "other"}), volume(claimRef=BOUND)),
        (volume(claimRef={**NAMED, "namespace": "other"}), volume(claimRef=BOUND)),
        (api_service(caBundle="WQ=="), api_service(caBundle="WA==")),
        (api_service(insecureSkipTLSVerify=True), api_service(caBundle="WA==")),
        (webhooks({"caBundle": "WQ=="}), webhooks({"caBundle": "WA=="})),
        (definition(caBundle="WQ=="), definition(caBundle="WA==")),
        (node({"key": "a"}), node({"key": "b"})),
    ],
)
def test_what_the_manifest_says_is_written_as_it_says_it(manifest: Manifest, live: Manifest) -> None:
    written = application(manifest, stored(live), INSTRUCTIONS).unwrap()

    assert isinstance(written, UpdateObject)
    assert {**written.manifest, "metadata": {}} == {**manifest, "metadata": {}}


def test_the_trust_of_one_webhook_is_not_given_to_another() -> None:
    injected: Manifest = {'k:{"name":"1.a.b"}': {"f:clientConfig": {"f:caBundle": {}}}}
    managed = {"name": "x", "managedFields": [{"manager": "injector", "fieldsV1": {"f:webhooks": injected}}]}
    live = {**webhooks({"url": "a"}, {"url": "b", "caBundle": "WA=="}), "metadata": managed}
    reversed_order = {
        **live,
        "webhooks": [{"name": "1.a.b", "clientConfig": {}}, {"name": "0.a.b", "clientConfig": {}}],
    }

    found = [webhook["clientConfig"] for webhook in with_additions(reversed_order, live)["webhooks"]]

    assert found == [{"caBundle": "WA=="}, {}]


@pytest.mark.parametrize("kind", ["v1 PersistentVolume", "v1 Node", "v1 Pod", "apiregistration.k8s.io/v1 APIService"])
@pytest.mark.parametrize("spec", [[], "x", 1, {"claimRef": "x", "taints": 1, "containers": {}}])
def test_what_cannot_be_read_is_left_for_the_server_to_refuse(kind: str, spec: Any) -> None:
    written = with_additions(of_kind(kind, spec=spec), of_kind(kind, spec={"a": 1}))

    assert written["spec"] == spec or {**spec, "a": 1} == written["spec"]
