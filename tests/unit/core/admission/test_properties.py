"""What holds for every webhook, whatever it is asked about."""

import copy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from returns.result import Success

from hedgerow.admission import Allowed, Denied, Mutated, Webhook, creation, update
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from tests.unit.core.admission.properties import (
    ASKED,
    DEEP,
    SUBJECTS,
    WEBHOOKS,
    Subject,
    anything,
    landscapes,
    spoiled,
    unknown_fields,
    with_unknown_fields,
)
from tests.unit.core.admission.world import decided
from tests.unit.orders import ORDERS

# How long it takes to make examples up depends on what else the machine does, so it is no failure.
SOME = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
CHANGES = pytest.mark.parametrize("subject", SUBJECTS, ids=str)
REPLACED = {
    "endpoint-slice-hints": {"hints"},
    "high-availability-config": {"topologySpreadConstraints", "matchExpressions"},
    "seccomp-profile": {"seccompProfile"},
    "system-components-config": {"tolerations"},
}
"""Members that a webhook writes anew, or whose items it takes away."""


def after(subject: Subject, manifest: Manifest, landscape: list[Manifest]) -> Any:
    """What becomes of an object; the very same one if nothing, or if it is denied."""
    decision = decided(subject.webhook, creation(subject.resource, manifest), *landscape)
    return decision.object if isinstance(decision, Mutated) else manifest


@CHANGES
@SOME
@given(data=st.data())
def test_a_second_application_changes_nothing(data: st.DataObject, subject: Subject) -> None:
    landscape = data.draw(landscapes(subject.webhook))

    once = after(subject, data.draw(subject.objects), landscape)

    assert after(subject, once, landscape) is once


@CHANGES
@SOME
@given(data=st.data())
def test_fields_that_no_type_knows_survive(data: st.DataObject, subject: Subject) -> None:
    manifest = with_unknown_fields(data.draw(subject.objects))

    survivors = unknown_fields(after(subject, manifest, data.draw(landscapes(subject.webhook))))

    assert survivors >= unknown_fields(manifest, frozenset(REPLACED.get(subject.webhook.name, ())))


@CHANGES
@SOME
@given(data=st.data())
def test_the_patch_applied_to_the_object_gives_what_becomes_of_it(data: st.DataObject, subject: Subject) -> None:
    manifest = data.draw(subject.objects)
    original = copy.deepcopy(manifest)
    landscape = data.draw(landscapes(subject.webhook))
    decision = decided(subject.webhook, creation(subject.resource, manifest), *landscape)

    assert manifest == original
    if isinstance(decision, Mutated):
        assert decision.patch
        assert apply_json_patch(manifest, decision.patch) == Success(decision.object)
        for mutation in decision.mutations:
            assert apply_json_patch(mutation.before, mutation.patch) == Success(mutation.after)


@CHANGES
@SOME
@given(data=st.data(), random=ORDERS)
def test_the_order_of_members_and_of_the_objects_around_does_not_matter(
    data: st.DataObject, random: Random, subject: Subject
) -> None:
    manifest, landscape = data.draw(subject.objects), data.draw(landscapes(subject.webhook))
    other_landscape = [reordered(each, random) for each in random.sample(landscape, len(landscape))]

    one = decided(subject.webhook, creation(subject.resource, manifest), *landscape)
    other = decided(subject.webhook, creation(subject.resource, reordered(manifest, random)), *other_landscape)

    assert one == other


def reordered(value: Any, random: Random) -> Any:
    """A value with the members of its objects in another order; lists mean their order."""
    if isinstance(value, dict):
        return {name: reordered(value[name], random) for name in random.sample([*value], len(value))}
    return [reordered(each, random) for each in value] if isinstance(value, list) else value


@CHANGES
@SOME
@given(data=st.data(), operation=st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT"]))
def test_a_spoiled_object_is_changed_denied_or_let_pass(data: st.DataObject, operation: str, subject: Subject) -> None:
    request = replace(
        creation(subject.resource, data.draw(spoiled(subject.objects))),
        operation=operation,
        old_object=data.draw(spoiled(subject.objects)),
    )
    decision = decided(subject.webhook, request, *data.draw(landscapes(subject.webhook)))

    if isinstance(decision, Mutated):
        assert apply_json_patch(request.object, decision.patch) == Success(decision.object)
    else:
        assert isinstance(decision, Allowed) or decision.message


@CHANGES
@settings(SOME, max_examples=4)
@given(data=st.data())
def test_an_object_that_is_nested_deep_is_changed_denied_or_let_pass(data: st.DataObject, subject: Subject) -> None:
    created = creation(subject.resource, data.draw(spoiled(subject.objects, DEEP)))
    updated = replace(created, operation="UPDATE", old_object=data.draw(spoiled(subject.objects, DEEP)))
    landscape = data.draw(landscapes(subject.webhook))

    for request in (created, updated):
        assert isinstance(decided(subject.webhook, request, *landscape), Allowed | Mutated | Denied)


@pytest.mark.parametrize(
    ("webhook", "resource"),
    [
        pytest.param(webhook, resource, id=f"{webhook.name} {resource.api_version} {resource}")
        for webhook, resource in ASKED
    ],
)
@SOME
@given(
    data=st.data(),
    operation=st.text() | st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
)
def test_any_value_is_survived(data: st.DataObject, operation: str, webhook: Webhook, resource: Resource) -> None:
    value, old_value = data.draw(anything(resource)), data.draw(anything(resource))
    request = replace(update(resource, value, old_value), operation=operation)

    decision = decided(webhook, request, *data.draw(landscapes(webhook)))

    assert not isinstance(decision, Denied) or decision.message


def test_every_webhook_is_asked() -> None:
    assert {webhook.path for webhook, _ in ASKED} == {*WEBHOOKS}
