"""The objects whose replicas or resources autoscalers set, so that the merge keeps these.

HorizontalPodAutoscalers and Hvpas write into workloads. VerticalPodAutoscalers change Pods at admission, so they leave
nothing to keep.

Source: managed-resources §9.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.api.references import Identity, group_of, identity
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest, Resource, key_of
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered
from hedgerow.machinery.reading import UnreadableError, object_at, text_at
from hedgerow.machinery.remembering import latest_remembered
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.managed_resources.equivalences import Equivalences

_NAMES: Final = {HORIZONTAL_POD_AUTOSCALERS: "HPAs", HVPAS: "HVPAs"}


class Scaling(NamedTuple):
    """What of a workload stays as it is in the cluster."""

    replicas: bool = False
    resources: bool = False


NOT_SCALED: Final = Scaling()


@dataclass(frozen=True, slots=True)
class ScaledObjects:
    """The objects that the autoscalers of a cluster scale: by replicas, or by the resources of containers."""

    horizontally: frozenset[Identity] = frozenset()
    vertically: frozenset[Identity] = frozenset()

    def scaling_of(self, scaled: Identity, equivalences: Equivalences) -> Scaling:
        """What autoscalers set of an object, under any name of its kind."""
        if not self.horizontally and not self.vertically:
            return NOT_SCALED
        return Scaling(
            replicas=equivalences.find(scaled, self.horizontally) is not None,
            resources=equivalences.find(scaled, self.vertically) is not None,
        )


def scaled_objects(hpas: Iterable[Manifest], hvpas: Iterable[Manifest]) -> Result[ScaledObjects, str]:
    """The objects that HorizontalPodAutoscalers and Hvpas scale; with a failure nothing may be applied."""
    hvpas = tuple(hvpas)
    try:
        horizontally = [_target(hpa, "HorizontalPodAutoscaler", "scaleTargetRef") for hpa in hpas]
        horizontally += [_target(hvpa, "Hvpa", "targetRef") for hvpa in hvpas if _deploys(hvpa, "hpa")]
        vertically = [_target(hvpa, "Hvpa", "targetRef") for hvpa in hvpas if _deploys(hvpa, "vpa")]
    except UnreadableError as error:
        return Failure(f"failed to compute all HPA and HVPA target ref object keys: {error.problem}")
    return Success(ScaledObjects(frozenset(horizontally), frozenset(vertically)))


def _deploys(hvpa: Manifest, autoscaler: str) -> bool:
    return object_at(hvpa, "spec", autoscaler).get("deploy") is True


def _target(autoscaler: Manifest, kind: str, field: str) -> Identity:
    """The object that an autoscaler scales, in its own namespace."""
    key = key_of(autoscaler)
    api_version, target_kind, name = (
        text_at(autoscaler, "spec", field, part) or "" for part in ("apiVersion", "kind", "name")
    )
    if api_version.count("/") > 1:
        problem = f"invalid API version in scaleTargetReference of {kind} '{key}': unexpected GroupVersion string: "
        raise UnreadableError(Problem("", f"{problem}{api_version}"))
    return identity(group_of(api_version), target_kind, key.namespace, name)


@latest_remembered
def _scaled(autoscalers: Sequence[Sequence[Manifest]]) -> Result[ScaledObjects, str]:
    hpas, hvpas = autoscalers
    return scaled_objects(hpas, hvpas)


async def all_scaled_objects(snapshot: Snapshot) -> ScaledObjects | tuple[str, bool]:
    """The scaled objects of the target cluster; autoscalers that are not watched are listed.

    If that fails: the error, and whether it is that the API server did not answer.
    """
    unwatched = [resource for resource in _NAMES if not snapshot.has_synced(resource)]
    questions = tuple(ListQuestion(resource, Cluster.TARGET) for resource in unwatched)
    answers = await AtOnce(questions) if questions else ()
    listed: dict[Resource, Sequence[Manifest]] = {}
    for resource, answer in zip(unwatched, answers, strict=True):
        if isinstance(answer, NotAnswered) and not answer.is_not_found:
            return f"failed to list all {_NAMES[resource]}: {answer.message}", answer.is_unreachable
        listed[resource] = answer.objects if isinstance(answer, Found) else ()
    scaled = _scaled([listed[each] if each in listed else snapshot.list(each) for each in _NAMES])
    return scaled.value_or(None) or (scaled.failure(), False)


def watched_scaled_objects(snapshot: Snapshot) -> ScaledObjects | None:
    """The scaled objects, from watches alone; none if these do not tell."""
    if not all(map(snapshot.has_synced, _NAMES)):
        return None
    return _scaled([snapshot.list(each) for each in _NAMES]).value_or(None)
