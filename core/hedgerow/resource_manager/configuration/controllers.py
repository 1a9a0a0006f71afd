"""What all controllers share, and the list of their sections: the section `controllers`.

A further controller is a module with its section and one line in the list here.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from typing import Final

from pydantic import Field

from hedgerow.machinery.fields import FieldError, forbidden, required
from hedgerow.resource_manager.configuration.network_policy import NetworkPolicySection
from hedgerow.resource_manager.configuration.shape import Purpose, Section
from hedgerow.resource_manager.configuration.unserved import (
    GarbageCollector,
    Health,
    KubeletCSRApprover,
    ManagedResource,
    Node,
    Secret,
    TokenInvalidator,
    TokenRequestor,
    TokenValidator,
)

RESOURCE_CLASS: Final = "resources"


class ControllersSection(Section):
    """The section as written; its errors come in the order of its fields."""

    idle = ("cluster_id",)
    cluster_id: str = Field("", alias="clusterID")
    resource_class: str = RESOURCE_CLASS
    garbage_collector: GarbageCollector | None = None
    health: Health | None = None
    kubelet_csr_approver: KubeletCSRApprover | None = Field(None, alias="kubeletCSRApprover")
    managed_resource: ManagedResource | None = None
    managed_resources: ManagedResource | None = None
    network_policy: NetworkPolicySection = NetworkPolicySection()
    node: Node | None = None
    secret: Secret | None = None
    token_invalidator: TokenInvalidator | None = None
    token_validator: TokenValidator | None = None
    token_requestor: TokenRequestor | None = None

    @property
    def invalidates_tokens(self) -> bool:
        """Whether the token invalidator is enabled, under either of its names."""
        section = self.token_invalidator or self.token_validator
        return section is not None and section.enabled

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """An empty class, both spellings of one section, then what is wrong within the sections."""
        if not self.resource_class:
            yield required(f"{path}.resourceClass", "must provide a resource class")
        if self.managed_resource is not None and self.managed_resources is not None:
            yield forbidden(f"{path}.managedResources", "must not be set together with managedResource")
        if self.token_invalidator is not None and self.token_validator is not None:
            yield forbidden(f"{path}.tokenValidator", "must not be set together with tokenInvalidator")
        yield from super().problems(path, purpose)
