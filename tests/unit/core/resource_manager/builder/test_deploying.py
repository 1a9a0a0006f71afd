"""Components that are deployed by ManagedResources, step by step, where what is stored cannot be read."""

from typing import Any

import pytest

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import WriteResult
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.steps import Execution, Step
from hedgerow.resource_manager.builder import deploying, new_for_shoot, new_secret

KEY = ObjectKey("shoot", "component")
ABSENT = NotAnswered(404, "NotFound", "not found")


def stored(**fields: Any) -> dict[str, Any]:
    metadata = {"namespace": KEY.namespace, "name": KEY.name}
    return {"apiVersion": MANAGED_RESOURCES.api_version, "kind": MANAGED_RESOURCES.kind, "metadata": metadata, **fields}


def ended(decision: Any, existing: Any, secret: Any = ABSENT) -> Any:
    """What a deployment or removal ends with if these are stored."""
    with Execution(decision) as execution:
        state = execution.begin()
        while isinstance(state, Step):
            if isinstance(state, ObjectQuestion):
                state = execution.go_on(existing if state.resource == MANAGED_RESOURCES else secret)
            else:
                state = execution.go_on(WriteResult(state))  # type: ignore[arg-type]  # what is no question is an action
    return state


def deployment() -> Any:
    secret = new_secret(*KEY, {"file": b"content"}, with_prefix=True)
    name = secret["metadata"]["name"]
    wanted = new_for_shoot(*KEY, secret_names=[name], origin="somebody", keep_objects=False)
    return deploying.deploy(secret, wanted, "needed")


@pytest.mark.parametrize("fields", [{"spec": {"secretRefs": 1}}, {"spec": 1}])
def test_unreadable_references_end_a_deployment_and_a_removal(fields: dict[str, Any]) -> None:
    found = Found((stored(**fields),))

    assert ended(deployment(), found).startswith(f"managed resource {KEY}: spec")
    assert ended(deploying.remove(KEY, "gone", with_prefix=True), found).startswith(f"managed resource {KEY}: spec")


def test_unreadable_annotations_end_a_deployment() -> None:
    manifest = stored()
    found = Found(({**manifest, "metadata": {**manifest["metadata"], "annotations": {"reference.resources": 1}}},))

    assert ended(deployment(), found).startswith(f"managed resource {KEY}: ")


def test_what_is_there_already_is_not_written() -> None:
    unlabelled = {"metadata": {"namespace": KEY.namespace, "name": "former", "labels": {}}}

    assert ended(deployment(), ABSENT) == 'secrets "managedresource-component-9be8de72" not found'
    assert ended(deployment(), ABSENT, Found((unlabelled,))) is None


def test_what_is_gone_or_going_is_not_deleted() -> None:
    going = {"metadata": {"namespace": KEY.namespace, "name": KEY.name, "deletionTimestamp": "2026-01-01T00:00:00Z"}}

    assert ended(deploying.remove(KEY, "gone", with_prefix=True), ABSENT, Found((going,))) is None
