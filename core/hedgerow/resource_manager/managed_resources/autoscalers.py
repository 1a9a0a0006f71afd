"""Which objects autoscalers size, so that what they set is left alone.

HorizontalPodAutoscalers and Hvpas write into workloads. VerticalPodAutoscalers do not: they change Pods as these are
admitted, so there is nothing of theirs to preserve.

Source: managed-resources §9.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.api.references import Identity, group_of, identity
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import UnreadableError, object_at, text_at
from hedgerow.resource_manager.managed_resources.equivalences import Equivalences


class Scaling(NamedTuple):
    """What of a workload belongs to somebody else and stays as it is in the cluster."""

    replicas: bool = False
    resources: bool = False


NOT_SCALED: Final = Scaling()


class _MalformedTargetError(Exception):
    """The target of an autoscaler has an `apiVersion` that is none; the text says which autoscaler and which."""


@dataclass(frozen=True, slots=True)
class ScaledObjects:
    """What all autoscalers of a cluster size."""

    horizontally: frozenset[Identity] = frozenset()
    """Objects whose replicas are set."""
    vertically: frozenset[Identity] = frozenset()
    """Objects whose containers' resources are set."""

    def scaling_of(self, scaled: Identity, equivalences: Equivalences) -> Scaling:
        """What autoscalers set of an object, which they may know under another name of its kind."""
        if not self.horizontally and not self.vertically:
            return NOT_SCALED
        return Scaling(
            replicas=equivalences.find(scaled, self.horizontally) is not None,
            resources=equivalences.find(scaled, self.vertically) is not None,
        )


def scaled_objects(hpas: Iterable[Manifest], hvpas: Iterable[Manifest]) -> Result[ScaledObjects, str]:
    """What autoscalers size, or why that cannot be told, in which case nothing may be applied.

    Args:
        hpas: HorizontalPodAutoscalers of the cluster.
        hvpas: Hvpas of the cluster; one without a target sizes nothing.
    """
    hvpas = tuple(hvpas)
    try:
        return Success(
            ScaledObjects(
                frozenset(_target(hpa, "HorizontalPodAutoscaler", "scaleTargetRef") for hpa in hpas)
                | frozenset(_target(hvpa, "Hvpa", "targetRef") for hvpa in hvpas if _deploys(hvpa, "hpa")),
                frozenset(_target(hvpa, "Hvpa", "targetRef") for hvpa in hvpas if _deploys(hvpa, "vpa")),
            )
        )
    except (UnreadableError, _MalformedTargetError) as error:
        return Failure(f"failed to compute all HPA and HVPA target ref object keys: {error}")


def _deploys(hvpa: Manifest, autoscaler: str) -> bool:
    return object_at(hvpa, "spec", autoscaler).get("deploy") is True


def _target(autoscaler: Manifest, kind: str, field: str) -> Identity:
    """The object that an autoscaler sizes: one of its own namespace.

    Raises:
        UnreadableError: a field that says which has another shape.
        _MalformedTargetError: its `apiVersion` is none.
    """
    key = key_of(autoscaler)
    api_version, target_kind, name = (
        text_at(autoscaler, "spec", field, part) or "" for part in ("apiVersion", "kind", "name")
    )
    if api_version.count("/") > 1:
        raise _MalformedTargetError(
            f"invalid API version in scaleTargetReference of {kind} '{key}': "
            f"unexpected GroupVersion string: {api_version}"
        )
    return identity(group_of(api_version), target_kind, key.namespace, name)
