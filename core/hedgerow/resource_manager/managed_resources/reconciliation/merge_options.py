"""What has a say in each object beside its manifest: the spec of the ManagedResource, its last status, autoscalers.

Source: managed-resources §7.9, §9.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from returns.result import Failure, Result

from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered
from hedgerow.machinery.reading import boolean_at
from hedgerow.machinery.remembering import latest_remembered
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects, scaled_objects
from hedgerow.resource_manager.managed_resources.desired import DesiredObject, injected_labels
from hedgerow.resource_manager.managed_resources.equivalences import equivalences_of
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions
from hedgerow.resource_manager.managed_resources.reconciliation.live_objects import Unanswered
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation
from hedgerow.resource_manager.managed_resources.reconciliation.state import digest

_NAMES: Final = {HORIZONTAL_POD_AUTOSCALERS: "HPAs", HVPAS: "HVPAs"}
_Autoscalers: TypeAlias = Sequence[Sequence[Manifest]]
Autoscaled: TypeAlias = Result[ScaledObjects, str] | Unanswered
"""What autoscalers size, or why that is not known."""


@latest_remembered
def _scaled(autoscalers: _Autoscalers) -> Result[ScaledObjects, str]:
    hpas, hvpas = autoscalers
    return scaled_objects(hpas, hvpas)


async def scaled(mr: Reconciliation) -> Autoscaled:
    """What all autoscalers of the target cluster size; those that are not watched are listed."""
    unwatched = [resource for resource in (HORIZONTAL_POD_AUTOSCALERS, HVPAS) if not mr.snapshot.has_synced(resource)]
    questions = tuple(ListQuestion(resource, Cluster.TARGET) for resource in unwatched)
    answers = await AtOnce(questions) if questions else ()
    listed: dict[Resource, Sequence[Manifest]] = {}
    for resource, answer in zip(unwatched, answers, strict=True):
        if isinstance(answer, NotAnswered) and not answer.is_not_found:
            text = f"failed to list all {_NAMES[resource]}: {answer.message}"
            return Unanswered(text) if answer.is_unreachable else Failure(text)
        listed[resource] = answer.objects if isinstance(answer, Found) else ()
    return _scaled(
        [listed[each] if each in listed else mr.snapshot.list(each) for each in (HORIZONTAL_POD_AUTOSCALERS, HVPAS)]
    )


def watched_scaled(mr: Reconciliation) -> ScaledObjects | None:
    """What autoscalers size, from watches alone; none if these do not tell."""
    if not all(map(mr.snapshot.has_synced, (HORIZONTAL_POD_AUTOSCALERS, HVPAS))):
        return None
    return _scaled([mr.snapshot.list(each) for each in (HORIZONTAL_POD_AUTOSCALERS, HVPAS)]).value_or(None)


def merge_options(
    mr: Reconciliation, autoscaled: ScaledObjects
) -> Callable[[DesiredObject], tuple[Instructions, bytes]]:
    """For each object its merge options, and a digest of all that is asked of it.

    What was asked before stays out of the digest. It only tells what to take away, and that is done once.

    Raises:
        UnreadableError: the ManagedResource has a shape that no API server stores.
    """
    equivalences = equivalences_of(mr.manifest)
    spec = mr.manifest.get("spec") or {}
    labels = injected_labels(mr.manifest, mr.config.managed_by)
    overwrite_labels = boolean_at(spec, "forceOverwriteLabels") is True
    overwrite_annotations = boolean_at(spec, "forceOverwriteAnnotations") is True

    def of(wanted: DesiredObject) -> tuple[Instructions, bytes]:
        options = Instructions(
            mr.origin,
            labels,
            wanted.previous_labels,
            wanted.previous_annotations,
            overwrite_labels,
            overwrite_annotations,
            autoscaled.scaling_of(wanted.identity, equivalences),
        )
        say = [mr.origin, labels, overwrite_labels, overwrite_annotations, options.scaling]
        return options, digest([wanted.manifest, say])

    return of
