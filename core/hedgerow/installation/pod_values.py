"""The values of a chart that shape its pods and their Deployment; most are written as in a pod.

Source: managed-resources §4.2, §4.3; Kubernetes documentation, "Pod Security Standards".
"""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from hedgerow.api.kubernetes import HOSTNAME, ZONE
from hedgerow.api.network_policies import ALLOWED, TO_DNS, TO_RUNTIME_API_SERVER
from hedgerow.api.shape import Items
from hedgerow.installation.parts import Name, Part, Quantities, Texts

NOBODY: Final = 65532
"""User and group of the process."""
GRACE_PERIOD: Final = 30
"""Seconds for a stop: 15 at most, and `server.webhooks.shutdownDelay`. A preStop hook would only take time from it, as
the process itself goes on to answer webhooks."""
_DEFAULT_REQUESTS: Final[Quantities] = {"cpu": "20m", "memory": "128Mi"}
_DEFAULT_LIMITS: Final[Quantities] = {"memory": "512Mi"}
Count = Annotated[int, Field(ge=0)]
Manifests = Items[dict[str, Any]]


class Image(Part):
    """Which image the pods run."""

    registry: str = ""
    """The host of the registry, as a mirror may have another; empty: the repository begins with it."""
    repository: Name = "hedgerow"
    """Where the image is, without a tag."""
    tag: str = ""
    """Which version of it; empty: the one of this chart."""
    digest: Annotated[str, Field(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""
    """Its digest, such as sha256:…; it counts instead of the tag."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """When kubelets fetch it."""

    def reference(self, version: str) -> str:
        """The name of the image, of a version if the values name none."""
        place = f"{self.registry}/{self.repository}" if self.registry else self.repository
        return f"{place}@{self.digest}" if self.digest else f"{place}:{self.tag or version}"


class Resources(Part):
    """How much of a node a pod takes."""

    requests: Quantities = _DEFAULT_REQUESTS
    """What is set aside for it."""
    limits: Quantities = _DEFAULT_LIMITS
    """What it may take at most."""


Often = Annotated[int, Field(ge=1)]


class Probe(Part):
    """When kubelets ask."""

    initial_delay_seconds: Count = 2
    """How long after the start of the container they begin."""
    period_seconds: Often = 10
    """How often they ask."""
    timeout_seconds: Often = 5
    """How long they wait for an answer."""
    failure_threshold: Often = 3
    """How many failures in a row count."""


class LivenessProbe(Probe):
    """When kubelets ask whether the process hangs."""

    initial_delay_seconds: Count = 30
    """How long after the start of the container they begin."""
    period_seconds: Often = 30
    """How often they ask."""
    failure_threshold: Often = 5
    """How many failures in a row count."""


class Probes(Part):
    """When kubelets ask how a pod is."""

    liveness: LivenessProbe = LivenessProbe()
    """Whether the process hangs, so that its container is restarted."""
    readiness: Probe = Probe()
    """Whether it can be asked, so that the Service leads to it."""


class PodValues(Part):
    """The pods, their container and their Deployment."""

    replicas: Count = 2
    """How many pods there are; one of them leads, all serve webhooks."""
    image: Image = Image()
    """Which image the pods run."""
    image_pull_secrets: Items[Texts] = ()
    """By which Secrets it is fetched: a list of `name`."""
    resources: Resources = Resources()
    """How much of a node a pod takes."""
    pod_labels: Texts = Field(default_factory=lambda: {TO_DNS: ALLOWED, TO_RUNTIME_API_SERVER: ALLOWED})
    """Further labels of the pods: by these, NetworkPolicies let them reach DNS and the API server."""
    pod_annotations: Texts = Field(default_factory=dict)
    """Further annotations of the pods."""
    pod_security_context: dict[str, Any] = Field(
        default_factory=lambda: {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "fsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
    )
    """Of the pods, as in a pod."""
    security_context: dict[str, Any] = Field(
        default_factory=lambda: {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    )
    """Of the container, as in a pod."""
    extra_args: Items[str] = ()
    """Further arguments of `hedgerow run`."""
    env: Manifests = ()
    """Further environment variables of the container, as in a pod."""
    extra_volumes: Manifests = ()
    """Further volumes of the pods, as in a pod."""
    extra_volume_mounts: Manifests = ()
    """Where the container mounts them, as in a pod."""
    probes: Probes = Probes()
    """When kubelets ask how a pod is."""
    lifecycle: dict[str, Any] = Field(default_factory=dict)
    """Hooks of the container, such as preStop, as in a pod; the process needs none to stop without losing a request."""
    termination_grace_period_seconds: Count = GRACE_PERIOD
    """How long a pod may take to stop; it needs up to 15 seconds, and `server.webhooks.shutdownDelay`."""
    revision_history_limit: Count = 2
    """How many former ReplicaSets the Deployment keeps."""
    strategy: dict[str, Any] = Field(default_factory=dict)
    """How pods are replaced, as in a Deployment; empty: the default, one after the other."""


class Placement(Part):
    """Where pods run."""

    priority_class_name: str = ""
    """The priority of the pods; empty: the cluster's default."""
    node_selector: Texts = Field(default_factory=dict)
    """Labels that the nodes of the pods must have."""
    tolerations: Manifests = ()
    """Taints that the pods tolerate, as in a pod."""
    affinity: dict[str, Any] = Field(default_factory=dict)
    """Where the pods run rather, as in a pod."""
    topology_spread_constraints: Manifests = tuple(
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"} for key in (HOSTNAME, ZONE)
    )
    """How the pods spread, as in a pod; without a labelSelector they count the pods of the Deployment."""
    host_network: bool = False
    """Whether the pods use the network of their node, which the restricted Pod Security level refuses."""
    dns_policy: Literal["", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"] = ""
    """How the pods resolve names; empty: by the DNS of the cluster."""
