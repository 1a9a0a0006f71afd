"""What decides how available a workload has to be: its Namespace, its autoscaler, the configuration.

An autoscaler that does not say completely what it scales, scales nothing.

Source: webhooks-and-tokens §5.1, §5.2, §5.8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.api.gardener import FAILURE_TOLERANCE_TYPE, HVPAS, ZONE_PINNING, ZONES
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.machinery.objects import Manifest, annotations_of, key_of
from hedgerow.machinery.reading import UnreadableError, integer_at, object_at, text_at
from hedgerow.machinery.scalars import parse_bool
from hedgerow.machinery.snapshot import Index

_TEMPLATE: Final = ("spec", "hpa", "template", "spec")


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """The Namespace and the autoscalers of a workload."""

    namespace: Manifest
    hpas: Sequence[Manifest] = ()
    """HPAs of version v2; those of other namespaces and of other targets do not count."""
    hvpas: Sequence[Manifest] = ()
    """HVPAs, likewise."""


@dataclass(frozen=True, slots=True)
class HAContext:
    """All that the rules look at beside the object."""

    failure_tolerance: str | None = None
    """None where the Namespace does not say; empty where it asks for none, which is not the same."""
    zones: tuple[str, ...] = ()
    """Sorted, each once."""
    zone_pinning: bool = False
    scaled_maximum: int | None = None
    """The most replicas that an autoscaler gives the workload; none: nothing scales it."""
    config: HighAvailabilityConfig = HighAvailabilityConfig()  # noqa: RUF009 -- immutable


class Target(NamedTuple):
    """What an autoscaler scales."""

    namespace: str
    api_version: str
    kind: str
    name: str


def ha_context(target: Target, facts: WorkloadFacts, config: HighAvailabilityConfig) -> HAContext:
    """What the rules look at for an object that may be scaled.

    Raises:
        UnreadableError: a fact has another shape than can be read.
    """

    def annotation(name: str) -> str | None:
        return text_at(facts.namespace, "metadata", "annotations", name)

    return HAContext(
        failure_tolerance=annotation(FAILURE_TOLERANCE_TYPE),
        zones=zone_names(annotation(ZONES) or ""),
        zone_pinning=parse_bool(annotation(ZONE_PINNING) or "").value_or(False),  # noqa: FBT003 -- the default
        scaled_maximum=scaled_maximum(target, facts.hpas, facts.hvpas),
        config=config,
    )


def zone_names(text: str) -> tuple[str, ...]:
    """The zones that an annotation lists, sorted and each once; blanks around names and empty names do not count."""
    return tuple(sorted({name for part in text.split(",") if (name := part.strip())}))


def scaled_maximum(target: Target, hpas: Sequence[Manifest], hvpas: Sequence[Manifest]) -> int | None:
    """The most replicas that the autoscaler of a target gives it, 0 if it does not say; none if nothing scales it.

    HPAs come before HVPAs, and among several of one kind the first by name decides.

    Raises:
        UnreadableError: the maximum is no integer.
    """
    if hpas and (hpa := min((each for each in hpas if target in hpa_targets(each)), key=key_of, default=None)):
        return integer_at(hpa, "spec", "maxReplicas") or 0
    if hvpas and (hvpa := min((each for each in hvpas if target in hvpa_targets(each)), key=key_of, default=None)):
        return integer_at(hvpa, *_TEMPLATE, "maxReplicas") or 0
    return None


def hpa_targets(hpa: Manifest) -> tuple[Target, ...]:
    """What an HPA scales."""
    return _targets(hpa, "scaleTargetRef")


def hvpa_targets(hvpa: Manifest) -> tuple[Target, ...]:
    """What an HVPA scales horizontally, which it does only if it deploys an HPA."""
    try:
        return _targets(hvpa, "targetRef") if object_at(hvpa, "spec", "hpa").get("deploy") is True else ()
    except UnreadableError:
        return ()


def _targets(autoscaler: Manifest, field: str) -> tuple[Target, ...]:
    try:
        reference = object_at(autoscaler, "spec", field)
    except UnreadableError:
        return ()
    api_version, kind, name = reference.get("apiVersion"), reference.get("kind"), reference.get("name")
    if not (isinstance(api_version, str) and isinstance(kind, str) and isinstance(name, str)):
        return ()
    return (Target(key_of(autoscaler).namespace, api_version, kind, name),)


HPAS_BY_TARGET: Final = Index("HPAs by target", HORIZONTAL_POD_AUTOSCALERS, hpa_targets)
HVPAS_BY_TARGET: Final = Index("HVPAs by target", HVPAS, hvpa_targets)


def transform_namespace(namespace: Manifest) -> Manifest:
    """What is read of a Namespace: its name and the annotations that matter."""
    annotations = annotations_of(namespace)
    kept = {name: annotations[name] for name in (FAILURE_TOLERANCE_TYPE, ZONES, ZONE_PINNING) if name in annotations}
    return {"metadata": {"name": (namespace.get("metadata") or {}).get("name") or "", "annotations": kept}}


def transform_hpa(hpa: Manifest) -> Manifest:
    """What is read of an HPA: its key, what it scales, and its maximum."""
    return {"metadata": _key(hpa), "spec": _picked(hpa.get("spec"), "scaleTargetRef", "maxReplicas")}


def transform_hvpa(hvpa: Manifest) -> Manifest:
    """What is read of an HVPA: its key, what it scales, whether it deploys an HPA, and the maximum of that."""
    spec = _picked(hvpa.get("spec"), "targetRef", "hpa")
    hpa = _picked(spec.get("hpa"), "deploy", "template")
    template = _picked(_picked(hpa.get("template"), "spec").get("spec"), "maxReplicas")
    return {"metadata": _key(hvpa), "spec": {**spec, "hpa": {**hpa, "template": {"spec": template}}}}


def _key(manifest: Manifest) -> dict[str, Any]:
    return key_of(manifest)._asdict()


def _picked(value: Any, *names: str) -> dict[str, Any]:
    return {name: value[name] for name in names if name in value} if isinstance(value, Mapping) else {}
