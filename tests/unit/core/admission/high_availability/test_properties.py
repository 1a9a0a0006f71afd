"""What holds for every object: twice is once, nothing unknown is lost, nothing is raised."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Mutated
from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.high_availability import WorkloadFacts, decide, webhook
from hedgerow.admission.request import GroupVersionKind, GroupVersionResource
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from tests.unit.core.admission.high_availability.objects import (
    NAME,
    NAMESPACE,
    UNSET,
    deployment,
    hpa,
    hvpa,
    namespace,
)
from tests.unit.core.admission.world import changed_object
from tests.unit.core.admission.world import decided as decided_by

KINDS = [
    GroupVersionKind("apps", "v1", "Deployment"),
    GroupVersionKind("apps", "v1", "StatefulSet"),
    GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
    GroupVersionKind("autoscaling.k8s.io", "v1alpha1", "Hvpa"),
]
FIELDS = st.sampled_from(
    [
        *(
            "metadata",
            "labels",
            "annotations",
            "spec",
            "replicas",
            "template",
            "affinity",
            "nodeAffinity",
            "tolerations",
        ),
        *("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", "matchExpressions", "key", "effect"),
        *("topologySpreadConstraints", "topologyKey", "scaleTargetRef", "targetRef", "hpa", "deploy", "name", "kind"),
        *("apiVersion", "minReplicas", "maxReplicas", "namespace"),
        *(f"high-availability-config.resources.gardener.cloud/{each}" for each in ("type", "replicas", "zones")),
    ]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(("zone", "a,b"))
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4), max_leaves=12
)
SECONDS = st.none() | st.integers(0, 300)
CONFIGS = st.builds(HighAvailabilityConfig, SECONDS, SECONDS)
FAILURE_TOLERANCES = st.sampled_from((None, "", "node", "zone", "foo"))
ZONES = st.sampled_from((None, "", "a", "b,a", "a, b,c,a"))
NAMESPACES = st.builds(namespace, FAILURE_TOLERANCES, ZONES, st.sampled_from((None, "true", "x")))
COMPONENTS = st.sampled_from((None, "controller", "server", "other"))
STATED = st.sampled_from((None, "", "0", "-2", "1", "4"))
NUMBERS = st.none() | st.integers(-1, 8)
UNKNOWN: Mapping[str, Any] = {"x-unknown": {"of": [1, None, {}]}}


def sets_of(*entries: Mapping[str, Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from([{**each, **UNKNOWN} for each in entries]), max_size=3)


EXPRESSIONS = sets_of(
    {"key": "topology.kubernetes.io/zone", "operator": "Exists"}, {"key": "foo", "operator": "Exists"}
)
TERMS = st.lists(EXPRESSIONS.map(lambda each: {"matchExpressions": each, **UNKNOWN}), max_size=3)
PODS = st.fixed_dictionaries(
    {"containers": st.just([UNKNOWN])},
    optional={
        "affinity": TERMS.map(
            lambda terms: {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}},
                **UNKNOWN,
            }
        ),
        "topologySpreadConstraints": sets_of(
            *({"topologyKey": key} for key in ("kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"))
        ),
        "tolerations": sets_of(
            {"operator": "Exists"},
            {"key": "node.kubernetes.io/not-ready"},
            {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
        ),
    },
)
WORKLOADS = st.builds(deployment, NUMBERS, COMPONENTS, STATED, PODS)
OBJECTS = st.one_of(
    WORKLOADS,
    WORKLOADS.map(lambda each: {**each, "kind": "StatefulSet"}),
    st.builds(hpa, NUMBERS, NUMBERS, COMPONENTS, STATED),
    st.builds(hvpa, NUMBERS, NUMBERS, COMPONENTS),
).map(lambda each: {**each, **UNKNOWN, "spec": {**each["spec"], **UNKNOWN}})
AUTOSCALERS = (
    st.lists(st.builds(hpa, maximum=NUMBERS), max_size=1),
    st.lists(st.builds(hvpa, maximum=NUMBERS), max_size=1),
)
FACTS = st.builds(WorkloadFacts, NAMESPACES, *AUTOSCALERS)
NOT_DECIDED = frozenset(
    {
        *("replicas", "minReplicas", "maxReplicas", "affinity"),
        *("nodeSelectorTerms", "topologySpreadConstraints", "tolerations"),
    }
)


def asked_about(kind: GroupVersionKind, manifest: Any) -> AdmissionRequest:
    return AdmissionRequest(
        kind, GroupVersionResource(kind.group, kind.version, ""), "UPDATE", NAMESPACE, NAME, manifest
    )


def request_for(manifest: Manifest) -> AdmissionRequest:
    return asked_about(next(kind for kind in KINDS if kind.kind == manifest["kind"]), manifest)


def decided(manifest: Manifest, facts: WorkloadFacts, config: HighAvailabilityConfig) -> Decision:
    return decide(request_for(manifest), facts, config)


def after(manifest: Manifest, facts: WorkloadFacts, config: HighAvailabilityConfig) -> Manifest:
    return changed_object(decided(manifest, facts, config)) or manifest


@given(OBJECTS, FACTS, CONFIGS)
def test_twice_is_once(manifest: Manifest, facts: WorkloadFacts, config: HighAvailabilityConfig) -> None:
    once = after(manifest, facts, config)

    assert decided(once, facts, config) == Allowed()


@given(OBJECTS, FACTS, CONFIGS)
def test_the_patch_makes_of_the_object_what_was_decided_and_the_object_stays_as_it_is(
    manifest: Manifest, facts: WorkloadFacts, config: HighAvailabilityConfig
) -> None:
    before = deepcopy(manifest)
    decision = decided(manifest, facts, config)
    patch = decision.patch if isinstance(decision, Mutated) else []

    assert manifest == before
    assert apply_json_patch(before, patch).unwrap() == (changed_object(decision) or manifest)
    assert decided(before, facts, config) == decision


@given(OBJECTS, FACTS, CONFIGS)
def test_what_is_not_decided_stays(manifest: Manifest, facts: WorkloadFacts, config: HighAvailabilityConfig) -> None:
    changed = after(manifest, facts, config)

    assert undecided(changed) == undecided(manifest)
    assert other_items(changed) == other_items(manifest)


def undecided(value: Any) -> Any:
    """A value without the members that rules set."""
    if isinstance(value, Mapping):
        return {name: undecided(each) for name, each in value.items() if name not in NOT_DECIDED}
    return [undecided(each) for each in value] if isinstance(value, list) else value


def other_items(manifest: Manifest) -> list[Any]:
    """The items, which here all have an unknown field, that no rule may take out of a list, and unknown fields."""
    pod = manifest["spec"].get("template", {}).get("spec", {})
    affinity = pod.get("affinity", {})
    required = affinity.get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms = [each for each in required.get("nodeSelectorTerms", ()) if "x-unknown" in each]
    return [
        affinity.get("x-unknown"),
        [[each for each in term["matchExpressions"] if each["key"] == "foo"] for term in terms],
        [each for each in pod.get("topologySpreadConstraints", ()) if each["topologyKey"] == "rack"],
        [each for each in pod.get("tolerations", ()) if "x-unknown" in each],
    ]


@given(st.builds(deployment, st.integers(-1, 1) | st.none(), st.none(), STATED, PODS), *AUTOSCALERS)
def test_where_nothing_is_asked_for_nothing_is_changed(manifest: Manifest, hpas: Any, hvpas: Any) -> None:
    assert decided(manifest, WorkloadFacts(namespace(), hpas, hvpas), UNSET) == Allowed()


@given(st.sampled_from(KINDS), JSON, NAMESPACES, CONFIGS)
def test_any_value_is_survived(
    kind: GroupVersionKind, value: Any, around: Manifest, config: HighAvailabilityConfig
) -> None:
    decide(asked_about(kind, value), WorkloadFacts(around), config)
    if isinstance(value, dict):
        decide(
            asked_about(kind, {**value, "apiVersion": kind.api_version, "kind": kind.kind}),
            WorkloadFacts(around),
            config,
        )


@given(st.sampled_from(KINDS), st.dictionaries(FIELDS, JSON))
def test_any_spec_is_survived(kind: GroupVersionKind, spec: Any) -> None:
    labels = {"high-availability-config.resources.gardener.cloud/type": "server"}
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"labels": labels}, "spec": spec}

    decide(asked_about(kind, manifest), WorkloadFacts(namespace("zone", "a,b")), HighAvailabilityConfig(60, 60))


@given(JSON, JSON, JSON)
def test_any_facts_are_survived(annotations: Any, hpa_spec: Any, hvpa_spec: Any) -> None:
    around = {"metadata": {"name": NAMESPACE, "annotations": annotations}}
    hpas, hvpas = [{**hpa(), "spec": hpa_spec}], [{**hvpa(), "spec": hvpa_spec}]

    decide(request_for(deployment(1)), WorkloadFacts(around, hpas, hvpas), UNSET)
    decided_by(webhook(UNSET), request_for(deployment(1)), namespace(), *hpas, *hvpas)
