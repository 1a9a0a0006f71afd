"""What has a say in each object beside its manifest: the ManagedResource, its last status, and autoscalers.

Source: managed-resources §7.9, §9.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from returns.result import Failure, Result

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered
from hedgerow.machinery.reading import boolean_at
from hedgerow.machinery.remembering import latest_remembered
from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects, scaled_objects
from hedgerow.resource_manager.managed_resources.desired import DesiredObject, injected_labels
from hedgerow.resource_manager.managed_resources.equivalences import Equivalences
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions
from hedgerow.resource_manager.managed_resources.reconciliation.live import Unanswered
from hedgerow.resource_manager.managed_resources.reconciliation.memory import digest
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage
from hedgerow.resource_manager.managed_resources.references import equivalences_of

HPAS: Final = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
HVPAS: Final = Resource("autoscaling.k8s.io", "v1alpha1", "hvpas", "Hvpa")
_NAMES: Final = {HPAS: "HPAs", HVPAS: "HVPAs"}
_Autoscalers: TypeAlias = Sequence[Sequence[Manifest]]
Autoscaled: TypeAlias = Result[ScaledObjects, str] | Unanswered | tuple[ListQuestion, ...]
"""What autoscalers size, or why nobody can tell; that nobody has answered; or what has to be asked."""


@latest_remembered
def _scaled(autoscalers: _Autoscalers) -> Result[ScaledObjects, str]:
    hpas, hvpas = autoscalers
    return scaled_objects(hpas, hvpas)


def scaled(stage: Stage) -> Autoscaled:
    """What all autoscalers of the target cluster size; those that cannot be watched are asked for."""
    autoscalers: list[Sequence[Manifest]] = []
    questions: list[ListQuestion] = []
    for resource in (HPAS, HVPAS):
        match _autoscalers(stage, resource):
            case ListQuestion() as question:
                questions.append(question)
            case NotAnswered() as problem:
                text = f"failed to list all {_NAMES[resource]}: {problem.message}"
                return Unanswered(text) if problem.is_silence else Failure(text)
            case objects:
                autoscalers.append(objects)
    return tuple(questions) or _scaled(autoscalers)


def _autoscalers(stage: Stage, resource: Resource) -> Sequence[Manifest] | NotAnswered | ListQuestion:
    if stage.snapshot.holds(resource):
        return stage.snapshot.list(resource)
    question = ListQuestion(resource, Cluster.TARGET)
    match stage.context.answers.get(question):
        case None:
            return question
        case Found(objects):
            return objects
        case NotAnswered() as problem:
            return () if problem.is_not_found else problem


def own_equivalences(stage: Stage) -> Equivalences:
    """Which kinds count as each other for a ManagedResource.

    Raises:
        UnreadableError: it says so in a shape that no API server stores.
    """
    spec = stage.managed_resource.get("spec")
    return stage.context.notes.once("equivalences", (spec,), lambda: equivalences_of(stage.managed_resource))


def instructions(stage: Stage, autoscaled: ScaledObjects) -> Mapping[int, tuple[Instructions, bytes]]:
    """For each object, by its place among those desired, its instructions, and a digest of all that is asked of it.

    What was asked before stays out of the digest. It only tells what to take away, and that is done once.

    Raises:
        UnreadableError: the ManagedResource has a shape that no API server stores.
    """
    found = own_equivalences(stage)
    spec = stage.managed_resource.get("spec") or {}
    labels = injected_labels(stage.managed_resource, stage.config.managed_by)
    overwrite_labels = boolean_at(spec, "forceOverwriteLabels") is True
    overwrite_annotations = boolean_at(spec, "forceOverwriteAnnotations") is True

    def of(wanted: DesiredObject) -> tuple[Instructions, bytes]:
        told = Instructions(
            stage.origin,
            labels,
            wanted.previous_labels,
            wanted.previous_annotations,
            overwrite_labels,
            overwrite_annotations,
            autoscaled.scaling_of(wanted.identity, found),
        )
        say = [stage.origin, labels, overwrite_labels, overwrite_annotations, told.scaling]
        return told, digest([wanted.manifest, say])

    objects = stage.desired.objects
    inputs = (objects, spec, autoscaled)
    return stage.context.notes.once(
        "instructions", inputs, lambda: {place: of(wanted) for place, wanted in enumerate(objects)}
    )
