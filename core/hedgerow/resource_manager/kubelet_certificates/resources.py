"""What is read and written: requests, Nodes and a Service in the target cluster, Machines in the source cluster.

Source: network-and-nodes §6.2.
"""

from typing import Final

from hedgerow.machinery.objects import Resource

CERTIFICATE_SIGNING_REQUESTS: Final = Resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False
)
NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
SERVICES: Final = Resource("", "v1", "services", "Service")
MACHINES: Final = Resource("machine.sapcloud.io", "v1alpha1", "machines", "Machine")
KUBELET_SERVING: Final = "kubernetes.io/kubelet-serving"
"""The signer of the certificates that kubelets serve with."""
