"""The finalizer by which an instance holds a ManagedResource: added before anything is applied, removed at the end.

Source: managed-resources §5, §7.2, §7.11.
"""

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import resource_version_of
from hedgerow.machinery.plan import Event, MergePatch, Plan
from hedgerow.machinery.reading import list_at
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation, say, write


async def hold(mr: Reconciliation) -> Plan | None:
    """Add the finalizer; the end of the reconciliation if that fails.

    Another instance, of another class and perhaps for another cluster, has applied what the status refers to. So this
    one records first that it has not applied these objects: it deletes only those that carry the origin.
    """
    finalizers, own = list_at(mr.manifest, "metadata", "finalizers"), mr.config.class_filter.finalizer
    if own in finalizers:
        return None
    inherited = [each.unapplied().in_status() for each in references_of(mr.manifest)]
    if inherited and (end := await say(mr, "taken-over", resources=inherited)):
        return end
    return await write(mr, _finalizers_patch(mr, [*finalizers, own], "held"), "failed to add finalizer")


async def release(mr: Reconciliation, *events: Event) -> Plan:
    """Remove the finalizer, which ends the reconciliation.

    Args:
        mr: the ManagedResource.
        events: about the release; not recorded if nothing was held, or if the release fails.
    """
    mr.read_again()
    finalizers, own = list_at(mr.manifest, "metadata", "finalizers"), mr.config.class_filter.finalizer
    if mr.is_gone or own not in finalizers:
        return Plan()
    others = [finalizer for finalizer in finalizers if finalizer != own]
    end = await write(mr, _finalizers_patch(mr, others or None, "released"), "failed to remove finalizer")
    return end or Plan(events=events)


def _finalizers_patch(mr: Reconciliation, finalizers: list[str] | None, reason: str) -> MergePatch:
    """A merge patch replaces the whole list, so it must not meet one to which somebody else has added."""
    patch = {"metadata": {"finalizers": finalizers}}
    version = resource_version_of(mr.manifest)
    return MergePatch(MANAGED_RESOURCES, mr.key, patch, reason, version, cluster=Cluster.SOURCE)
