"""How many replicas a workload has, and how many at least an autoscaler gives it.

Without the label for the type of component nothing is decided. An annotation may state the number. What is scaled to
zero stays there.

Source: webhooks-and-tokens §5.3.
"""

from collections.abc import Sequence

from returns.result import Failure

from hedgerow.admission.decision import Denied, forbidden
from hedgerow.admission.high_availability.context import HAContext
from hedgerow.api.gardener import HIGH_AVAILABILITY_REPLICAS, HIGH_AVAILABILITY_TYPE
from hedgerow.machinery.failures import annotation_path, invalid
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import integer_at, text_at, with_value
from hedgerow.machinery.scalars import parse_int


def desired_replicas(manifest: Manifest, current: int | None, failure_tolerance: str | None) -> int | Denied | None:
    """How many replicas an object needs; none: nothing is decided.

    Args:
        manifest: the object with the label and the annotation.
        current: how many it has, or has at least.
        failure_tolerance: what its Namespace says; none: nothing.

    Raises:
        UnreadableError: label or annotation is no text.
    """
    if not current:
        return None
    component = text_at(manifest, "metadata", "labels", HIGH_AVAILABILITY_TYPE)
    if not component:
        return None
    if stated := text_at(manifest, "metadata", "annotations", HIGH_AVAILABILITY_REPLICAS):
        return _stated_replicas(stated)
    return 1 if component == "controller" and failure_tolerance == "" else 2


def _stated_replicas(text: str) -> int | Denied:
    """The number in an annotation, taken literally even below one; or the denial of another text."""
    number = parse_int(text, bits=32)
    if isinstance(number, Failure):
        return forbidden(str(invalid(annotation_path(HIGH_AVAILABILITY_REPLICAS), text, number.failure())))
    return number.unwrap()


def with_replicas(workload: Manifest, context: HAContext) -> Manifest | Denied:
    """The workload with the replicas that it needs; an autoscaler may have given it more."""
    current = integer_at(workload, "spec", "replicas")
    desired = desired_replicas(workload, current, context.failure_tolerance)
    if current is None or desired is None or desired == current:
        return workload
    if isinstance(desired, Denied):
        return desired
    if context.scaled_maximum is not None and current > desired:
        return workload
    return with_value(workload, ("spec", "replicas"), desired)


def with_raised(autoscaler: Manifest, context: HAContext, spec: Sequence[str], field: str) -> Manifest | Denied:
    """The autoscaler whose `minReplicas` or `maxReplicas` is at least what its objects need.

    Args:
        autoscaler: an HPA or HVPA.
        context: what its Namespace asks for.
        spec: where its limits are.
        field: which of both limits.
    """
    minimum = integer_at(autoscaler, *spec, "minReplicas")
    desired = desired_replicas(autoscaler, minimum, context.failure_tolerance)
    if isinstance(desired, Denied):
        return desired
    if desired is None or (integer_at(autoscaler, *spec, field) or 0) >= desired:
        return autoscaler
    return with_value(autoscaler, (*spec, field), desired)
