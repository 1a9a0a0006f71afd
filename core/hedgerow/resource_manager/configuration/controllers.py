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
from hedgerow.resource_manager.configuration.kubelet_csr_approver import KubeletCSRApproverSection
from hedgerow.resource_manager.configuration.managed_resource import ManagedResourceSection, ManagedResourceSettings
from hedgerow.resource_manager.configuration.network_policy import NetworkPolicySection
from hedgerow.resource_manager.configuration.node import NodeSection
from hedgerow.resource_manager.configuration.secret import SecretSection
from hedgerow.resource_manager.configuration.shape import Purpose, Section
from hedgerow.resource_manager.configuration.token_invalidator import (
    TokenInvalidatorSection,
    TokenInvalidatorSettings,
    TokenValidatorSection,
)
from hedgerow.resource_manager.configuration.token_requestor import TokenRequestorSection
from hedgerow.resource_manager.managed_resources.class_filter import ClassFilter
from hedgerow.resource_manager.managed_resources.names import DEFAULT_CLASS


class ControllersSection(Section):
    """The section as written; its errors come in the order of its fields."""

    cluster_id: str = Field("", alias="clusterID")
    """The id of the source cluster in the origins of applied objects. `<cluster>`: that in the ConfigMap
    `kube-system/cluster-identity`, without which the process ends; `<default>`: the same, or none; empty: none."""
    resource_class: str = DEFAULT_CLASS
    """The class of the ManagedResources that are looked after. Not empty."""
    garbage_collector: GarbageCollectorSection = GarbageCollectorSection()
    """Deletes ConfigMaps and Secrets that are marked for it when nothing refers to them any more."""
    health: HealthSection = HealthSection()
    """Judges health and progress of what ManagedResources deliver."""
    kubelet_csr_approver: KubeletCSRApproverSection = Field(KubeletCSRApproverSection(), alias="kubeletCSRApprover")
    """Approves or denies the serving certificates that kubelets ask for."""
    managed_resource: ManagedResourceSection | None = None
    """Applies what ManagedResources deliver."""
    managed_resources: ManagedResourceSection | None = None
    """Another spelling of `managedResource`; not beside it."""
    network_policy: NetworkPolicySection = NetworkPolicySection()
    """Opens traffic to Services that ask for it, by NetworkPolicies."""
    node: NodeSection = NodeSection()
    """Keeps pods away from new Nodes until their critical components are ready."""
    secret: SecretSection = SecretSection()
    """Protects Secrets that ManagedResources refer to."""
    token_invalidator: TokenInvalidatorSection | None = None
    """Labels Secrets whose static tokens are to be worthless. Enabled together with its webhook, or neither."""
    token_validator: TokenValidatorSection | None = None
    """An older name of `tokenInvalidator`; not beside it."""
    token_requestor: TokenRequestorSection = TokenRequestorSection()
    """Keeps tokens of ServiceAccounts fresh in Secrets that ask for it."""

    def token_invalidator_settings(self) -> TokenInvalidatorSettings:
        """Whether and how the token invalidator runs, under whichever name the file says so."""
        return (self.token_invalidator or self.token_validator or TokenInvalidatorSection()).settings()

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
