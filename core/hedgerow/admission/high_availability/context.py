"""What decides how available a workload has to be: what its Namespace says, what scales it, what is configured.

Knows nothing of the workload itself but its type and name.

Source: webhooks-and-tokens §5.1, §5.2, §5.8.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.high_availability.autoscalers import Target, scaled_maximum
from hedgerow.admission.request import AdmissionRequest
from hedgerow.api.gardener import FAILURE_TOLERANCE_TYPE, ZONE_PINNING, ZONES
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.reading import text_at
from hedgerow.machinery.scalars import parse_bool


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """The Namespace and the autoscalers of a workload."""

    namespace: Manifest
    """The Namespace of the object."""
    hpas: Sequence[Manifest] = ()
    """HPAs of version v2; those of other namespaces and of other targets do not count."""
    hvpas: Sequence[Manifest] = ()
    """HVPAs, likewise."""


@dataclass(frozen=True, slots=True)
class HAContext:
    """All that the rules look at beside the object."""

    failure_tolerance: str | None = None
    """None where the Namespace does not say; empty where it says that there is none, which is not the same."""
    zones: tuple[str, ...] = ()
    """Sorted, each once."""
    zone_pinning: bool = False
    scaled_maximum: int | None = None
    """The most replicas that an autoscaler gives the workload; none: nothing scales it."""
    config: HighAvailabilityConfig = HighAvailabilityConfig()  # noqa: RUF009 -- immutable


def ha_context(request: AdmissionRequest, facts: WorkloadFacts, config: HighAvailabilityConfig) -> HAContext:
    """What the rules look at for a request.

    Raises:
        UnreadableError: a fact has another shape than can be read.

    Source: webhooks-and-tokens §5.1, §5.2.
    """
    target = Target(request.namespace, request.kind.api_version, request.kind.kind, request.name)
    return HAContext(
        failure_tolerance=_annotation(facts, FAILURE_TOLERANCE_TYPE),
        zones=zone_names(_annotation(facts, ZONES) or ""),
        zone_pinning=parse_bool(_annotation(facts, ZONE_PINNING) or "").value_or(False),  # noqa: FBT003 -- the default
        scaled_maximum=scaled_maximum(target, facts.hpas, facts.hvpas),
        config=config,
    )


def _annotation(facts: WorkloadFacts, name: str) -> str | None:
    return text_at(facts.namespace, "metadata", "annotations", name)


def zone_names(text: str) -> tuple[str, ...]:
    """The zones that an annotation lists, sorted and each once; blanks around names and empty names do not count."""
    return tuple(sorted({name for part in text.split(",") if (name := part.strip())}))


def transform_namespace(namespace: Manifest) -> Manifest:
    """What is read of a Namespace: its name and the annotations that matter."""
    annotations = annotations_of(namespace)
    kept = {name: annotations[name] for name in (FAILURE_TOLERANCE_TYPE, ZONES, ZONE_PINNING) if name in annotations}
    return {"metadata": {"name": (namespace.get("metadata") or {}).get("name") or "", "annotations": kept}}
