"""What somebody is about to do to an object, as far as webhooks are told."""

from dataclasses import dataclass
from typing import Any

from hedgerow.admission import AdmissionRequest
from hedgerow.admission.request import GroupVersionKind, GroupVersionResource
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.memory.kinds.kind import Kind


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on one object."""

    verb: str
    """CREATE, UPDATE or DELETE."""
    kind: Kind
    """Of the objects that webhooks see."""
    key: ObjectKey
    """The name is empty where it is still to be generated, and where many objects are deleted at once."""
    subresource: str = ""
    workload: Resource | None = None
    """What is scaled, where the objects are Scales."""

    @property
    def namespace(self) -> str:
        """The namespace that webhooks are told: a Namespace is in itself."""
        return self.key.name if self.kind.resource == NAMESPACES else self.key.namespace

    def request(self, new: Any, old: Any, *, dry_run: bool) -> AdmissionRequest:
        """The request that asks webhooks about it."""
        shown, addressed = self.kind.resource, self.workload or self.kind.resource
        return AdmissionRequest(
            kind=GroupVersionKind(shown.group, shown.version, shown.kind),
            resource=GroupVersionResource(addressed.group, addressed.version, addressed.plural),
            operation=self.verb,
            namespace=self.namespace,
            name=self.key.name,
            object=new,
            old_object=old,
            subresource=self.subresource,
            dry_run=dry_run,
        )
