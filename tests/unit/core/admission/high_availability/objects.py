"""The objects that the tests of this package talk about, as parsed manifests, and what is made of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.admission import Decision, creation
from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.high_availability import WorkloadFacts, decide
from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, STATEFUL_SETS
from hedgerow.machinery.objects import Manifest
from tests.unit.core.admission.world import changed_object

DOMAIN = "high-availability-config.resources.gardener.cloud"
NAMESPACE, NAME = "shop", "cart"
UNSET = HighAvailabilityConfig()
CART: Mapping[str, Any] = {}
"""The fields in which the target of an autoscaler differs from the Deployment: none."""
RESOURCES = {each.kind: each for each in (DEPLOYMENTS, STATEFUL_SETS, HORIZONTAL_POD_AUTOSCALERS, HVPAS)}


def namespace(
    failure_tolerance: str | None = None, zones: str | None = None, zone_pinning: str | None = None
) -> Manifest:
    """The Namespace shop; what is none is absent."""
    stated = {"failure-tolerance-type": failure_tolerance, "zones": zones, "zone-pinning": zone_pinning}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "annotations": ours(stated)}}


def deployment(
    replicas: Any = None,
    component: str | None = None,
    stated: str | None = None,
    pod: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The Deployment shop/cart, whose pods have the label `foo: bar` unless said otherwise."""
    spec = {} if replicas is None else {"replicas": replicas}
    template = {"metadata": {"labels": {"foo": "bar"} if labels is None else labels}, "spec": dict(pod or {})}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, component, stated),
        "spec": {**spec, "template": template},
    }


def hpa(
    minimum: Any = None,
    maximum: Any = None,
    component: str | None = None,
    stated: str | None = None,
    *,
    name: str = "cart-hpa",
    target: Mapping[str, Any] = CART,
) -> dict[str, Any]:
    """An HPA that scales the Deployment shop/cart, unless said otherwise."""
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(name, component, stated),
        "spec": {"scaleTargetRef": reference(target), **bounds(minimum, maximum)},
    }


def hvpa(
    minimum: Any = None,
    maximum: Any = None,
    component: str | None = None,
    *,
    deploy: Any = True,
    name: str = "cart-hvpa",
    target: Mapping[str, Any] = CART,
) -> dict[str, Any]:
    """An HVPA that scales the Deployment shop/cart, unless said otherwise."""
    template = {"spec": bounds(minimum, maximum)}
    return {
        "apiVersion": "autoscaling.k8s.io/v1alpha1",
        "kind": "Hvpa",
        "metadata": metadata(name, component, None),
        "spec": {"targetRef": reference(target), "hpa": {"deploy": deploy, "template": template}},
    }


def metadata(name: str, component: str | None, stated: str | None) -> dict[str, Any]:
    """Metadata in the Namespace shop, with the type of the component and the number of replicas where they are set."""
    parts = {"labels": ours({"type": component}), "annotations": ours({"replicas": stated})}
    return {"name": name, "namespace": NAMESPACE, **{field: values for field, values in parts.items() if values}}


def ours(values: Mapping[str, str | None]) -> dict[str, str]:
    """Labels or annotations with the prefix that they have in a cluster, without those that are none."""
    return {f"{DOMAIN}/{name}": value for name, value in values.items() if value is not None}


def reference(target: Mapping[str, Any]) -> dict[str, Any]:
    """What an autoscaler scales, without the fields that are none."""
    stated = {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME, **target}
    return {field: value for field, value in stated.items() if value is not None}


def bounds(minimum: Any, maximum: Any) -> dict[str, Any]:
    """What an autoscaler keeps to; what is none is absent."""
    stated = {"minReplicas": minimum, "maxReplicas": maximum}
    return {field: value for field, value in stated.items() if value is not None}


def decision(
    manifest: Any,
    around: Manifest,
    hpas: Sequence[Manifest] = (),
    hvpas: Sequence[Manifest] = (),
    config: HighAvailabilityConfig = UNSET,
) -> Decision:
    """What is decided about the creation of an object."""
    return decide(creation(RESOURCES[manifest["kind"]], manifest), WorkloadFacts(around, hpas, hvpas), config)


def made_of(
    manifest: Any,
    around: Manifest,
    hpas: Sequence[Manifest] = (),
    hvpas: Sequence[Manifest] = (),
    config: HighAvailabilityConfig = UNSET,
) -> Manifest:
    """The object as it is stored: changed, or as it was."""
    return changed_object(decision(manifest, around, hpas, hvpas, config)) or manifest
