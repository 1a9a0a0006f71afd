"""What all controllers share, and the list of their sections: the section `controllers`.

A further controller is a module with its section and one line in the list here.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator

from pydantic import Field

from hedgerow.machinery.fields import FieldError, forbidden, invalid, required
from hedgerow.machinery.names import label_key_problem
from hedgerow.resource_manager.configuration.garbage_collector import GarbageCollectorSection
from hedgerow.resource_manager.configuration.health import HealthSection
from hedgerow.resource_manager.configuration.managed_resource import ManagedResourceSection, ManagedResourceSettings
from hedgerow.resource_manager.configuration.network_policy import NetworkPolicySection
from hedgerow.resource_manager.configuration.secret import SecretSection
from hedgerow.resource_manager.configuration.shape import Purpose, Section
from hedgerow.resource_manager.configuration.unserved import (
    KubeletCSRApprover,
    Node,
    TokenInvalidator,
    TokenRequestor,
    TokenValidator,
)
from hedgerow.resource_manager.managed_resources.class_filter import ClassFilter
from hedgerow.resource_manager.managed_resources.names import DEFAULT_CLASS


class ControllersSection(Section):
    """The section as written; its errors come in the order of its fields."""

    cluster_id: str = Field("", alias="clusterID")
    resource_class: str = DEFAULT_CLASS
    garbage_collector: GarbageCollectorSection = GarbageCollectorSection()
    health: HealthSection = HealthSection()
    kubelet_csr_approver: KubeletCSRApprover | None = Field(None, alias="kubeletCSRApprover")
    managed_resource: ManagedResourceSection | None = None
    managed_resources: ManagedResourceSection | None = None
    network_policy: NetworkPolicySection = NetworkPolicySection()
    node: Node | None = None
    secret: SecretSection = SecretSection()
    token_invalidator: TokenInvalidator | None = None
    token_validator: TokenValidator | None = None
    token_requestor: TokenRequestor | None = None

    @property
    def invalidates_tokens(self) -> bool:
        """Whether the token invalidator is enabled, under either of its names."""
        section = self.token_invalidator or self.token_validator
        return section is not None and section.enabled

    def managed_resource_settings(self) -> ManagedResourceSettings:
        """How the controller of ManagedResources runs, under whichever name the file says so."""
        return (self.managed_resource or self.managed_resources or ManagedResourceSection()).settings()

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """No class or an impossible one, both spellings of one section, then what is wrong within the sections."""
        if not self.resource_class:
            yield required(f"{path}.resourceClass", "must provide a resource class")
        elif problem := label_key_problem(ClassFilter(self.resource_class).finalizer):
            yield invalid(
                f"{path}.resourceClass", self.resource_class, f"no finalizer can be called after it: {problem}"
            )
        if self.managed_resource is not None and self.managed_resources is not None:
            yield forbidden(f"{path}.managedResources", "must not be set together with managedResource")
        if self.token_invalidator is not None and self.token_validator is not None:
            yield forbidden(f"{path}.tokenValidator", "must not be set together with tokenInvalidator")
        yield from super().problems(path, purpose)
