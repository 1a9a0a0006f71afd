"""Webhooks: who is asked about what, in which order, and what becomes of the answers."""

import re
from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Denied, Mutated, Mutation
from hedgerow.admission.webhook import forbidden
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import without
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import CONFIG_MAPS, NETWORK_POLICIES, causes, config_map, key, names, policy, refusal
from tests.contract.targets import Send
from tests.contract.webhook_bench import Bench, Hook, appending, changing, denying, dry, order_of, setting
from tests.contract.workloads import PODS, pod


def test_a_denial_reaches_the_client_in_the_name_of_the_webhook(send: Send, namespace: str, webhooks: Bench) -> None:
    webhooks.validating(Hook("guard", denying("not today")))

    answer = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    message = 'admission webhook "guard.hedgerow.dev" denied the request: not today'
    assert refusal(answer) == (403, "Forbidden", message)
    assert send(requests.get(CONFIG_MAPS, key(namespace, "a"))).status == 404


@pytest.mark.parametrize(
    ("denied", "expected"),
    [
        (Denied(0, ""), (400, None, "without explanation")),
        (Denied(200, "no"), (400, None, ": no")),
        (Denied(422, "", "Invalid"), (422, "Invalid", ": Invalid")),
        (Denied(500, "broken"), (500, None, ": broken")),
    ],
)
def test_a_denial_is_always_a_failure_with_words(
    send: Send, namespace: str, webhooks: Bench, denied: Denied, expected: tuple[int, str | None, str]
) -> None:
    webhooks.mutating(Hook("guard", lambda _request: denied))

    code, reason, message = refusal(send(requests.create(CONFIG_MAPS, config_map("a"), namespace)))

    start = 'admission webhook "guard.hedgerow.dev" denied the request'
    assert (code, reason) == expected[:2]
    assert message in (start + expected[2], f"{start} {expected[2]}")


def test_details_of_a_denial_reach_the_client(send: Send, namespace: str, webhooks: Bench) -> None:
    details = {"name": "a", "kind": "b", "causes": [{"reason": "c", "message": "d", "field": "e"}]}
    webhooks.validating(Hook("guard", lambda _request: Denied(422, "no", "Invalid", details)))

    assert send(requests.create(CONFIG_MAPS, config_map("a"), namespace)).body["details"] == details


def test_a_changed_object_is_completed_checked_and_stored(send: Send, namespace: str, webhooks: Bench) -> None:
    port = {"ports": [{"port": 80}]}
    webhooks.mutating(Hook("change", setting("spec", "ingress", to=[port]), NETWORK_POLICIES))

    created = send(requests.create(NETWORK_POLICIES, policy(), namespace))

    assert created.body["spec"]["ingress"] == [{"ports": [{"port": 80, "protocol": "TCP"}]}]
    assert send(requests.get(NETWORK_POLICIES, key(namespace, "policy"))).body == created.body


