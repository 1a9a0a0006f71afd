"""What becomes of objects when their Secrets change, when people change them, and when the server refuses them."""

import base64
from typing import Any

import brotli
import pytest

from hedgerow.machinery.documents.budget import MOST_BYTES
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import (
    annotated,
    config_map,
    deployment,
    managed_resource,
    named,
    secret_of,
    service,
)
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox, uids

DOCUMENTS = 2000
MEBIBYTE = 1 << 20
MANAGED_BY = "resources.gardener.cloud/managed-by"


def test_objects_that_are_split_over_several_secrets_stay_the_ones_they_were(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    objects = [config_map(sandbox.namespace, name) for name in ("a", "b", "c")]
    managed = sandbox.deliver("shop", *objects)
    sandbox.wait_until_applied()
    before, position = uids(sandbox, objects), sandbox.control_plane.audit_position()

    parts = [secret_of(sandbox.namespace, f"part-{number}", [each]) for number, each in enumerate(objects)]
    sandbox.create(*parts)
    sandbox.patch(managed, {"spec": {"secretRefs": [{"name": part["metadata"]["name"]} for part in parts]}})
    sandbox.wait_until_applied(expected=SETTLED)
    manager.wait_until_idle()

    assert uids(sandbox, objects) == before
    assert sandbox.writes(position, resource="configmaps") == []
    assert "finalizers" not in sandbox.get(sandbox.secret("shop"))["metadata"]


def test_a_renamed_object_is_made_anew_only_when_the_old_one_is_gone(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    old, new = config_map(sandbox.namespace, "old"), config_map(sandbox.namespace, "new")
    managed = sandbox.deliver("shop", old)
    sandbox.wait_until_applied()
    sandbox.patch(old, {"metadata": {"finalizers": ["tests.hedgerow.dev/hangs"]}})

    sandbox.redeliver("shop", new)
    pending = f'deletion of old resource "v1/ConfigMap/{sandbox.namespace}/old" is still pending'
    message = f"Could not clean all old resources: 1 error occurred: {pending}"
    sandbox.wait_for_condition(managed, "ResourcesApplied", ("Progressing", "DeletionPending", message))
    assert sandbox.find(new) is None

    sandbox.patch(old, {"metadata": {"finalizers": None}})
    sandbox.wait_until_applied(expected=SETTLED)
    assert sandbox.find(old) is None
    assert sandbox.find(new) is not None


def test_what_is_edited_by_hand_is_put_right(sandbox: ManagedResourceSandbox, manager: Manager) -> None:
    edited, removed = config_map(sandbox.namespace, "edited", a="1", b="2"), config_map(sandbox.namespace, "removed")
    scaled = deployment(sandbox.namespace, "scaled")
    sandbox.deliver("shop", edited, removed, scaled)
    sandbox.wait_until_applied(expected=SETTLED)

    sandbox.patch(edited, {"data": {"a": "changed", "b": None, "c": "3"}, "metadata": {"labels": {MANAGED_BY: None}}})
    sandbox.patch(scaled, {"spec": {"replicas": 3}})
    sandbox.delete(removed)

    def is_put_right() -> bool:
        found = sandbox.get(edited)
        labels = found["metadata"].get("labels")
        return bool(found["data"] == edited["data"] and labels == {MANAGED_BY: "gardener"})

    sandbox.wait_for(is_put_right, "the ConfigMap is as it was")
    sandbox.wait_for(lambda: sandbox.find(removed) is not None, "the ConfigMap that was deleted is there again")
    sandbox.wait_for(lambda: bool(sandbox.get(scaled)["spec"]["replicas"] == 1), "the Deployment has one replica again")
    sandbox.wait_until_applied(expected=SETTLED)


def test_an_object_that_is_to_be_ignored_is_made_once_and_stays_as_people_want_it(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    free = annotated(config_map(sandbox.namespace, "free", a="1"), ignore="true")
    kept = config_map(sandbox.namespace, "kept", a="1")
    sandbox.deliver("shop", free, kept)
    sandbox.wait_until_applied(expected=SETTLED)

    sandbox.patch(free, {"data": {"a": "changed"}})
    sandbox.patch(kept, {"data": {"a": "changed"}})
    sandbox.wait_for(lambda: bool(sandbox.get(kept)["data"] == {"a": "1"}), "the managed ConfigMap is as it was")
    manager.wait_until_idle()

    assert sandbox.get(free)["data"] == {"a": "changed"}


def test_a_changed_immutable_object_is_made_anew(sandbox: ManagedResourceSandbox, manager: Manager) -> None:
    before, after = (config_map(sandbox.namespace, "fixed", immutable=True, a=value) for value in "12")
    sandbox.deliver("shop", before)
    sandbox.wait_until_applied()
    uid = sandbox.uid(before)

    sandbox.redeliver("shop", after)
    sandbox.wait_for(lambda: (sandbox.find(after) or {}).get("data") == {"a": "2"}, "the ConfigMap has the new value")
    sandbox.wait_until_applied(expected=SETTLED)

    assert sandbox.uid(after) != uid


def test_an_object_that_the_server_refuses_keeps_nothing_else_from_being_applied(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    good = config_map(sandbox.namespace, "good")
    bad = service(sandbox.namespace, "bad", ports=[{"port": 70_000}])
    elsewhere = config_map(sandbox.namespace, "elsewhere")

    managed = sandbox.deliver("shop", good, bad)
    sandbox.deliver("other", elsewhere)

    port = "Invalid value: 70000: must be between 1 and 65535, inclusive"
    refusal = f'Service "bad" is invalid: [spec.ports[0].port: {port}, spec.ports[0].targetPort: {port}]'
    message = f'error during apply of object "v1/Service/{sandbox.namespace}/bad": {refusal}'
    sandbox.wait_for_condition(managed, "ResourcesApplied", ("False", "ApplyFailed", message))
    sandbox.wait_until_applied("other", expected=SETTLED)
    assert sandbox.find(good) is not None
    assert sandbox.find(bad) is None


def test_a_selector_that_lost_a_letter_is_not_applied_and_the_policy_stays(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    spec = {"podSelector": {"matchLabels": {"app": "cart"}}, "policyTypes": ["Ingress"], "ingress": [{}]}
    policy = named("networking.k8s.io/v1", "NetworkPolicy", sandbox.namespace, "cart", spec=spec)
    managed = sandbox.deliver("shop", policy)
    sandbox.wait_until_applied()
    before = sandbox.get(policy)

    sandbox.redeliver("shop", {**policy, "spec": {**spec, "podSelector": {"matchLabel": {"app": "cart"}}}})

    message = (
        f'error during apply of object "networking.k8s.io/v1/NetworkPolicy/{sandbox.namespace}/cart": '
        "spec.podSelector.matchLabel: is an unknown field; did you mean matchLabels?"
    )
    sandbox.wait_for_condition(managed, "ResourcesApplied", ("False", "ApplyFailed", message))
    sandbox.wait_for(
        lambda: any(message in each.get("message", "") for each in sandbox.all("v1", "Event").values()),
        "a Warning event names the field",
    )
    assert sandbox.get(policy) == before


def test_what_is_told_in_characters_of_all_kinds_is_taken_back_when_it_is_over(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    text = "a<b>&c\u2028größe"
    managed = sandbox.deliver("shop", service(sandbox.namespace, "named", ports=[{"port": 80, "name": text}]))
    sandbox.wait_for(lambda: "größe" in sandbox.condition(managed)[2], "the refusal is told")

    sandbox.redeliver("shop", service(sandbox.namespace, "named", ports=[{"port": 80, "name": "fine"}]))

    sandbox.wait_until_applied(expected=SETTLED)


def test_a_missing_secret_is_told_and_found_when_it_comes(sandbox: ManagedResourceSandbox, manager: Manager) -> None:
    managed = managed_resource(sandbox.namespace, "shop", "late", class_name=sandbox.class_name)
    sandbox.create(managed)
    missing = ("False", "CannotReadSecret", 'secrets "late" not found')
    sandbox.wait_for_condition(managed, "ResourcesApplied", missing)

    sandbox.create(secret_of(sandbox.namespace, "late", [config_map(sandbox.namespace, "settings")]))

    sandbox.wait_until_applied(expected=SETTLED)


def test_a_document_that_cannot_be_read_deletes_nothing(sandbox: ManagedResourceSandbox, manager: Manager) -> None:
    first, second = config_map(sandbox.namespace, "first"), config_map(sandbox.namespace, "second")
    managed = sandbox.deliver("shop", first, second)
    sandbox.wait_until_applied()
    before = uids(sandbox, [first, second])
    secret = sandbox.secret("shop", first, second)
    broken, *_ = secret["stringData"]

    sandbox.patch(secret, {"stringData": {broken: "foo: ["}})
    sandbox.wait_for(lambda: sandbox.condition(managed)[1] == "DecodingFailed", "the failure is told")

    assert (
        f"at index 0 in '{broken}' in secret '{sandbox.namespace}/managedresource-shop'"
        in sandbox.condition(managed)[2]
    )
    assert uids(sandbox, [first, second]) == before


@pytest.mark.slow
def test_a_secret_of_a_mebibyte_with_two_thousand_documents_is_applied(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    documents = [config_map(sandbox.namespace, f"entry-{number:04}") for number in range(DOCUMENTS)]
    text = "".join(_document(each) for each in documents)
    padding = "#" * (MEBIBYTE - len(text) - 1)
    secret = named("v1", "Secret", sandbox.namespace, "large", stringData={"all.yaml": f"{text}{padding}\n"})
    assert len(secret["stringData"]["all.yaml"]) == MEBIBYTE
    sandbox.create(secret, managed_resource(sandbox.namespace, "large", "large", class_name=sandbox.class_name))

    sandbox.wait_until_applied(expected=SETTLED)

    found = sandbox.all("v1", "ConfigMap")
    assert {each["metadata"]["name"] for each in documents} <= found.keys()
    assert manager.metric("process_resident_memory_bytes") < 400 * MEBIBYTE


def test_bombs_are_refused_by_name_and_all_the_rest_is_applied(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    good = config_map(sandbox.namespace, "good")
    aliases = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    secret = sandbox.secret("shop", good)
    packed = base64.b64encode(brotli.compress(b" " * 64 * MEBIBYTE, quality=5)).decode()
    secret = {
        **secret,
        "stringData": {**secret["stringData"], "aliases.yaml": f"a0: &a0 [x, x, x, x]\n{aliases}"},
        "data": {"packed.yaml.br": packed},
    }
    sandbox.create(secret)
    managed = managed_resource(sandbox.namespace, "shop", "managedresource-shop", class_name=sandbox.class_name)

    sandbox.create(managed)

    sandbox.wait_for(lambda: sandbox.condition(managed)[1] == "DecodingFailed", "the bombs are told of")
    message = sandbox.condition(managed)[2]
    assert "'aliases.yaml'" in message
    place = f"index 0 in 'packed.yaml.br' in secret '{sandbox.namespace}/managedresource-shop'"
    assert f"{place}: the secrets hold more than {MOST_BYTES} bytes once decompressed" in message
    assert sandbox.find(good) is not None
    assert manager.metric("process_resident_memory_bytes") < 400 * MEBIBYTE


def _document(manifest: dict[str, Any]) -> str:
    metadata = manifest["metadata"]
    (key, value), *_ = manifest["data"].items()
    return (
        "---\napiVersion: v1\nkind: ConfigMap\n"
        f"metadata:\n  name: {metadata['name']}\n  namespace: {metadata['namespace']}\n"
        f"data:\n  {key}: {value}\n"
    )
