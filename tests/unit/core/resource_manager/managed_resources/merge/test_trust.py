"""A certificate authority of a live object stays where it was injected, and goes where a manifest had set it."""

from typing import Any

import pytest
from returns.result import Success

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.merging import LeaveObject, UpdateObject, application, merge
from tests.unit.core.resource_manager.managed_resources.landscape import INSTRUCTIONS
from tests.unit.core.resource_manager.managed_resources.merge.test_additions import api_service, definition, webhooks

CLIENT: Manifest = {"f:clientConfig": {"f:caBundle": {}}}
CASES = (
    pytest.param(api_service(), api_service(caBundle="WA=="), {"f:spec": {"f:caBundle": {}}}, id="APIService"),
    pytest.param(api_service(caBundle=""), api_service(caBundle="WA=="), {"f:spec": {"f:caBundle": {}}}, id="empty"),
    pytest.param(
        webhooks({"url": "a"}, {"url": "b"}),
        webhooks({"url": "a", "caBundle": "WA=="}, {"url": "b"}),
        {"f:webhooks": {'k:{"name":"0.a.b"}': CLIENT}},
        id="webhooks",
    ),
    pytest.param(
        definition(),
        definition(caBundle="WA=="),
        {"f:spec": {"f:conversion": {"f:webhook": CLIENT}}},
        id="conversion",
    ),
)


def stored(manifest: Manifest, *owners: tuple[str, Manifest]) -> dict[str, Any]:
    """The object once it was applied, with the owners of its fields."""
    live = merge(manifest, None, INSTRUCTIONS).unwrap()
    entries = [{"manager": manager, "operation": "Update", "fieldsV1": fields} for manager, fields in owners]
    return {**live, "metadata": {**live["metadata"], "managedFields": entries}}


def annotated(manifest: Manifest, **annotations: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


@pytest.mark.parametrize(("manifest", "live", "fields"), CASES)
def test_what_another_field_manager_has_set_is_no_drift_and_is_sent_again(
    manifest: Manifest, live: Manifest, fields: Manifest
) -> None:
    found = stored(live, ("hedgerow", {"f:metadata": {}}), ("injector", fields))
    drifted = {**found, "metadata": {**found["metadata"], "annotations": {}}}

    assert application(manifest, found, INSTRUCTIONS) == Success(LeaveObject())
    written = application(manifest, drifted, INSTRUCTIONS).unwrap()
    assert isinstance(written, UpdateObject)
    assert {**written.manifest, "metadata": {}} == {**live, "metadata": {}}


@pytest.mark.parametrize(("manifest", "live", "fields"), CASES)
@pytest.mark.parametrize("owner", ["hedgerow", "gardener-resource-manager", None])
def test_what_our_last_manifest_has_set_goes_with_the_next_one(
    manifest: Manifest, live: Manifest, fields: Manifest, owner: str | None
) -> None:
    found = stored(live, ("kubectl", {"f:metadata": {}}), *([(owner, fields)] if owner else []))

    written = application(manifest, found, INSTRUCTIONS).unwrap()

    assert isinstance(written, UpdateObject)
    assert {**written.manifest, "metadata": {}} == {**manifest, "metadata": {}}


@pytest.mark.parametrize(("manifest", "live", "fields"), CASES)
@pytest.mark.parametrize(
    ("annotations", "stays"),
    [
        ({"cert-manager.io/inject-ca-from": "shop/serving"}, True),
        ({"cert-manager.io/inject-ca-from-secret": "shop/serving"}, True),
        ({"cert-manager.io/inject-apiserver-ca": "true"}, True),
        ({"service.beta.openshift.io/inject-cabundle": "true"}, True),
        ({"service.beta.openshift.io/inject-cabundle": "false"}, False),
        ({"example.com/inject-ca-from": "shop/serving"}, False),
    ],
)
def test_what_an_annotation_asks_an_injector_for_stays_whichever_manager_has_written_it_last(
    manifest: Manifest, live: Manifest, fields: Manifest, annotations: dict[str, str], *, stays: bool
) -> None:
    found = stored(annotated(live, **annotations), ("hedgerow", fields))

    result = application(annotated(manifest, **annotations), found, INSTRUCTIONS).unwrap()

    assert isinstance(result, LeaveObject) is stays


@pytest.mark.parametrize("record", [None, "x", [1], [{"manager": "a", "fieldsV1": []}], [{"fieldsV1": {"f:spec": 1}}]])
def test_a_record_of_field_managers_that_cannot_be_read_names_nobody(record: Any) -> None:
    live = stored(api_service(caBundle="WA=="))
    live["metadata"]["managedFields"] = record

    assert isinstance(application(api_service(), live, INSTRUCTIONS).unwrap(), UpdateObject)
