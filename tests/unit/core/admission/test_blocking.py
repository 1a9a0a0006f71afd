"""Which webhooks could keep the process that serves them from running."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.admission.blocking import OF_ANY_CLUSTER, OF_OWN_CLUSTER, NeededObject, blocking_webhooks, pods_of
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig
from hedgerow.admission.registration import Mode, Rule, Scope, registered_webhooks
from hedgerow.admission.request import creation, deletion, update
from hedgerow.api.kubernetes import DEPLOYMENTS, LEASES, NAMESPACES, NODES, PODS
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow_adapters.registrations.dispatch import Attributes, call_of
from hedgerow_adapters.registrations.registered import Client, Entry

OWN = {"app": "gardener-resource-manager"}
SKIP = "high-availability-config.resources.gardener.cloud/skip"
ANYTHING = Rule(("*",), ("*",), ("*",), ("*",))
CREATED_PODS = Rule(("CREATE",), ("",), ("v1",), ("pods",))
BELOW_PODS = Rule(("CREATE",), ("",), ("v1",), ("*/binding",))
POD = pods_of("garden", OWN)


def entry(*rules: Rule, **fields: Any) -> Entry:
    return Entry("configuration", "webhook", Client("host", "/path"), rules, **fields)


def blocks(webhook: Entry, needed: NeededObject) -> bool:
    return bool(blocking_webhooks([webhook], [needed]))


def selector(key: str, operator: Operator, *values: str) -> LabelSelector:
    return LabelSelector((), (Requirement(key, operator, values),))


OUTSIDE_KUBE_SYSTEM = selector("kubernetes.io/metadata.name", Operator.NOT_IN, "kube-system")


@pytest.mark.parametrize(
    ("webhook", "needed", "expected"),
    [
        (entry(CREATED_PODS), POD, True),
        (entry(CREATED_PODS, ignores_failures=True), POD, False),
        (entry(CREATED_PODS), OF_ANY_CLUSTER[0], False),
        (entry(ANYTHING), OF_ANY_CLUSTER[0], True),
        (entry(ANYTHING), OF_ANY_CLUSTER[1], True),
        (entry(Rule(("*",), ("*",), ("*",), ("pods/binding",))), POD, True),
        (entry(Rule(("CONNECT",), ("*",), ("*",), ("pods/exec",))), POD, False),
        (entry(Rule(("*",), ("*",), ("*",), ("*",), Scope.CLUSTER)), POD, False),
        (entry(Rule(("*",), ("*",), ("*",), ("*",), Scope.NAMESPACED)), OF_ANY_CLUSTER[0], False),
        (entry(Rule(("*",), ("",), ("v2",), ("pods",)), matches_equivalents=True), POD, True),
        (entry(Rule(("*",), ("",), ("v2",), ("pods",)), matches_equivalents=False), POD, False),
        (entry(ANYTHING, object_selector=selector("app", Operator.NOT_IN, "gardener-resource-manager")), POD, False),
        (entry(ANYTHING, object_selector=selector("app", Operator.NOT_IN, "shoot-grm")), POD, True),
        (entry(ANYTHING, object_selector=selector("pod-template-hash", Operator.EXISTS)), POD, True),
        (entry(ANYTHING, object_selector=LabelSelector((("consider", "true"),))), OF_ANY_CLUSTER[2], False),
        (entry(BELOW_PODS, object_selector=selector("app", Operator.NOT_IN, "gardener-resource-manager")), POD, True),
        (entry(CREATED_PODS, namespace_selector=OUTSIDE_KUBE_SYSTEM), OF_OWN_CLUSTER[-5], False),
        (entry(CREATED_PODS), OF_OWN_CLUSTER[-5], True),
        (entry(ANYTHING, object_selector=LabelSelector((("consider", "true"),))), OF_ANY_CLUSTER[0], True),
        (entry(ANYTHING, namespace_selector=LabelSelector((("consider", "true"),))), POD, True),
        (
            entry(ANYTHING, namespace_selector=selector("kubernetes.io/metadata.name", Operator.NOT_IN, "garden")),
            POD,
            False,
        ),
        (
            entry(ANYTHING, namespace_selector=selector("kubernetes.io/metadata.name", Operator.NOT_IN, "garden")),
            NeededObject(LEASES, ObjectKey("", "")),
            True,
        ),
        (
            entry(ANYTHING, namespace_selector=selector("kubernetes.io/metadata.name", Operator.IN, "other")),
            NeededObject(NAMESPACES, ObjectKey("", "garden"), {"kubernetes.io/metadata.name": "garden"}),
            False,
        ),
    ],
)
def test_a_webhook_blocks_unless_it_excludes_the_object_for_certain(
    webhook: Entry, needed: NeededObject, *, expected: bool
) -> None:
    assert blocks(webhook, needed) is expected


def test_a_problem_names_webhook_rule_and_object() -> None:
    (found,) = blocking_webhooks([entry(CREATED_PODS)], [POD])

    assert str(found) == (
        'webhook "webhook" could block Pod garden, without which the process does not run: '
        "its rule for CREATE of pods fails while no replica answers"
    )


def test_a_deployment_without_the_skip_label_is_blocked_where_its_namespace_is_considered() -> None:
    config = AdmissionConfig(high_availability_config=HighAvailabilityConfig())
    registered = registered_webhooks(Mode.RUNTIME, "gardener-resource-manager", "garden", config)
    key = ObjectKey("garden", "gardener-resource-manager")

    (found,) = blocking_webhooks(registered, [NeededObject(DEPLOYMENTS, key, OWN)])
    assert found.webhook.name == "high-availability-config.resources.gardener.cloud"
    assert blocking_webhooks(registered, [NeededObject(DEPLOYMENTS, key, {**OWN, SKIP: "true"})]) == ()


KEYS = st.sampled_from(["app", "consider", "skip"])
VALUES = st.sampled_from(["a", "b"])
LABELS = st.dictionaries(KEYS, VALUES)
REQUIREMENTS = st.one_of(
    st.builds(
        Requirement, KEYS, st.sampled_from([Operator.IN, Operator.NOT_IN]), st.lists(VALUES, min_size=1).map(tuple)
    ),
    st.builds(Requirement, KEYS, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
)
SELECTORS = st.builds(
    LabelSelector, LABELS.map(lambda labels: tuple(labels.items())), st.lists(REQUIREMENTS, max_size=2).map(tuple)
)
RULES = st.builds(
    Rule,
    st.lists(st.sampled_from(["*", "CREATE", "UPDATE", "DELETE", "CONNECT"]), min_size=1).map(tuple),
    st.sampled_from([("*",), ("",), ("apps",)]),
    st.sampled_from([("*",), ("v1",), ("v1beta1",)]),
    st.sampled_from(
        [
            ("*",),
            ("pods",),
            ("pods/*",),
            ("*/*",),
            ("*/scale", "pods/binding"),
            ("nodes",),
            ("deployments", "namespaces"),
        ]
    ),
    st.sampled_from(Scope),
)


SUBRESOURCES = {PODS: ("", "binding", "status"), DEPLOYMENTS: ("", "scale"), NODES: ("", "status"), NAMESPACES: ("",)}


@given(
    resource=st.sampled_from([PODS, NODES, DEPLOYMENTS, NAMESPACES]),
    rules=st.lists(RULES, min_size=1, max_size=2),
    selectors=st.tuples(SELECTORS, SELECTORS),
    exact=st.booleans(),
    known=LABELS,
    others=LABELS,
    of_namespace=LABELS,
    data=st.data(),
)
def test_whatever_an_api_server_asks_about_was_foreseen(
    resource: Resource,
    rules: list[Rule],
    selectors: tuple[LabelSelector, LabelSelector],
    *,
    exact: bool,
    known: Mapping[str, str],
    others: Mapping[str, str],
    of_namespace: Mapping[str, str],
    data: st.DataObject,
) -> None:
    of_namespaces, of_objects = selectors
    webhook = entry(*rules, namespace_selector=of_namespaces, object_selector=of_objects, matches_equivalents=not exact)
    namespace = "garden" if resource.namespaced else ""
    manifest = {"metadata": {"namespace": namespace, "name": "x", "labels": {**others, **known}}}
    subresource = data.draw(st.sampled_from(SUBRESOURCES[resource]))
    of_its_own_kind = {"metadata": {"namespace": namespace, "name": "x"}}
    shown = manifest if subresource in {"", "status"} else of_its_own_kind
    about = creation(resource, shown), update(resource, shown, shown), deletion(resource, shown)
    requests = [replace(each, subresource=subresource) for each in about]
    labels_of_namespace = {**of_namespace, "kubernetes.io/metadata.name": "garden"}
    asked = any(call_of(webhook, Attributes(request, labels_of_namespace)) for request in requests)

    needed = NeededObject(resource, ObjectKey(namespace, "x"), known, has_other_labels=True)
    assert blocks(webhook, needed) >= asked
