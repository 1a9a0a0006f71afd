"""Where injected labels go."""

from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.managed_resources.merge.merging import with_injected_labels

INJECT = {"inject": "me"}
METADATA = {"name": "x", "labels": {"own": "label"}}
INJECTED = {"name": "x", "labels": {"own": "label", "inject": "me"}}


def test_without_labels_to_inject_nothing_changes() -> None:  # IL-1
    manifest: Manifest = {"metadata": METADATA, "spec": "text"}

    assert with_injected_labels(manifest, {}) is manifest


def test_labels_are_added_to_an_object_and_win() -> None:  # IL-2
    assert with_injected_labels({"metadata": METADATA}, INJECT) == {"metadata": INJECTED}
    assert with_injected_labels({"metadata": METADATA}, {"own": "other"})["metadata"]["labels"] == {"own": "other"}


def test_a_template_gets_them_even_if_it_is_empty() -> None:  # IL-3
    injected = with_injected_labels({"kind": "Thing", "spec": {"template": {}, "selector": {}}}, INJECT)

    assert injected["spec"] == {"template": {"metadata": {"labels": INJECT}}, "selector": {}}


def test_claim_templates_get_them() -> None:  # IL-4
    injected = with_injected_labels({"spec": {"volumeClaimTemplates": [{"metadata": {"name": "v"}}]}}, INJECT)

    assert injected["spec"]["volumeClaimTemplates"] == [{"metadata": {"name": "v", "labels": INJECT}}]


def test_the_templates_of_a_cron_job_do_not() -> None:  # IL-5
    spec: Manifest = {"jobTemplate": {"spec": {"template": {}}}}

    assert with_injected_labels({"kind": "CronJob", "spec": spec}, INJECT)["spec"] is spec


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("text", "spec"),
        pytest.param({"template": "text"}, "spec.template", id="IL-6"),
        ({"template": {"metadata": {"labels": {"a": 1}}}}, "spec.template.metadata.labels[a]"),
        ({"volumeClaimTemplates": ["text"]}, "spec.volumeClaimTemplates[0]"),
    ],
)
def test_what_cannot_be_labelled_is_an_error_that_names_the_field(spec: Any, field: str) -> None:
    with pytest.raises(UnreadableError) as error:
        with_injected_labels({"spec": spec}, INJECT)

    assert str(error.value).startswith(f"{field}: expected ")
