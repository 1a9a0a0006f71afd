"""Whether one webhook is called for a request."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Denied, creation, deletion, update
from hedgerow.admission.registration import Rule, Scope
from hedgerow.admission.request import GroupVersionKind
from hedgerow.admission.webhook import forbidden
from hedgerow.api.kubernetes import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    NAMESPACES,
    PODS,
)
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow_adapters.registrations.dispatch import Attributes, Call, call_of, failed, rejected
from hedgerow_adapters.registrations.registered import Client, Entry

ANYTHING = Rule(("*",), ("*",), ("*",), ("*",))
CREATED_PODS = Rule(("CREATE",), ("",), ("v1",), ("pods",))
HPA_V1 = Resource("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
HPA_V2BETA1 = HPA_V1._replace(version="v2beta1")
MARKED = LabelSelector((("marked", "true"),))
POD = {"metadata": {"name": "p", "namespace": "shop"}}


def entry(*rules: Rule, **fields: Any) -> Entry:
    return Entry("configuration", "webhook", Client("host", "/path"), rules, **fields)


def labelled(manifest: Mapping[str, Any] = POD, **labels: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def call(
    entry: Entry,
    request: AdmissionRequest,
    namespace_labels: Mapping[str, str] | None = None,
    equivalents: tuple[Resource, ...] = (),
) -> Call | None:
    return call_of(entry, Attributes(request, namespace_labels or {}, equivalents))


@pytest.mark.parametrize(
    ("rule", "is_called"),
    [
        (CREATED_PODS, True),
        (ANYTHING, True),
        (replace(CREATED_PODS, operations=("UPDATE", "DELETE")), False),
        (replace(CREATED_PODS, groups=("apps",)), False),
        (replace(CREATED_PODS, versions=("v2", "v1")), True),
        (replace(CREATED_PODS, versions=("v2",)), False),
        (replace(CREATED_PODS, resources=("secrets", "pods")), True),
        (replace(CREATED_PODS, resources=("pod",)), False),
        (replace(CREATED_PODS, scope=Scope.NAMESPACED), True),
        (replace(CREATED_PODS, scope=Scope.CLUSTER), False),
    ],
)
def test_a_rule_names_operations_groups_versions_resources_and_scope(rule: Rule, is_called: bool) -> None:  # noqa: FBT001 -- a table
    assert bool(call(entry(rule), creation(PODS, POD))) is is_called


def test_one_of_several_rules_is_enough_and_no_rules_are_not() -> None:
    assert call(entry(replace(CREATED_PODS, groups=("apps",)), CREATED_PODS), creation(PODS, POD))
    assert not call(entry(), creation(PODS, POD))


@pytest.mark.parametrize(
    ("resources", "pods", "scale"),
    [
        (("pods",), True, False),
        (("pods/scale",), False, True),
        (("pods/*",), True, True),
        (("*/scale",), False, True),
        (("*",), True, False),
        (("*/*",), True, True),
    ],
)
def test_a_subresource_is_named_or_covered_by_a_star_after_the_slash(
    resources: tuple[str, ...],
    pods: bool,  # noqa: FBT001 -- a table
    scale: bool,  # noqa: FBT001 -- a table
) -> None:
    registered = entry(replace(ANYTHING, resources=resources))
    request = creation(PODS, POD)

    assert bool(call(registered, request)) is pods
    assert bool(call(registered, replace(request, subresource="scale"))) is scale


def test_a_namespace_is_cluster_scoped_even_if_the_request_names_it_as_its_own() -> None:
    request = replace(creation(NAMESPACES, {"metadata": {"name": "shop"}}), namespace="shop")

    assert call(entry(replace(ANYTHING, scope=Scope.CLUSTER)), request)
    assert not call(entry(replace(ANYTHING, scope=Scope.NAMESPACED)), request)


def test_the_namespace_must_be_selected() -> None:
    registered = entry(CREATED_PODS, namespace_selector=MARKED)

    assert call(registered, creation(PODS, POD), {"marked": "true"})
    assert not call(registered, creation(PODS, POD), {"marked": "no"})


def test_a_cluster_scoped_object_is_in_no_namespace_that_could_be_left_out() -> None:
    request = creation(CUSTOM_RESOURCE_DEFINITIONS, {"metadata": {"name": "etcds.druid.gardener.cloud"}})

    assert call(entry(ANYTHING, namespace_selector=MARKED), request)


def test_a_namespace_is_selected_by_the_labels_that_it_is_to_have() -> None:
    registered = entry(ANYTHING, namespace_selector=MARKED)
    plain = {"metadata": {"name": "shop"}}
    marked = labelled(plain, marked="true")

    assert call(registered, creation(NAMESPACES, marked))
    assert not call(registered, update(NAMESPACES, plain, marked), {"marked": "true"})
    assert call(registered, deletion(NAMESPACES, marked))
    assert not call(registered, deletion(NAMESPACES, plain))


def test_an_object_is_selected_as_it_was_or_as_it_will_be() -> None:
    registered = entry(ANYTHING, object_selector=MARKED)
    marked = labelled(marked="true")

    assert call(registered, update(PODS, marked, POD))
    assert call(registered, update(PODS, POD, marked))
    assert call(registered, deletion(PODS, marked))
    assert not call(registered, update(PODS, POD, POD))


def test_a_selector_that_asks_for_something_needs_an_object() -> None:
    collection = replace(deletion(PODS, POD), old_object=None)
    absence = LabelSelector(match_expressions=(Requirement("skip", Operator.DOES_NOT_EXIST),))

    assert call(entry(ANYTHING), collection)
    assert not call(entry(ANYTHING, object_selector=absence), collection)


@pytest.mark.parametrize("odd", [None, 1, [], {"metadata": 1}, {"metadata": {"labels": "marked"}}])
def test_what_has_no_readable_labels_has_none(odd: Any) -> None:
    assert not call(entry(ANYTHING, object_selector=MARKED), creation(PODS, odd))


def test_another_version_is_converted_to_one_that_the_rules_name() -> None:
    rule = Rule(("CREATE",), ("autoscaling",), ("v2beta1", "v2"), ("horizontalpodautoscalers",))
    request = creation(HPA_V1, {"metadata": {"name": "h", "namespace": "shop"}})

    found = call(entry(rule), request, equivalents=(HPA_V1, HORIZONTAL_POD_AUTOSCALERS, HPA_V2BETA1))

    assert found
    assert found.kind == GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
    assert found.resource == ("autoscaling", "v2", "horizontalpodautoscalers")
    assert found.converts(request)


def test_the_first_rule_decides_between_equivalents() -> None:
    rules = [Rule(("*",), ("autoscaling",), (version,), ("*",)) for version in ("v2beta1", "v2")]
    request = creation(HPA_V1, {"metadata": {"name": "h", "namespace": "shop"}})

    found = call(entry(*rules), request, equivalents=(HORIZONTAL_POD_AUTOSCALERS, HPA_V2BETA1))

    assert found
    assert found.kind.version == "v2beta1"


def test_what_a_rule_names_itself_is_not_converted() -> None:
    rules = (Rule(("*",), ("autoscaling",), ("v2",), ("*",)), Rule(("*",), ("autoscaling",), ("v1",), ("*",)))
    request = creation(HPA_V1, {"metadata": {"name": "h", "namespace": "shop"}})

    found = call(entry(*rules), request, equivalents=(HORIZONTAL_POD_AUTOSCALERS,))

    assert found
    assert found.kind == request.kind
    assert not found.converts(request)


def test_exact_rules_are_for_the_versions_that_they_name() -> None:
    rule = Rule(("CREATE",), ("autoscaling",), ("v2",), ("*",))
    request = creation(HPA_V1, {"metadata": {"name": "h", "namespace": "shop"}})

    assert not call(entry(rule, matches_equivalents=False), request, equivalents=(HORIZONTAL_POD_AUTOSCALERS,))


@pytest.mark.parametrize(
    "kind", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding"]
)
def test_no_webhook_is_asked_about_registrations(kind: str) -> None:
    resource = Resource("admissionregistration.k8s.io", "v1", f"{kind.lower()}s", kind, namespaced=False)

    assert not call(entry(ANYTHING), creation(resource, {"metadata": {"name": "r"}}))


def test_other_kinds_of_other_groups_may_share_their_names() -> None:
    resource = Resource("example.com", "v1", "m", "MutatingWebhookConfiguration", namespaced=False)

    assert call(entry(ANYTHING), creation(resource, {"metadata": {"name": "r"}}))
    assert call(entry(ANYTHING), creation(DEPLOYMENTS, POD))


def test_no_answer_ends_the_request_unless_failures_are_ignored() -> None:
    assert failed(entry(), "timed out") == Denied(500, 'failed calling webhook "webhook": timed out')
    assert failed(entry(ignores_failures=True), "timed out") is None


def test_a_denial_names_the_webhook_and_is_always_an_error() -> None:
    assert rejected(entry(), forbidden("no")) == forbidden('admission webhook "webhook" denied the request: no')
    assert rejected(entry(), Denied(200, "")) == Denied(
        400, 'admission webhook "webhook" denied the request without explanation'
    )
