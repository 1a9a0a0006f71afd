"""The certificates that kubelets serve with: whether one gets the certificate that it asks for.

`denial_reason` decides from the request, the Node and its Machines, check by check; `kubelet_csr_approver` watches the
requests and gives the verdicts. What stands here follows semantic versioning.
"""

from hedgerow.resource_manager.kubelet_certificates.controller import KubeletCertificateConfig, kubelet_csr_approver
from hedgerow.resource_manager.kubelet_certificates.policy import (
    CertificateRequest,
    Evidence,
    Names,
    NodeAddresses,
    denial_reason,
)

__all__ = [
    "CertificateRequest",
    "Evidence",
    "KubeletCertificateConfig",
    "Names",
    "NodeAddresses",
    "denial_reason",
    "kubelet_csr_approver",
]