def test_a_change_that_makes_an_object_invalid_is_refused_as_invalid(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    checking = Hook("check", resource=NETWORK_POLICIES)
    webhooks.mutating(Hook("change", setting("spec", "policyTypes", to=["Sideways"]), NETWORK_POLICIES))
    webhooks.validating(checking)

    answer = send(requests.create(NETWORK_POLICIES, policy(), namespace))

    assert causes(answer) == [("FieldValueNotSupported", "spec.policyTypes[0]")]
    assert checking.seen == []


def test_a_change_to_another_type_is_an_error_of_the_server(send: Send, namespace: str, webhooks: Bench) -> None:
    webhooks.mutating(Hook("change", setting("data", to=["no object"])))

    assert refusal(send(requests.create(CONFIG_MAPS, config_map("a"), namespace)))[:2] == (500, "InternalError")


def test_a_deleted_object_cannot_be_changed(send: Send, namespace: str, webhooks: Bench) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    webhooks.mutating(Hook("change", lambda request: _change_of(request.old_object)))

    answer = send(requests.delete(CONFIG_MAPS, key(namespace, "a")))

    message = (
        'Internal error occurred: admission webhook "change.hedgerow.dev" attempted to modify the object, '
        "which is not supported for this operation"
    )
    assert refusal(answer) == (500, "InternalError", message)


def _change_of(manifest: Manifest) -> Mutated:
    return Mutated((Mutation("test", manifest, {**manifest, "data": {"changed": "yes"}}),))


def test_mutating_webhooks_run_by_name_of_configuration_then_in_order_of_the_list(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    webhooks.mutating(Hook("z", appending("3")), Hook("y", appending("4")), name="b")
    webhooks.mutating(Hook("x", appending("1")), Hook("w", appending("2")), name="a")

    created = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert order_of(created.body) == "1234"


def test_webhooks_that_want_to_are_asked_again_once_if_one_after_them_changed_something(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    again = {"reinvocationPolicy": "IfNeeded"}
    first, second = Hook("first", appending("1"), registration=again), Hook("second", appending("2"))
    third, fourth = Hook("third", registration=again), Hook("fourth")
    webhooks.mutating(first, second, third, fourth)

    created = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    # The third is asked again because the first, in its second turn, comes after it.
    assert order_of(created.body) == "121"
    assert [len(hook.seen) for hook in (first, second, third, fourth)] == [2, 1, 2, 1]


def test_a_webhook_is_not_asked_again_because_of_its_own_change(send: Send, namespace: str, webhooks: Bench) -> None:
    hook = Hook("only", appending("1"), registration={"reinvocationPolicy": "IfNeeded"})
    webhooks.mutating(Hook("before", appending("0")), hook)

    assert order_of(send(requests.create(CONFIG_MAPS, config_map("a"), namespace)).body) == "01"


def test_a_change_counts_even_if_the_server_completes_it_to_what_was(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    first = Hook("first", resource=NETWORK_POLICIES, registration={"reinvocationPolicy": "IfNeeded"})
    webhooks.mutating(
        first, Hook("second", changing(lambda given: without(given, ["spec", "policyTypes"])), NETWORK_POLICIES)
    )

    created = send(requests.create(NETWORK_POLICIES, policy(), namespace))

    assert (created.body["spec"]["policyTypes"], len(first.seen)) == (["Ingress"], 2)


def test_a_changed_update_is_completed_as_an_update(send: Send, namespace: str, webhooks: Bench) -> None:
    send(requests.create(PODS, pod(), namespace))
    webhooks.mutating(Hook("change", setting("metadata", "labels", to={"changed": "yes"}), PODS))
    cart = key(namespace, "cart")
    before = send(requests.get(PODS, cart)).body["spec"]

    updated = send(requests.merge_patch(PODS, cart, {"metadata": {"annotations": {"a": "b"}}}))

    assert (updated.body["metadata"]["labels"], updated.body["spec"]) == ({"changed": "yes"}, before)


def test_a_webhook_that_is_selected_only_by_what_another_one_changed_is_asked_from_then_on(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    marked = {"objectSelector": {"matchLabels": {"marked": "yes"}}, "reinvocationPolicy": "IfNeeded"}
    before, after = Hook("before", registration=marked), Hook("after", registration=marked)
    webhooks.mutating(before, Hook("mark", setting("metadata", "labels", to={"marked": "yes"})), after)

    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert (len(before.seen), len(after.seen)) == (0, 1)


def test_validating_webhooks_see_the_changed_object_and_are_all_asked(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    one, other = Hook("one", denying("no")), Hook("other", denying("no"))
    webhooks.mutating(Hook("change", setting("data", to={"changed": "yes"})))
    webhooks.validating(one, other)

    answer = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert answer.status == 403
    assert [hook.seen[0].object["data"] for hook in (one, other)] == [{"changed": "yes"}] * 2


def test_the_server_looks_at_an_object_before_validating_webhooks_do_and_stores_it_after(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    hook = Hook("guard", denying("no"))
    webhooks.validating(hook)

    invalid = send(requests.create(CONFIG_MAPS, config_map("A"), namespace))
    existing = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert (invalid.status, existing.status) == (422, 403)
    assert [request.name for request in hook.seen] == ["a"]


def test_webhooks_are_told_each_operation(send: Send, namespace: str, webhooks: Bench) -> None:
    hook = Hook("witness")
    webhooks.mutating(hook)
    where = key(namespace, "a")

    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    send(requests.update(CONFIG_MAPS, where, config_map("a", {"x": "1"})))
    send(requests.merge_patch(CONFIG_MAPS, where, {"data": {"x": "2"}}))
    send(requests.delete(CONFIG_MAPS, where))

    told = [
        (request.operation, request.name, request.namespace, _data(request.object), _data(request.old_object))
        for request in hook.seen
    ]
    assert told == [
        ("CREATE", "a", namespace, {}, None),
        ("UPDATE", "a", namespace, {"x": "1"}, {}),
        ("UPDATE", "a", namespace, {"x": "2"}, {"x": "1"}),
        ("DELETE", "a", namespace, None, {"x": "2"}),
    ]
    assert {(request.kind, request.resource) for request in hook.seen} == {
        (("", "v1", "ConfigMap"), ("", "v1", "configmaps"))
    }
    assert len({request.uid for request in hook.seen}) == len(hook.seen)


def _data(manifest: Any) -> Any:
    return None if manifest is None else manifest.get("data", {})


def test_a_new_object_is_completed_by_the_server_between_both_sorts_of_webhooks(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    changing_one, checking_one = Hook("change", resource=NETWORK_POLICIES), Hook("check", resource=NETWORK_POLICIES)
    webhooks.mutating(changing_one)
    webhooks.validating(checking_one)

    given = {"metadata": {"generateName": "p-", "uid": "mine"}, "spec": {"podSelector": {}}}
    created = send(requests.create(NETWORK_POLICIES, given, namespace))

    (before,), (after,) = changing_one.seen, checking_one.seen
    assert (before.name, after.name) == ("", created.body["metadata"]["name"])
    assert before.object["metadata"]["namespace"] == namespace
    assert not {"name", "uid"} & set(before.object["metadata"])
    assert before.object["spec"]["policyTypes"] == ["Ingress"]
    assert (after.object["metadata"]["uid"], after.object["metadata"]["generation"]) == (
        created.body["metadata"]["uid"],
        1,
    )


def test_the_deletion_of_a_collection_asks_for_each_object_without_its_name(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    for name in ("a", "b", "c"):
        send(requests.create(CONFIG_MAPS, config_map(name), namespace))

    def keep_b(request: AdmissionRequest) -> Decision:
        return forbidden("kept") if request.old_object["metadata"]["name"] == "b" else Allowed()

    hook = Hook("guard", keep_b, operations=["DELETE"])
    webhooks.validating(hook)

    answer = send(Request("DELETE", requests.collection_path(CONFIG_MAPS, namespace)))

    assert refusal(answer)[0] == 403
    assert {(request.operation, request.name) for request in hook.seen} == {("DELETE", "")}
    assert names(send(requests.list_page(CONFIG_MAPS, namespace=namespace))) == ["b", "c"]


def test_a_dry_run_is_announced_and_changes_nothing(send: Send, namespace: str, webhooks: Bench) -> None:
    send(requests.create(CONFIG_MAPS, config_map("b"), namespace))
    before = send(requests.list_page(CONFIG_MAPS, namespace=namespace)).body
    hook = Hook("change", lambda request: Allowed() if request.object is None else appending("1")(request))
    webhooks.mutating(hook)

    created = send(dry(requests.create(CONFIG_MAPS, config_map("a"), namespace)))
    patched = send(dry(requests.merge_patch(CONFIG_MAPS, key(namespace, "b"), {"data": {"x": "1"}})))
    deleted = send(dry(requests.delete(CONFIG_MAPS, key(namespace, "b"))))

    assert [answer.status for answer in (created, patched, deleted)] == [201, 200, 200]
    assert [order_of(answer.body) for answer in (created, patched)] == ["1", "1"]
    assert created.body["metadata"]["uid"]
    assert "resourceVersion" not in created.body["metadata"]
    assert [request.dry_run for request in hook.seen] == [True, True, True]
    assert send(requests.list_page(CONFIG_MAPS, namespace=namespace)).body["items"] == before["items"]


def test_a_label_that_goes_still_selects_the_object(send: Send, namespace: str, webhooks: Bench) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a", labels={"watched": "yes"}), namespace))
    hook = Hook("witness", registration={"objectSelector": {"matchLabels": {"watched": "yes"}}})
    webhooks.mutating(hook)

    for labels in ({"watched": None}, {"other": "x"}, {"watched": "yes"}):
        send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"metadata": {"labels": labels}}))

    assert [request.object["metadata"].get("labels", {}) for request in hook.seen] == [
        {},
        {"other": "x", "watched": "yes"},
    ]


def test_other_namespaces_are_none_of_the_webhooks_business(send: Send, namespace: str, webhooks: Bench) -> None:
    hook = Hook("witness", denying("no"))
    webhooks.mutating(hook)

    assert send(dry(requests.create(CONFIG_MAPS, config_map("a"), "default"))).status == 201
    assert hook.seen == []


def test_a_webhook_that_is_down_stops_everything_or_is_left_out(send: Send, namespace: str, webhooks: Bench) -> None:
    fail = Hook("strict", state="down", registration={"objectSelector": {"matchLabels": {"strict": "yes"}}})
    ignore = Hook("lenient", state="down", registration={"failurePolicy": "Ignore"})
    webhooks.mutating(fail, ignore)
    webhooks.validating(fail, ignore)

    refused = send(requests.create(CONFIG_MAPS, config_map("a", labels={"strict": "yes"}), namespace))
    created = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    url = webhooks.url(fail)
    address = url.removeprefix("https://").partition("/")[0]
    problem = (
        f'failed calling webhook "strict.hedgerow.dev": failed to call webhook: Post "{url}": '
        f"dial tcp {address}: connect: connection refused"
    )
    # Both sorts are registered, at ports of their own; it is the mutating one that is met first.
    code, reason, message = refusal(refused)
    assert (code, reason) == (500, "InternalError")
    assert _without_port(message) == _without_port(f"Internal error occurred: {problem}")
    assert [_without_port(cause["message"]) for cause in refused.body["details"]["causes"]] == [_without_port(problem)]
    assert created.status == 201


def _without_port(text: str) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)


def test_a_webhook_that_never_answers_counts_as_down_after_its_time(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    fail = {"timeoutSeconds": 1, "objectSelector": {"matchLabels": {"strict": "yes"}}}
    strict = Hook("strict", state="silent", registration=fail)
    webhooks.mutating(
        strict, Hook("lenient", state="silent", registration={"timeoutSeconds": 1, "failurePolicy": "Ignore"})
    )

    refused = send(requests.create(CONFIG_MAPS, config_map("a", labels={"strict": "yes"}), namespace))
    created = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    message = (
        'Internal error occurred: failed calling webhook "strict.hedgerow.dev": failed to call webhook: '
        f'Post "{webhooks.url(strict, 1)}": context deadline exceeded'
    )
    assert refusal(refused) == (500, "InternalError", message)
    assert created.status == 201


def test_a_webhook_that_may_fail_may_still_deny(send: Send, namespace: str, webhooks: Bench) -> None:
    webhooks.mutating(Hook("guard", denying("no"), registration={"failurePolicy": "Ignore"}))

    assert send(requests.create(CONFIG_MAPS, config_map("a"), namespace)).status == 403


@pytest.mark.parametrize("versions", [["v1beta1", "v1"], ["v2", "v1"]])
def test_a_webhook_is_asked_in_the_first_version_that_both_know(
    send: Send, namespace: str, webhooks: Bench, versions: list[str]
) -> None:
    webhooks.mutating(Hook("change", appending("1"), registration={"admissionReviewVersions": versions}))

    assert order_of(send(requests.create(CONFIG_MAPS, config_map("a"), namespace)).body) == "1"


def test_a_stale_update_reaches_webhooks_that_change_and_none_that_check(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    stale = send(requests.create(CONFIG_MAPS, config_map("a"), namespace)).body
    send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {"x": "1"}}))
    changing_one, checking_one = Hook("change"), Hook("check")
    webhooks.mutating(changing_one)
    webhooks.validating(checking_one)

    updated = send(requests.update(CONFIG_MAPS, key(namespace, "a"), stale))
    deleted = send(requests.delete(CONFIG_MAPS, key(namespace, "a"), uid="another"))

    assert (updated.status, deleted.status) == (409, 409)
    assert ([request.operation for request in changing_one.seen], checking_one.seen) == (["UPDATE"], [])
