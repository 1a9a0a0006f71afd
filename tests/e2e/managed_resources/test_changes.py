"""What becomes of objects when their Secrets change, when people change them, and when the server refuses them."""

import base64
from typing import Any

import brotli
import pytest

from hedgerow.machinery.documents.budget import MOST_BYTES
from tests.e2e.managed_resources.estate import SETTLED, Estate, uids
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

DOCUMENTS = 2000
MEBIBYTE = 1 << 20
MANAGED_BY = "resources.gardener.cloud/managed-by"


def test_objects_that_are_split_over_several_secrets_stay_the_ones_they_were(estate: Estate, manager: Manager) -> None:
    objects = [config_map(estate.namespace, name) for name in ("a", "b", "c")]
    managed = estate.deliver("shop", *objects)
    estate.wait_until_applied()
    before, position = uids(estate, objects), estate.control_plane.audit_position()

    parts = [secret_of(estate.namespace, f"part-{number}", [each]) for number, each in enumerate(objects)]
    estate.create(*parts)
    estate.patch(managed, {"spec": {"secretRefs": [{"name": part["metadata"]["name"]} for part in parts]}})
    estate.wait_until_applied(expected=SETTLED)
    manager.wait_until_idle()

    assert uids(estate, objects) == before
    assert estate.writes(position, resource="configmaps") == []
    assert "finalizers" not in estate.get(estate.secret("shop"))["metadata"]


def test_a_renamed_object_is_made_anew_only_when_the_old_one_is_gone(estate: Estate, manager: Manager) -> None:
    old, new = config_map(estate.namespace, "old"), config_map(estate.namespace, "new")
    managed = estate.deliver("shop", old)
    estate.wait_until_applied()
    estate.patch(old, {"metadata": {"finalizers": ["tests.hedgerow.dev/hangs"]}})

    estate.redeliver("shop", new)
    pending = f'deletion of old resource "v1/ConfigMap/{estate.namespace}/old" is still pending'
    message = f"Could not clean all old resources: 1 error occurred: {pending}"
    estate.wait_for_condition(managed, "ResourcesApplied", ("Progressing", "DeletionPending", message))
    assert estate.find(new) is None

    estate.patch(old, {"metadata": {"finalizers": None}})
    estate.wait_until_applied(expected=SETTLED)
    assert estate.find(old) is None
    assert estate.find(new) is not None


def test_what_is_edited_by_hand_is_put_right(estate: Estate, manager: Manager) -> None:
    edited, removed = config_map(estate.namespace, "edited", a="1", b="2"), config_map(estate.namespace, "removed")
    scaled = deployment(estate.namespace, "scaled")
    estate.deliver("shop", edited, removed, scaled)
    estate.wait_until_applied(expected=SETTLED)

    estate.patch(edited, {"data": {"a": "changed", "b": None, "c": "3"}, "metadata": {"labels": {MANAGED_BY: None}}})
    estate.patch(scaled, {"spec": {"replicas": 3}})
    estate.delete(removed)

    def is_put_right() -> bool:
        found = estate.get(edited)
        labels = found["metadata"].get("labels")
        return bool(found["data"] == edited["data"] and labels == {MANAGED_BY: "gardener"})

    estate.wait_for(is_put_right, "the ConfigMap is as it was")
    estate.wait_for(lambda: estate.find(removed) is not None, "the ConfigMap that was deleted is there again")
    estate.wait_for(lambda: bool(estate.get(scaled)["spec"]["replicas"] == 1), "the Deployment has one replica again")
    estate.wait_until_applied(expected=SETTLED)


def test_an_object_that_is_to_be_ignored_is_made_once_and_stays_as_people_want_it(
    estate: Estate, manager: Manager
) -> None:
    free = annotated(config_map(estate.namespace, "free", a="1"), ignore="true")
    kept = config_map(estate.namespace, "kept", a="1")
    estate.deliver("shop", free, kept)
    estate.wait_until_applied(expected=SETTLED)

    estate.patch(free, {"data": {"a": "changed"}})
    estate.patch(kept, {"data": {"a": "changed"}})
    estate.wait_for(lambda: bool(estate.get(kept)["data"] == {"a": "1"}), "the managed ConfigMap is as it was")
    manager.wait_until_idle()

    assert estate.get(free)["data"] == {"a": "changed"}


def test_a_changed_immutable_object_is_made_anew(estate: Estate, manager: Manager) -> None:
    before, after = (config_map(estate.namespace, "fixed", immutable=True, a=value) for value in "12")
    estate.deliver("shop", before)
    estate.wait_until_applied()
    uid = estate.uid(before)

    estate.redeliver("shop", after)
    estate.wait_for(lambda: (estate.find(after) or {}).get("data") == {"a": "2"}, "the ConfigMap has the new value")
    estate.wait_until_applied(expected=SETTLED)

    assert estate.uid(after) != uid


def test_an_object_that_the_server_refuses_keeps_nothing_else_from_being_applied(
    estate: Estate, manager: Manager
) -> None:
    good = config_map(estate.namespace, "good")
    bad = service(estate.namespace, "bad", ports=[{"port": 70_000}])
    elsewhere = config_map(estate.namespace, "elsewhere")

    managed = estate.deliver("shop", good, bad)
    estate.deliver("other", elsewhere)

    port = "Invalid value: 70000: must be between 1 and 65535, inclusive"
    refusal = f'Service "bad" is invalid: [spec.ports[0].port: {port}, spec.ports[0].targetPort: {port}]'
    message = f'error during apply of object "v1/Service/{estate.namespace}/bad": {refusal}'
    estate.wait_for_condition(managed, "ResourcesApplied", ("False", "ApplyFailed", message))
    estate.wait_until_applied("other", expected=SETTLED)
    assert estate.find(good) is not None
    assert estate.find(bad) is None


def test_a_selector_that_lost_a_letter_is_not_applied_and_the_policy_stays(estate: Estate, manager: Manager) -> None:
    spec = {"podSelector": {"matchLabels": {"app": "cart"}}, "policyTypes": ["Ingress"], "ingress": [{}]}
    policy = named("networking.k8s.io/v1", "NetworkPolicy", estate.namespace, "cart", spec=spec)
    managed = estate.deliver("shop", policy)
    estate.wait_until_applied()
    before = estate.get(policy)

    estate.redeliver("shop", {**policy, "spec": {**spec, "podSelector": {"matchLabel": {"app": "cart"}}}})

    message = (
        f'error during apply of object "networking.k8s.io/v1/NetworkPolicy/{estate.namespace}/cart": '
        "spec.podSelector.matchLabel is an unknown field; did you mean matchLabels?"
    )
    estate.wait_for_condition(managed, "ResourcesApplied", ("False", "ApplyFailed", message))
    estate.wait_for(
        lambda: any(message in each.get("message", "") for each in estate.all("v1", "Event").values()),
        "a Warning event names the field",
    )
    assert estate.get(policy) == before


def test_what_is_told_in_characters_of_all_kinds_is_taken_back_when_it_is_over(
    estate: Estate, manager: Manager
) -> None:
    text = "a<b>&c\u2028größe"
    managed = estate.deliver("shop", service(estate.namespace, "named", ports=[{"port": 80, "name": text}]))
    estate.wait_for(lambda: "größe" in estate.condition(managed)[2], "the refusal is told")

    estate.redeliver("shop", service(estate.namespace, "named", ports=[{"port": 80, "name": "fine"}]))

    estate.wait_until_applied(expected=SETTLED)


def test_a_missing_secret_is_told_and_found_when_it_comes(estate: Estate, manager: Manager) -> None:
    managed = managed_resource(estate.namespace, "shop", "late", class_name=estate.class_name)
    estate.create(managed)
    missing = ("False", "CannotReadSecret", 'secrets "late" not found')
    estate.wait_for_condition(managed, "ResourcesApplied", missing)

    estate.create(secret_of(estate.namespace, "late", [config_map(estate.namespace, "settings")]))

    estate.wait_until_applied(expected=SETTLED)


def test_a_document_that_cannot_be_read_deletes_nothing(estate: Estate, manager: Manager) -> None:
    first, second = config_map(estate.namespace, "first"), config_map(estate.namespace, "second")
    managed = estate.deliver("shop", first, second)
    estate.wait_until_applied()
    before = uids(estate, [first, second])
    secret = estate.secret("shop", first, second)
    broken, *_ = secret["stringData"]

    estate.patch(secret, {"stringData": {broken: "foo: ["}})
    estate.wait_for(lambda: estate.condition(managed)[1] == "DecodingFailed", "the failure is told")

    assert (
        f"at index 0 in '{broken}' in secret '{estate.namespace}/managedresource-shop'" in estate.condition(managed)[2]
    )
    assert uids(estate, [first, second]) == before


@pytest.mark.slow
def test_a_secret_of_a_mebibyte_with_two_thousand_documents_is_applied(estate: Estate, manager: Manager) -> None:
    documents = [config_map(estate.namespace, f"entry-{number:04}") for number in range(DOCUMENTS)]
    text = "".join(_document(each) for each in documents)
    padding = "#" * (MEBIBYTE - len(text) - 1)
    secret = named("v1", "Secret", estate.namespace, "large", stringData={"all.yaml": f"{text}{padding}\n"})
    assert len(secret["stringData"]["all.yaml"]) == MEBIBYTE
    estate.create(secret, managed_resource(estate.namespace, "large", "large", class_name=estate.class_name))

    estate.wait_until_applied(expected=SETTLED)

    found = estate.all("v1", "ConfigMap")
    assert {each["metadata"]["name"] for each in documents} <= found.keys()
    assert manager.metric("process_resident_memory_bytes") < 400 * MEBIBYTE


def test_bombs_are_refused_by_name_and_all_the_rest_is_applied(estate: Estate, manager: Manager) -> None:
    good = config_map(estate.namespace, "good")
    aliases = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    secret = estate.secret("shop", good)
    packed = base64.b64encode(brotli.compress(b" " * 64 * MEBIBYTE)).decode()
    secret = {
        **secret,
        "stringData": {**secret["stringData"], "aliases.yaml": f"a0: &a0 [x, x, x, x]\n{aliases}"},
        "data": {"packed.yaml.br": packed},
    }
    estate.create(secret)
    managed = managed_resource(estate.namespace, "shop", "managedresource-shop", class_name=estate.class_name)

    estate.create(managed)

    estate.wait_for(lambda: estate.condition(managed)[1] == "DecodingFailed", "the bombs are told of")
    message = estate.condition(managed)[2]
    assert "'aliases.yaml'" in message
    place = f"index 0 in 'packed.yaml.br' in secret '{estate.namespace}/managedresource-shop'"
    assert f"{place}: the secrets hold more than {MOST_BYTES} bytes once decompressed" in message
    assert estate.find(good) is not None
    assert manager.metric("process_resident_memory_bytes") < 400 * MEBIBYTE


def _document(manifest: dict[str, Any]) -> str:
    metadata = manifest["metadata"]
    (key, value), *_ = manifest["data"].items()
    return (
        "---\napiVersion: v1\nkind: ConfigMap\n"
        f"metadata:\n  name: {metadata['name']}\n  namespace: {metadata['namespace']}\n"
        f"data:\n  {key}: {value}\n"
    )
